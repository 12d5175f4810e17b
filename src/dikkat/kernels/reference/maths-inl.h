// The house's own exp, log, tanh, erf, sin, cos: one formula each, written once over a value V that is float, double
// or (fast/maths-inl.h) a Highway vector of them; Lanes take the scalar formula lane by lane. Every operation rounds
// once and their order is fixed, so a scalar, a lane and a vector element have the same bits on every processor.
//
// Sources of the coefficients: Cephes (Moshier 1989; exp and erf and tanh, and the float sine and cosine), fdlibm (Sun
// 1993; log, and the double sine and cosine), 1/k! (double exp), a fit of our own (float erf above 1).
//
//                        largest error in ulp (float, double) that maths_test allows
//   exponential          1.5, 1.5   every x; +inf above the range, denormals and then 0 below it
//   logarithm            1.5, 1.5   x > 0, denormals too; -inf at 0, NaN below
//   hyperbolic_tangent   2, 2       every x
//   error_function       3, 3       every x
//   sine, cosine         2, 2       |x| <= 2^17 (float), 2^30 (double); NaN beyond, not a guess
// NaN stays NaN.
#if defined(DIKKAT_REFERENCE_MATHS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_MATHS_INL_H
#undef DIKKAT_REFERENCE_MATHS_INL_H
#else
#define DIKKAT_REFERENCE_MATHS_INL_H
#endif

#include <cstdint>
#include <limits>
#include <type_traits>

#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// What the formulas ask of a value V beyond + - * / and comparisons. Word is V's bit pattern, an unsigned integer.
template <class V>
struct Arithmetic;

template <class T>
struct ScalarArithmetic {
  using Scalar = T;
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static HWY_INLINE T set(double value) { return static_cast<T>(value); }
  static HWY_INLINE Word word(std::uint64_t value) { return static_cast<Word>(value); }
  static HWY_INLINE Word bits(T value) { return __builtin_bit_cast(Word, value); }
  static HWY_INLINE T from_bits(Word value) { return __builtin_bit_cast(T, value); }
  template <int kBy>
  static HWY_INLINE Word left(Word value) {
    return value << kBy;
  }
  template <int kBy>
  static HWY_INLINE Word right(Word value) {
    return value >> kBy;
  }
  static HWY_INLINE bool odd(Word value) { return (value & 1U) != 0; }
  static HWY_INLINE T select(bool condition, T a, T b) { return condition ? a : b; }
  static HWY_INLINE T multiply_add(T a, T b, T c) { return fma(a, b, c); }
  // b where a is NaN or equal, as x86's vectors give it: clamped this way round NaN stays.
  static HWY_INLINE T larger(T a, T b) { return a > b ? a : b; }
  static HWY_INLINE T smaller(T a, T b) { return a < b ? a : b; }
};
template <>
struct Arithmetic<float> : ScalarArithmetic<float> {};
template <>
struct Arithmetic<double> : ScalarArithmetic<double> {};

// The layout of the number format behind V.
template <class V>
struct Format {
  using Scalar = typename Arithmetic<V>::Scalar;
  static constexpr bool kSingle = sizeof(Scalar) == 4;
  static constexpr int kMantissaBits = kSingle ? 23 : 52;
  static constexpr int kTopBit = kSingle ? 31 : 63;
  static constexpr std::uint64_t kBias = kSingle ? 127 : 1023;
  static constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissaBits) - 1;
  static constexpr std::uint64_t kSignBit = std::uint64_t{1} << kTopBit;
  // Adding it rounds a small number to the nearest integer (ties to even), which then stands in the low bits.
  static constexpr double kRounder = kSingle ? 0x1.8p23 : 0x1.8p52;
  static constexpr std::uint64_t kRounderBits = kSingle ? 0x4B400000U : 0x4338000000000000U;
};

template <class V>
HWY_INLINE V polynomial(V, double constant) {
  return Arithmetic<V>::set(constant);
}

// Horner's rule, lowest coefficient first: c0 + x (c1 + x (c2 + ...)), each step one fused multiply-add.
template <class V, class... More>
HWY_INLINE V polynomial(V x, double c0, double c1, More... more) {
  using A = Arithmetic<V>;
  return A::multiply_add(polynomial(x, c1, more...), x, A::set(c0));
}

