// Arithmetic that plain bodies are written in, for float, double and Lanes alike: one rounding per call, a fused
// multiply-add only where fma is written, selection on data and never a branch on it.
#if defined(DIKKAT_NUMBER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_NUMBER_INL_H
#undef DIKKAT_NUMBER_INL_H
#else
#define DIKKAT_NUMBER_INL_H
#endif

#include <cstddef>

#include "dikkat/kernels/lanes.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

HWY_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HWY_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HWY_INLINE float square_root(float a) { return __builtin_sqrtf(a); }
HWY_INLINE double square_root(double a) { return __builtin_sqrt(a); }
// The larger; b when a is NaN or equal (as the vector maximum of x86 gives it).
HWY_INLINE float maximum(float a, float b) { return a > b ? a : b; }
HWY_INLINE double maximum(double a, double b) { return a > b ? a : b; }
// condition > 0 ? a : b
HWY_INLINE float if_positive(float condition, float a, float b) { return condition > 0 ? a : b; }
HWY_INLINE double if_positive(double condition, double a, double b) { return condition > 0 ? a : b; }

namespace hn = hwy::HWY_NAMESPACE;

#define DIKKAT_LANES template <class T, std::size_t N>
#define DIKKAT_EACH_LANE(expression)    \
  Lanes<T, N> result;                   \
  for (std::size_t i = 0; i < N; ++i) { \
    result.lane[i] = expression;        \
  }                                     \
  return result
// The same in whole registers, where Highway has the operation: left to itself g++ 12 takes a lane struct apart into
// scalars (norm's parameter gradients were some ten times slower).
#define DIKKAT_EACH_REGISTER(expression)              \
  const hn::CappedTag<T, N> d;                        \
  Lanes<T, N> result;                                 \
  for (std::size_t i = 0; i < N; i += hn::Lanes(d)) { \
    hn::StoreU(expression, d, result.lane + i);       \
  }                                                   \
  return result

DIKKAT_LANES HWY_INLINE Lanes<T, N> operator+(const Lanes<T, N>& a, const Lanes<T, N>& b) {
  DIKKAT_EACH_REGISTER(hn::Add(hn::LoadU(d, a.lane + i), hn::LoadU(d, b.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> operator-(const Lanes<T, N>& a, const Lanes<T, N>& b) {
  DIKKAT_EACH_REGISTER(hn::Sub(hn::LoadU(d, a.lane + i), hn::LoadU(d, b.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> operator-(const Lanes<T, N>& a) {
  DIKKAT_EACH_REGISTER(hn::Neg(hn::LoadU(d, a.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> operator*(const Lanes<T, N>& a, const Lanes<T, N>& b) {
  DIKKAT_EACH_REGISTER(hn::Mul(hn::LoadU(d, a.lane + i), hn::LoadU(d, b.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> operator/(const Lanes<T, N>& a, const Lanes<T, N>& b) {
  DIKKAT_EACH_REGISTER(hn::Div(hn::LoadU(d, a.lane + i), hn::LoadU(d, b.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> fma(const Lanes<T, N>& a, const Lanes<T, N>& b, const Lanes<T, N>& c) {
  DIKKAT_EACH_REGISTER(hn::MulAdd(hn::LoadU(d, a.lane + i), hn::LoadU(d, b.lane + i), hn::LoadU(d, c.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> square_root(const Lanes<T, N>& a) {
  DIKKAT_EACH_REGISTER(hn::Sqrt(hn::LoadU(d, a.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> maximum(const Lanes<T, N>& a, const Lanes<T, N>& b) {
  DIKKAT_EACH_REGISTER(hn::Max(hn::LoadU(d, a.lane + i), hn::LoadU(d, b.lane + i)));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> if_positive(const Lanes<T, N>& condition, const Lanes<T, N>& a,
                                                const Lanes<T, N>& b) {
  DIKKAT_EACH_REGISTER(hn::IfThenElse(hn::Gt(hn::LoadU(d, condition.lane + i), hn::Zero(d)), hn::LoadU(d, a.lane + i),
                                      hn::LoadU(d, b.lane + i)));
}

// A constant, rounded once to the number's scalar and copied to every lane.
template <class T>
HWY_INLINE T number(double value) {
  if constexpr (lanes_of<T> == 1) {
    return static_cast<T>(value);
  } else {
    T result;
    for (auto& lane : result.lane) lane = static_cast<scalar_t<T>>(value);
    return result;
  }
}

// The law for row sums: 16 partial sums by index modulo 16, then one fixed tree. term(i) is the i-th summand; the
// first summand of each partial is added to zero.
template <class T, class Term>
HWY_INLINE T tree16(std::size_t begin, std::size_t end, Term&& term) {
  T partial[16];
  for (T& p : partial) p = number<T>(0);
  for (std::size_t i = begin; i < end; ++i) partial[i % 16] = partial[i % 16] + term(i);
  for (std::size_t half = 8; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) partial[i] = partial[i] + partial[i + half];
  }
  return partial[0];
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_NUMBER_INL_H
