// Copies of matrices into the layout the micro-kernel reads: k after k, each a row of whole vectors, zeros behind.
#if defined(DIKKAT_FAST_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_TRANSPOSE_INL_H
#undef DIKKAT_FAST_TRANSPOSE_INL_H
#else
#define DIKKAT_FAST_TRANSPOSE_INL_H
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A block as wide as 16 bytes: four floats by four, two doubles by two.
HWY_INLINE void transpose_block(const float* from, std::size_t from_row, float* to, std::size_t to_row) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> wide;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + from_row);
  const auto c = hn::LoadU(d, from + 2 * from_row);
  const auto e = hn::LoadU(d, from + 3 * from_row);
  const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_low, ce_low)), d, to + to_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab_high, ce_high)), d, to + 2 * to_row);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab_high, ce_high)), d, to + 3 * to_row);
}

HWY_INLINE void transpose_block(const double* from, std::size_t from_row, double* to, std::size_t to_row) {
  const hn::FixedTag<double, 2> d;
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + from_row);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + to_row);
}

// to[c][r] = from[r][c].
template <class T>
void transpose(const T* from, std::size_t from_row, std::size_t rows, std::size_t columns, T* to, std::size_t to_row) {
  constexpr std::size_t kBlock = 16 / sizeof(T);
  const std::size_t whole_rows = rows / kBlock * kBlock;
  const std::size_t whole_columns = columns / kBlock * kBlock;
  for (std::size_t r = 0; r < whole_rows; r += kBlock) {
    for (std::size_t c = 0; c < whole_columns; c += kBlock) {
      transpose_block(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
    }
    for (std::size_t c = whole_columns; c < columns; ++c) {
      for (std::size_t i = 0; i < kBlock; ++i) to[c * to_row + r + i] = from[(r + i) * from_row + c];
    }
  }
  for (std::size_t r = whole_rows; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) to[c * to_row + r] = from[r * from_row + c];
  }
}

// Rows of `columns` values, each widened by zeros to `to_row`.
template <class T>
void copy_rows(const T* from, std::size_t from_row, std::size_t rows, std::size_t columns, T* to, std::size_t to_row) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  for (std::size_t r = 0; r < rows; ++r, from += from_row, to += to_row) {
    std::size_t c = 0;
    for (; c + step <= columns; c += step) hn::StoreU(hn::LoadU(d, from + c), d, to + c);
    for (; c < columns; ++c) to[c] = from[c];
    for (; c < to_row; ++c) to[c] = T{0};
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_TRANSPOSE_INL_H