template <class V>
HWY_INLINE V absolute(V x) {
  using A = Arithmetic<V>;
  return A::from_bits(A::bits(x) & A::word(Format<V>::kSignBit - 1));
}

// magnitude >= 0 (or NaN) with the sign of x.
template <class V>
HWY_INLINE V with_sign_of(V x, V magnitude) {
  using A = Arithmetic<V>;
  return A::from_bits(A::bits(magnitude) | (A::bits(x) & A::word(Format<V>::kSignBit)));
}

// exp x = 2^n exp r with n = round(x log2 e), |r| <= ln 2 / 2. 2^n is applied as two factors, each in range, so that
// results round once into the denormals and overflow to infinity by themselves.
template <class V>
HWY_INLINE V exponential(V x) {
  using A = Arithmetic<V>;
  using F = Format<V>;
  x = A::larger(A::set(F::kSingle ? -105.0 : -746.0), A::smaller(A::set(F::kSingle ? 89.0 : 710.0), x));
  const V rounded = A::multiply_add(x, A::set(0x1.71547652b82fep0), A::set(F::kRounder));
  const V n = rounded - A::set(F::kRounder);
  V r = A::multiply_add(n, A::set(F::kSingle ? -0x1.62e43p-1 : -0x1.62e42fefa39efp-1), x);
  r = A::multiply_add(n, A::set(F::kSingle ? 0x1.05c61p-29 : -0x1.abc9e3b39803fp-56), r);
  V tail;
  if constexpr (F::kSingle) {
    tail = polynomial(r, 5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3,
                      1.9875691500e-4);
  } else {
    tail = polynomial(r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                      1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800);
  }
  const V mantissa = A::multiply_add(tail, r * r, r) + A::set(1.0);
  // u = n + 2 bias + 2 > 0, split into halves; (half - 1) is the exponent field of 2^(half - 1 - bias).
  const auto u = A::bits(rounded) - A::word(F::kRounderBits - (2 * F::kBias + 2));
  const auto half = A::template right<1>(u);
  const V first = A::from_bits(A::template left<F::kMantissaBits>(half - A::word(1)));
  const V second = A::from_bits(A::template left<F::kMantissaBits>((u - half) - A::word(1)));
  return (mantissa * first) * second;
}

// fdlibm: x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt 2, s = f / (2 + f),
// log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)).
template <class V>
HWY_INLINE V logarithm(V x) {
  using A = Arithmetic<V>;
  using F = Format<V>;
  constexpr std::uint64_t kOneBits = F::kBias << F::kMantissaBits;
  constexpr std::uint64_t kSqrtHalfBits = F::kSingle ? 0x3F3504F3U : 0x3FE6A09E667F3BCDU;
  const auto small = x < A::set(static_cast<double>(std::numeric_limits<typename F::Scalar>::min()));
  const V scaled = A::select(small, x * A::set(F::kSingle ? 0x1p25 : 0x1p54), x);
  const auto shifted = A::bits(scaled) + A::word(kOneBits - kSqrtHalfBits);
  // The exponent field as a number: set it below the leading bit of 2^(mantissa bits) and subtract that again.
  const std::uint64_t leading = (F::kBias + F::kMantissaBits) << F::kMantissaBits;
  const double leading_value = F::kSingle ? 0x1p23 : 0x1p52;
  const V field = A::from_bits(A::template right<F::kMantissaBits>(shifted) | A::word(leading));
  const V k = (field - A::set(leading_value + static_cast<double>(F::kBias))) -
              A::select(small, A::set(F::kSingle ? 25.0 : 54.0), A::set(0.0));
  const V f = A::from_bits((shifted & A::word(F::kMantissaMask)) + A::word(kSqrtHalfBits)) - A::set(1.0);
  const V s = f / (A::set(2.0) + f);
  const V z = s * s;
  V tail;
  if constexpr (F::kSingle) {
    tail = polynomial(z, 0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841) * z;
  } else {
    tail = polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                      2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                      1.479819860511658591e-01) *
           z;
  }
  const V half_square = (A::set(0.5) * f) * f;
  const V low =
      A::multiply_add(k, A::set(F::kSingle ? 9.0580006145e-06 : 1.90821492927058770002e-10), s * (half_square + tail));
  V result =
      A::multiply_add(k, A::set(F::kSingle ? 6.9313812256e-01 : 6.93147180369123816490e-01), (low - half_square) + f);
  const V infinity = A::set(std::numeric_limits<double>::infinity());
  const V none = A::set(std::numeric_limits<double>::quiet_NaN());
  result = A::select(x < infinity, result, x);
  return A::select(x <= A::set(0.0), A::select(x == A::set(0.0), A::set(0.0) - infinity, none), result);
}

