// Plain body of matmul.h: the law in loops, for every kind of number.
#if defined(DIKKAT_REFERENCE_MATMUL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_MATMUL_INL_H
#undef DIKKAT_REFERENCE_MATMUL_INL_H
#else
#define DIKKAT_REFERENCE_MATMUL_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <span>

#include "dikkat/kernels/matmul.h"
#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// So many neighbouring outputs are computed side by side; each keeps its own chain.
inline constexpr std::size_t kPlainColumns = 64;

// chain[j] = fma(a[row][k], b[k][column + j], chain[j]) for k in [begin, end) in order, from zero.
template <class T>
void matmul_chains(const Matrix<const T>& a, const Matrix<const T>& b, std::size_t row, std::size_t column,
                   std::size_t columns, std::size_t begin, std::size_t end, T* chain) {
  std::fill(chain, chain + columns, number<T>(0));
  for (std::size_t k = begin; k < end; ++k) {
    const T left = a.data[row * a.row_stride + k * a.column_stride];
    const T* right = b.data + k * b.row_stride + column * b.column_stride;
    if (b.column_stride == 1) {
      for (std::size_t j = 0; j < columns; ++j) chain[j] = fma(left, right[j], chain[j]);
    } else {
      for (std::size_t j = 0; j < columns; ++j) chain[j] = fma(left, right[j * b.column_stride], chain[j]);
    }
  }
}

template <class T>
void matmul_plain(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out,
                  const MatmulOptions<T>& options) {
  const std::size_t whole[] = {0, a.columns};
  const std::span<const std::size_t> chunks =
      options.chunks.empty() ? std::span<const std::size_t>(whole) : options.chunks;
  const bool add = options.store == Store::add || !options.chunks.empty();
  T chain[kPlainColumns];
  for (std::size_t m = 0; m < out.rows; ++m) {
    for (std::size_t n = 0; n < out.columns; n += kPlainColumns) {
      const std::size_t columns = std::min(kPlainColumns, out.columns - n);
      T* to = out.data + m * out.row_stride + n;
      for (std::size_t c = 0; c + 1 < chunks.size(); ++c) {
        matmul_chains(a, b, m, n, columns, chunks[c], chunks[c + 1], chain);
        for (std::size_t j = 0; j < columns; ++j) {
          if (add) chain[j] = to[j] + chain[j];
          if (options.bias != nullptr) chain[j] = chain[j] + options.bias[n + j];
          to[j] = chain[j];
        }
      }
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_MATMUL_INL_H
