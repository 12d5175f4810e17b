// Fast bodies of elementwise.h: the plain formulas in whole vectors.
#if defined(DIKKAT_FAST_ELEMENTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ELEMENTWISE_INL_H
#undef DIKKAT_FAST_ELEMENTWISE_INL_H
#else
#define DIKKAT_FAST_ELEMENTWISE_INL_H
#endif

#include "dikkat/kernels/fast/tree16-inl.h"
#include "dikkat/kernels/reference/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <class T>
void add_fast(const T* a, const T* b, T* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + step <= n; i += step) hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  add_plain(a + i, b + i, out + i, n - i);
}

template <class T>
void scale_fast(T* x, std::size_t n, double factor) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  const auto f = hn::Set(d, static_cast<T>(factor));
  std::size_t i = 0;
  for (; i + step <= n; i += step) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), f), d, x + i);
  scale_plain(x + i, n - i, factor);
}

// One vector of columns at a time, down the rows of each chunk.
template <class T>
void column_sums_fast(const T* dy, std::span<const std::size_t> chunks, T* d_bias, std::size_t columns,
                      std::size_t first, std::size_t last) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  std::size_t c = first;
  for (; c + step <= last; c += step) {
    auto total = hn::LoadU(d, d_bias + c);
    for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
      auto s = hn::Zero(d);
      for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r)
        s = hn::Add(s, hn::LoadU(d, dy + r * columns + c));
      total = hn::Add(total, s);
    }
    hn::StoreU(total, d, d_bias + c);
  }
  column_sums_plain(dy, chunks, d_bias, columns, c, last);
}

template <class T>
double sum_fast(const T* x, std::size_t n) {
  return tree16_wide(x, n, [](auto value) { return value; });
}

template <class T>
double sum_of_squares_fast(const T* x, std::size_t n) {
  return tree16_wide(x, n, [](auto value) { return hn::Mul(value, value); });
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ELEMENTWISE_INL_H
