// Plain bodies of elementwise.h.
#if defined(DIKKAT_REFERENCE_ELEMENTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_ELEMENTWISE_INL_H
#undef DIKKAT_REFERENCE_ELEMENTWISE_INL_H
#else
#define DIKKAT_REFERENCE_ELEMENTWISE_INL_H
#endif

#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <class T>
void add_plain(const T* a, const T* b, T* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

template <class T>
void scale_plain(T* x, std::size_t n, double factor) {
  const T f = number<T>(factor);
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] * f;
}

// Columns [first, last) only.
template <class T>
void column_sums_plain(const T* dy, std::span<const std::size_t> chunks, T* d_bias, std::size_t columns,
                       std::size_t first, std::size_t last) {
  for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
    for (std::size_t c = first; c < last; ++c) {
      T s = number<T>(0);
      for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r) s = s + dy[r * columns + c];
      d_bias[c] = d_bias[c] + s;
    }
  }
}

template <class T>
double sum_plain(const T* x, std::size_t n) {
  return tree16<double>(0, n, [&](std::size_t i) { return static_cast<double>(x[i]); });
}

template <class T>
double sum_of_squares_plain(const T* x, std::size_t n) {
  return tree16<double>(0, n, [&](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_ELEMENTWISE_INL_H
