#include "dikkat/kernels/cross_entropy.h"

#include "dikkat/kernels/row_parts.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/cross_entropy-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Some 4 us of one core: below that a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 13U;

void check_targets(const std::int32_t* targets, std::size_t rows, std::size_t vocabulary) {
  for (std::size_t r = 0; r < rows; ++r) {
    const std::int64_t target = targets[r];
    if (target == kNoTarget || (target >= 0 && static_cast<std::uint64_t>(target) < vocabulary)) continue;
    throw Error(ErrorKind::internal, "cross_entropy: target outside the vocabulary; got " + std::to_string(target) +
                                         " in row " + std::to_string(r) + ", expected 0 to " +
                                         std::to_string(vocabulary) + " exclusive, or " + std::to_string(kNoTarget));
  }
}

}  // namespace

template <class T>
void cross_entropy_forward(const Executor& executor, const T* logits, const std::int32_t* targets, T* losses, T* max,
                           T* sum, std::size_t rows, std::size_t vocabulary) {
  check_targets(targets, rows, vocabulary);
  witness(
      executor, "cross_entropy_forward", {memory(losses, rows), memory(max, rows), memory(sum, rows)},
      [&] {
        DIKKAT_BODY(executor, cross_entropy_forward_plain<T>)
        ({logits, targets, losses, max, sum, vocabulary}, 0, rows);
      },
      [&] {
        each_row_part(executor.pool, rows, vocabulary, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          DIKKAT_BODY(executor, cross_entropy_forward_fast<T>)
          ({logits, targets, losses, max, sum, vocabulary}, first, first + count);
        });
      });
}

template <class T>
void cross_entropy_backward(const Executor& executor, const T* logits, const std::int32_t* targets, const T* max,
                            const T* sum, T* d_logits, std::size_t rows, std::size_t vocabulary, double scale) {
  check_targets(targets, rows, vocabulary);
  witness(
      executor, "cross_entropy_backward", {memory(d_logits, rows * vocabulary)},
      [&] {
        DIKKAT_BODY(executor, cross_entropy_backward_plain<T>)
        ({logits, targets, max, sum, d_logits, vocabulary, scale}, 0, rows);
      },
      [&] {
        each_row_part(executor.pool, rows, vocabulary, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          DIKKAT_BODY(executor, cross_entropy_backward_fast<T>)
          ({logits, targets, max, sum, d_logits, vocabulary, scale}, first, first + count);
        });
      });
}

#define DIKKAT_INSTANTIATE(T)                                                                                  \
  template void cross_entropy_forward(const Executor&, const T*, const std::int32_t*, T*, T*, T*, std::size_t, \
                                      std::size_t);                                                            \
  template void cross_entropy_backward(const Executor&, const T*, const std::int32_t*, const T*, const T*, T*, \
                                       std::size_t, std::size_t, double);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