// Cephes: x + x^3 P(x^2) / Q(x^2) below 0.625, 1 - 2 / (exp(2|x|) + 1) above.
template <class V>
HWY_INLINE V hyperbolic_tangent(V x) {
  using A = Arithmetic<V>;
  const V magnitude = absolute(x);
  const V z = x * x;
  V ratio;
  if constexpr (Format<V>::kSingle) {
    ratio = polynomial(z, -3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3);
  } else {
    ratio = polynomial(z, -1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1) /
            polynomial(z, 4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0);
  }
  const V near = A::multiply_add(magnitude * z, ratio, magnitude);
  const V far = A::set(1.0) - A::set(2.0) / (exponential(magnitude + magnitude) + A::set(1.0));
  return with_sign_of(x, A::select(magnitude < A::set(0.625), near, far));
}

// erf for |x| >= 1, of the magnitude: 1 - erfc. Float: erfc = exp of a polynomial, fitted on [1, 4] so that the error
// of erf is least (at most 2^-29). Double: Cephes' erfc = exp(-x^2) P(x) / Q(x), good to 8.
template <class V>
HWY_INLINE V error_function_far(V magnitude) {
  using A = Arithmetic<V>;
  if constexpr (Format<V>::kSingle) {
    const V a = A::smaller(A::set(4.0), magnitude);
    return A::set(1.0) -
           exponential(polynomial(a, -3.4775994832e-04, -1.1270649701e+00, -6.3818297508e-01, -1.0307564843e-01,
                                  2.1824244780e-02, -2.9444967474e-03, 1.8608924136e-04));
  } else {
    const V a = A::smaller(A::set(6.5), magnitude);
    const V p = polynomial(a, 5.57535335369399327526e2, 1.02755188689515710272e3, 9.34528527171957607540e2,
                           5.26445194995477358631e2, 1.96520832956077098242e2, 4.86371970985681366614e1,
                           7.46321056442269912687e0, 5.64189564831068821977e-1, 2.46196981473530512524e-10);
    const V q = polynomial(a, 5.57535340817727675546e2, 1.65666309194161350182e3, 2.24633760818710981792e3,
                           1.82390916687909736289e3, 9.75708501743205489753e2, 3.54937778887819891062e2,
                           8.67072140885989742329e1, 1.32281951154744992508e1, 1.0);
    return A::set(1.0) - exponential(A::set(0.0) - a * a) * (p / q);
  }
}

// Cephes: x T(x^2) / U(x^2) below 1 (float: x T(x^2)); a magnitude of NaN takes the far branch and stays NaN.
template <class V>
HWY_INLINE V error_function(V x) {
  using A = Arithmetic<V>;
  const V magnitude = absolute(x);
  const V z = x * x;
  V ratio;
  if constexpr (Format<V>::kSingle) {
    ratio = polynomial(z, 1.128379165726710e+0, -3.761262582423300e-1, 1.128358514861418e-1, -2.685381193529856e-2,
                       5.188327685732524e-3, -8.010193625184903e-4, 7.853861353153693e-5);
  } else {
    ratio = polynomial(z, 5.55923013010394962768e4, 7.00332514112805075473e3, 2.23200534594684319226e3,
                       9.00260197203842689217e1, 9.60497373987051638749e0) /
            polynomial(z, 4.92673942608635921086e4, 2.26290000613890934246e4, 4.59432382970980127987e3,
                       5.21357949780152679795e2, 3.35617141647503099647e1, 1.0);
  }
  return with_sign_of(x, A::select(magnitude < A::set(1.0), magnitude * ratio, error_function_far(magnitude)));
}

