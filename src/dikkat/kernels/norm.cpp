#include "dikkat/kernels/norm.h"

#include "dikkat/kernels/lanes.h"
#include "dikkat/kernels/row_parts.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/norm-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Some 4 us of one core: below that a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 14U;
// A whole number of strips of the fast body, for float and double.
constexpr std::size_t kColumnsPerPart = 64;

template <class T>
void gain_part(const Executor& executor, const NormShape& shape, const NormGain<T>& tensors,
               std::span<const std::size_t> chunks, std::size_t first, std::size_t last) {
  if constexpr (lanes_of<T> == 1) {
    DIKKAT_BODY(executor, norm_gain_fast<T>)(shape, tensors, chunks, first, last);
  } else {
    DIKKAT_BODY(executor, norm_gain_plain<T>)(shape, tensors, chunks, first, last);
  }
}

}  // namespace

template <class T>
void norm_forward(const Executor& executor, const NormShape& shape, const NormForward<T>& tensors) {
  const std::size_t rows = shape.rows;
  const std::size_t size = rows * shape.columns;
  witness(
      executor, "norm_forward", {memory(tensors.y, size), memory(tensors.mean, rows), memory(tensors.rstd, rows)},
      [&] {
        DIKKAT_BODY(executor, norm_forward_plain<T>)
        (shape, tensors, 0, rows);
      },
      [&] {
        each_row_part(executor.pool, rows, shape.columns, kElementsPerPart, [&](std::size_t first, std::size_t n) {
          if constexpr (lanes_of<T> == 1) {
            DIKKAT_BODY(executor, norm_forward_fast<T>)(shape, tensors, first, first + n);
          } else {
            DIKKAT_BODY(executor, norm_forward_plain<T>)(shape, tensors, first, first + n);
          }
        });
      });
}

template <class T>
void norm_backward(const Executor& executor, const NormShape& shape, const NormBackward<T>& tensors, Store store) {
  const std::size_t rows = shape.rows;
  witness(
      executor, "norm_backward", {memory(tensors.dx, rows * shape.columns)},
      [&] {
        DIKKAT_BODY(executor, norm_backward_plain<T>)
        (shape, tensors, store, 0, rows);
      },
      [&] {
        each_row_part(executor.pool, rows, shape.columns, kElementsPerPart, [&](std::size_t first, std::size_t n) {
          if constexpr (lanes_of<T> == 1) {
            DIKKAT_BODY(executor, norm_backward_fast<T>)(shape, tensors, store, first, first + n);
          } else {
            DIKKAT_BODY(executor, norm_backward_plain<T>)(shape, tensors, store, first, first + n);
          }
        });
      });
}

template <class T>
void norm_gain_gradient(const Executor& executor, const NormShape& shape, const NormGain<T>& tensors,
                        std::span<const std::size_t> chunks) {
  const std::size_t columns = shape.columns;
  witness(
      executor, "norm_gain_gradient", {memory(tensors.d_gain, columns)},
      [&] {
        DIKKAT_BODY(executor, norm_gain_plain<T>)
        (shape, tensors, chunks, 0, columns);
      },
      [&] {
        if (shape.rows * columns < 2 * kElementsPerPart) {
          return gain_part(executor, shape, tensors, chunks, 0, columns);
        }
        executor.pool.run((columns + kColumnsPerPart - 1) / kColumnsPerPart, [&](std::size_t part, unsigned) {
          const std::size_t first = part * kColumnsPerPart;
          gain_part(executor, shape, tensors, chunks, first, std::min(first + kColumnsPerPart, columns));
        });
      });
}

#define DIKKAT_INSTANTIATE(...)                                                                            \
  template void norm_forward(const Executor&, const NormShape&, const NormForward<__VA_ARGS__>&);          \
  template void norm_backward(const Executor&, const NormShape&, const NormBackward<__VA_ARGS__>&, Store); \
  template void norm_gain_gradient(const Executor&, const NormShape&, const NormGain<__VA_ARGS__>&,        \
                                   std::span<const std::size_t>);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
DIKKAT_INSTANTIATE(Lanes<float, 8>)
DIKKAT_INSTANTIATE(Lanes<float, 16>)
DIKKAT_INSTANTIATE(Lanes<double, 4>)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
