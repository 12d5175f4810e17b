#include "dikkat/kernels/dropout.h"

#include <algorithm>

#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/dropout-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Below this many elements a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 14U;

void check(const DropoutDraw& draw) {
  if (draw.sample.size() != draw.position.size()) {
    throw Error(ErrorKind::internal, "dropout: sample and position must have one entry per row; got " +
                                         std::to_string(draw.sample.size()) + " and " +
                                         std::to_string(draw.position.size()));
  }
  if (!(draw.rate >= 0.0 && draw.rate < 1.0)) {
    throw Error(ErrorKind::internal, "dropout: rate must lie in [0, 1); got " + std::to_string(draw.rate));
  }
}

}  // namespace

template <class T>
void dropout(const Executor& executor, const DropoutDraw& draw, const T* x, T* y, std::size_t width, Store store) {
  check(draw);
  const std::size_t rows = draw.sample.size();
  const std::size_t rows_per_part = std::max<std::size_t>(1, kElementsPerPart / std::max<std::size_t>(1, width));
  witness(
      executor, "dropout", {memory(y, rows * width)},
      [&] {
        DIKKAT_BODY(executor, dropout_plain<T>)
        (draw, x, y, width, store, 0, rows);
      },
      [&] {
        executor.pool.run((rows + rows_per_part - 1) / rows_per_part, [&](std::size_t part, unsigned) {
          const std::size_t first = part * rows_per_part;
          DIKKAT_BODY(executor, dropout_fast<T>)
          (draw, x, y, width, store, first, std::min(first + rows_per_part, rows));
        });
      });
}

template void dropout(const Executor&, const DropoutDraw&, const float*, float*, std::size_t, Store);
template void dropout(const Executor&, const DropoutDraw&, const double*, double*, std::size_t, Store);

}  // namespace dikkat::kernels
