#include "dikkat/kernels/softmax.h"

#include "dikkat/kernels/lanes.h"
#include "dikkat/kernels/row_parts.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/softmax-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Some 4 us of one core: below that a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 13U;

}  // namespace

template <class T>
void softmax_forward(const Executor& executor, const T* x, T* y, std::size_t rows, std::size_t columns) {
  witness(
      executor, "softmax_forward", {memory(y, rows * columns)},
      [&] {
        DIKKAT_BODY(executor, softmax_forward_plain<T>)
        (x, y, rows, columns);
      },
      [&] {
        each_row_part(executor.pool, rows, columns, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          const std::size_t at = first * columns;
          if constexpr (lanes_of<T> == 1) {
            DIKKAT_BODY(executor, softmax_forward_fast<T>)(x + at, y + at, count, columns);
          } else {
            DIKKAT_BODY(executor, softmax_forward_plain<T>)(x + at, y + at, count, columns);
          }
        });
      });
}

template <class T>
void softmax_backward(const Executor& executor, const T* y, const T* dy, T* dx, std::size_t rows, std::size_t columns,
                      Store store) {
  witness(
      executor, "softmax_backward", {memory(dx, rows * columns)},
      [&] {
        DIKKAT_BODY(executor, softmax_backward_plain<T>)
        (y, dy, dx, rows, columns, store);
      },
      [&] {
        each_row_part(executor.pool, rows, columns, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          const std::size_t at = first * columns;
          if constexpr (lanes_of<T> == 1) {
            DIKKAT_BODY(executor, softmax_backward_fast<T>)(y + at, dy + at, dx + at, count, columns, store);
          } else {
            DIKKAT_BODY(executor, softmax_backward_plain<T>)(y + at, dy + at, dx + at, count, columns, store);
          }
        });
      });
}

#define DIKKAT_INSTANTIATE(...)                                                                                      \
  template void softmax_forward(const Executor&, const __VA_ARGS__*, __VA_ARGS__*, std::size_t, std::size_t);        \
  template void softmax_backward(const Executor&, const __VA_ARGS__*, const __VA_ARGS__*, __VA_ARGS__*, std::size_t, \
                                 std::size_t, Store);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
DIKKAT_INSTANTIATE(Lanes<float, 8>)
DIKKAT_INSTANTIATE(Lanes<float, 16>)
DIKKAT_INSTANTIATE(Lanes<double, 4>)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
