#include "dikkat/kernels/normal_fill.h"

#include "dikkat/kernels/row_parts.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/normal_fill-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// A whole number of the fast body's blocks, some 10 us of one core.
constexpr std::size_t kElementsPerPart = 1U << 12U;

}  // namespace

template <class T>
void normal_fill(const Executor& executor, random::Stream stream, double deviation, T* out, std::size_t n) {
  witness(
      executor, "normal_fill", {memory(out, n)},
      [&] {
        DIKKAT_BODY(executor, normal_fill_plain<T>)
        (stream, deviation, out, 0, n);
      },
      [&] {
        each_row_part(executor.pool, n, 1, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          DIKKAT_BODY(executor, normal_fill_fast<T>)(stream, deviation, out + first, first, count);
        });
      });
}

template void normal_fill(const Executor&, random::Stream, double, float*, std::size_t);
template void normal_fill(const Executor&, random::Stream, double, double*, std::size_t);

}  // namespace dikkat::kernels
