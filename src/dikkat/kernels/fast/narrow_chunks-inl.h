// Sums over chunks for few outputs: a gradient of a weight with a handful of rows and no more columns than a vector
// has. One chunk's chains are then too few to hide the latency of an addition, so several chunks run side by side.
#if defined(DIKKAT_FAST_NARROW_CHUNKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_NARROW_CHUNKS_INL_H
#undef DIKKAT_FAST_NARROW_CHUNKS_INL_H
#else
#define DIKKAT_FAST_NARROW_CHUNKS_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <span>

#include "dikkat/kernels/fast/tile-inl.h"
#include "dikkat/kernels/matmul.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

inline constexpr std::size_t kNarrowRows = 4;

// out += for each chunk, in order, the chain over its k; kRows rows of out, columns of one vector, b's rows contiguous.
template <class T, std::size_t kRows>
class NarrowChunks {
 public:
  NarrowChunks(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out)
      : a_(a), b_(b), out_(out), mask_(hn::FirstN(D(), out.columns)) {}

  void add(std::span<const std::size_t> chunks) {
    V total[kRows];
    for (std::size_t r = 0; r < kRows; ++r) total[r] = hn::MaskedLoad(mask_, D(), out_.data + r * out_.row_stride);
    std::size_t first = 0;
    for (; first + kBeside < chunks.size(); first += kBeside) add_chunks<kBeside>(chunks.data() + first, total);
    for (; first + 1 < chunks.size(); ++first) add_chunks<1>(chunks.data() + first, total);
    for (std::size_t r = 0; r < kRows; ++r) {
      hn::BlendedStore(total[r], mask_, D(), out_.data + r * out_.row_stride);
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  // Twelve or so chains; the registers hold no more (sixteen on AVX2).
  static constexpr std::size_t kBeside = kTileRows == 8 || kRows < 3 ? 4 : 2;

  HWY_INLINE void step(std::size_t k, V* sum) const {
    const V right = hn::MaskedLoad(mask_, D(), b_.data + k * b_.row_stride);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kRows; ++r) {
      sum[r] = hn::MulAdd(hn::Set(D(), a_.data[r * a_.row_stride + k * a_.column_stride]), right, sum[r]);
    }
  }

  // kCount chunks from *chunk on.
  template <std::size_t kCount>
  HWY_INLINE void add_chunks(const std::size_t* chunk, V* total) const {
    V sum[kCount][kRows];
    std::size_t together = chunk[1] - chunk[0];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kCount; ++i) {
      together = std::min(together, chunk[i + 1] - chunk[i]);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kRows; ++r) sum[i][r] = hn::Zero(D());
    }
    for (std::size_t k = 0; k < together; ++k) {
#pragma GCC unroll 4
      for (std::size_t i = 0; i < kCount; ++i) step(chunk[i] + k, sum[i]);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kCount; ++i) {
      for (std::size_t k = chunk[i] + together; k < chunk[i + 1]; ++k) step(k, sum[i]);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < kRows; ++r) total[r] = hn::Add(total[r], sum[i][r]);
    }
  }

  Matrix<const T> a_, b_;
  Matrix<T> out_;
  hn::Mask<D> mask_;
};

template <class T>
bool is_narrow(const Matrix<const T>& b, const Matrix<T>& out) {
  return out.rows <= kNarrowRows && out.columns <= hn::Lanes(hn::ScalableTag<T>()) && b.column_stride == 1;
}

template <class T>
void add_narrow_chunks(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out,
                       std::span<const std::size_t> chunks) {
  if (out.rows == 1) NarrowChunks<T, 1>(a, b, out).add(chunks);
  if (out.rows == 2) NarrowChunks<T, 2>(a, b, out).add(chunks);
  if (out.rows == 3) NarrowChunks<T, 3>(a, b, out).add(chunks);
  if (out.rows == 4) NarrowChunks<T, 4>(a, b, out).add(chunks);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_NARROW_CHUNKS_INL_H