// x = q pi/2 + r with |r| <= pi/4 (Cody and Waite, pi/2 in three parts; the first product is exact).
template <class V>
struct QuarterTurns {
  V r;
  typename Arithmetic<V>::Word q;  // modulo 4 in the two low bits
};
template <class V>
HWY_INLINE QuarterTurns<V> quarter_turns(V x) {
  using A = Arithmetic<V>;
  using F = Format<V>;
  const V rounded = A::multiply_add(x, A::set(0x1.45f306dc9c883p-1), A::set(F::kRounder));
  const V n = rounded - A::set(F::kRounder);
  V r = A::multiply_add(n, A::set(F::kSingle ? -0x1.921fb6p+0 : -0x1.921fb54442d18p+0), x);
  r = A::multiply_add(n, A::set(F::kSingle ? 0x1.777a5cp-25 : -0x1.1a62633145c07p-54), r);
  r = A::multiply_add(n, A::set(F::kSingle ? 0x1.ee59dap-50 : 0x1.f1976b7ed8fbcp-110), r);
  return {r, A::bits(rounded)};
}

// sin(q pi/2 + r).
template <class V>
HWY_INLINE V sine_of_turns(V r, typename Arithmetic<V>::Word q) {
  using A = Arithmetic<V>;
  using F = Format<V>;
  const V z = r * r;
  V sine, cosine_tail;
  if constexpr (F::kSingle) {
    sine = polynomial(z, -1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4);
    cosine_tail = polynomial(z, 4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5);
  } else {
    sine = polynomial(z, -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                      2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10);
    cosine_tail = polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                             -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11);
  }
  sine = A::multiply_add(r * z, sine, r);
  // 1 - z/2 rounds; what the rounding lost is added back with the tail (fdlibm).
  const V half = A::set(0.5) * z;
  const V head = A::set(1.0) - half;
  const V cosine = head + A::multiply_add(z * z, cosine_tail, (A::set(1.0) - head) - half);
  const auto sign = A::template left<F::kTopBit - 1>(q & A::word(2));
  return A::from_bits(A::bits(A::select(A::odd(q), cosine, sine)) ^ sign);
}

// result where the reduction of x is accurate, else NaN.
template <class V>
HWY_INLINE V within_reach(V x, V result) {
  using A = Arithmetic<V>;
  const V none = A::set(std::numeric_limits<double>::quiet_NaN());
  return A::select(absolute(x) <= A::set(Format<V>::kSingle ? 0x1p17 : 0x1p30), result, none);
}

template <class V>
HWY_INLINE V sine(V x) {
  const QuarterTurns<V> turns = quarter_turns(x);
  return within_reach(x, sine_of_turns(turns.r, turns.q));
}
template <class V>
HWY_INLINE V cosine(V x) {
  const QuarterTurns<V> turns = quarter_turns(x);
  return within_reach(x, sine_of_turns(turns.r, turns.q + Arithmetic<V>::word(1)));
}

// Lane by lane: the compiler puts the lanes into vectors, the formula is the scalar's.
DIKKAT_LANES HWY_INLINE Lanes<T, N> exponential(Lanes<T, N> x) { DIKKAT_EACH_LANE(exponential(x.lane[i])); }
DIKKAT_LANES HWY_INLINE Lanes<T, N> logarithm(Lanes<T, N> x) { DIKKAT_EACH_LANE(logarithm(x.lane[i])); }
DIKKAT_LANES HWY_INLINE Lanes<T, N> hyperbolic_tangent(Lanes<T, N> x) {
  DIKKAT_EACH_LANE(hyperbolic_tangent(x.lane[i]));
}
DIKKAT_LANES HWY_INLINE Lanes<T, N> error_function(Lanes<T, N> x) { DIKKAT_EACH_LANE(error_function(x.lane[i])); }
DIKKAT_LANES HWY_INLINE Lanes<T, N> sine(Lanes<T, N> x) { DIKKAT_EACH_LANE(sine(x.lane[i])); }
DIKKAT_LANES HWY_INLINE Lanes<T, N> cosine(Lanes<T, N> x) { DIKKAT_EACH_LANE(cosine(x.lane[i])); }

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_MATHS_INL_H
