#include "dikkat/kernels/elementwise.h"

#include <algorithm>

#include "dikkat/kernels/lanes.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/elementwise-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Below this many elements a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 15U;
constexpr std::size_t kColumnsPerPart = 64;

}  // namespace

template <class T>
void add(const Executor& executor, const T* a, const T* b, T* out, std::size_t n) {
  witness(
      executor, "add", {memory(out, n)},
      [&] {
        DIKKAT_BODY(executor, add_plain<T>)
        (a, b, out, n);
      },
      [&] {
        executor.pool.run((n + kElementsPerPart - 1) / kElementsPerPart, [&](std::size_t part, unsigned) {
          const std::size_t i = part * kElementsPerPart;
          DIKKAT_BODY(executor, add_fast<T>)(a + i, b + i, out + i, std::min(kElementsPerPart, n - i));
        });
      });
}

template <class T>
void scale(const Executor& executor, T* x, std::size_t n, double factor) {
  witness(
      executor, "scale", {memory(x, n)},
      [&] {
        DIKKAT_BODY(executor, scale_plain<T>)
        (x, n, factor);
      },
      [&] {
        DIKKAT_BODY(executor, scale_fast<T>)
        (x, n, factor);
      });
}

template <class T>
void column_sums(const Executor& executor, const T* dy, std::span<const std::size_t> chunks, T* d_bias,
                 std::size_t columns) {
  witness(
      executor, "column_sums", {memory(d_bias, columns)},
      [&] {
        DIKKAT_BODY(executor, column_sums_plain<T>)
        (dy, chunks, d_bias, columns, 0, columns);
      },
      [&] {
        executor.pool.run((columns + kColumnsPerPart - 1) / kColumnsPerPart, [&](std::size_t part, unsigned) {
          const std::size_t first = part * kColumnsPerPart;
          const std::size_t last = std::min(first + kColumnsPerPart, columns);
          if constexpr (lanes_of<T> == 1) {
            DIKKAT_BODY(executor, column_sums_fast<T>)(dy, chunks, d_bias, columns, first, last);
          } else {
            DIKKAT_BODY(executor, column_sums_plain<T>)(dy, chunks, d_bias, columns, first, last);
          }
        });
      });
}

template <class T>
double sum(const Executor& executor, const T* x, std::size_t n) {
  double total = 0;
  witness(
      executor, "sum", {memory(&total, 1)}, [&] { total = DIKKAT_BODY(executor, sum_plain<T>)(x, n); },
      [&] { total = DIKKAT_BODY(executor, sum_fast<T>)(x, n); });
  return total;
}

template <class T>
double sum_of_squares(const Executor& executor, const T* x, std::size_t n) {
  double total = 0;
  witness(
      executor, "sum_of_squares", {memory(&total, 1)},
      [&] { total = DIKKAT_BODY(executor, sum_of_squares_plain<T>)(x, n); },
      [&] { total = DIKKAT_BODY(executor, sum_of_squares_fast<T>)(x, n); });
  return total;
}

#define DIKKAT_INSTANTIATE(T)                                              \
  template void add(const Executor&, const T*, const T*, T*, std::size_t); \
  template void scale(const Executor&, T*, std::size_t, double);           \
  template double sum(const Executor&, const T*, std::size_t);             \
  template double sum_of_squares(const Executor&, const T*, std::size_t);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

#define DIKKAT_INSTANTIATE_COLUMN_SUMS(...)                                                                  \
  template void column_sums(const Executor&, const __VA_ARGS__*, std::span<const std::size_t>, __VA_ARGS__*, \
                            std::size_t);
DIKKAT_INSTANTIATE_COLUMN_SUMS(float)
DIKKAT_INSTANTIATE_COLUMN_SUMS(double)
DIKKAT_INSTANTIATE_COLUMN_SUMS(Lanes<float, 8>)
DIKKAT_INSTANTIATE_COLUMN_SUMS(Lanes<float, 16>)
DIKKAT_INSTANTIATE_COLUMN_SUMS(Lanes<double, 4>)
#undef DIKKAT_INSTANTIATE_COLUMN_SUMS

}  // namespace dikkat::kernels
