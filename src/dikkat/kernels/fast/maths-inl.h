// The formulas of reference/maths-inl.h over Highway vectors, and one function swept over an array.
#if defined(DIKKAT_FAST_MATHS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_MATHS_INL_H
#undef DIKKAT_FAST_MATHS_INL_H
#else
#define DIKKAT_FAST_MATHS_INL_H
#endif

#include "dikkat/kernels/maths.h"
#include "dikkat/kernels/reference/maths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// V is a Highway vector of float or double.
template <class V>
struct Arithmetic {
  using D = hn::DFromV<V>;
  using U = hn::RebindToUnsigned<D>;
  using Scalar = hn::TFromD<D>;
  using Word = hn::Vec<U>;
  static HWY_INLINE V set(double value) { return hn::Set(D(), static_cast<Scalar>(value)); }
  static HWY_INLINE Word word(std::uint64_t value) { return hn::Set(U(), static_cast<hn::TFromD<U>>(value)); }
  static HWY_INLINE Word bits(V value) { return hn::BitCast(U(), value); }
  static HWY_INLINE V from_bits(Word value) { return hn::BitCast(D(), value); }
  template <int kBy>
  static HWY_INLINE Word left(Word value) {
    return hn::ShiftLeft<kBy>(value);
  }
  template <int kBy>
  static HWY_INLINE Word right(Word value) {
    return hn::ShiftRight<kBy>(value);
  }
  static HWY_INLINE hn::Mask<D> odd(Word value) { return hn::RebindMask(D(), hn::TestBit(value, word(1))); }
  static HWY_INLINE V select(hn::Mask<D> condition, V a, V b) { return hn::IfThenElse(condition, a, b); }
  static HWY_INLINE V multiply_add(V a, V b, V c) { return hn::MulAdd(a, b, c); }
  static HWY_INLINE V larger(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE V smaller(V a, V b) { return hn::Min(a, b); }
};

template <Function F, class V>
HWY_INLINE V value_of(V x) {
  if constexpr (F == Function::exponential) return exponential(x);
  if constexpr (F == Function::logarithm) return logarithm(x);
  if constexpr (F == Function::hyperbolic_tangent) return hyperbolic_tangent(x);
  if constexpr (F == Function::error_function) return error_function(x);
  if constexpr (F == Function::sine) return sine(x);
  if constexpr (F == Function::cosine) return cosine(x);
}

template <Function F, class T>
void evaluate_plain(const T* x, T* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = value_of<F>(x[i]);
}

template <Function F, class T>
void evaluate_fast(const T* x, T* y, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + step <= n; i += step) hn::StoreU(value_of<F>(hn::LoadU(d, x + i)), d, y + i);
  evaluate_plain<F>(x + i, y + i, n - i);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_MATHS_INL_H
