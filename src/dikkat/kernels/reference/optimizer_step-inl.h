// Plain bodies of optimizer_step.h.
#if defined(DIKKAT_REFERENCE_OPTIMIZER_STEP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_OPTIMIZER_STEP_INL_H
#undef DIKKAT_REFERENCE_OPTIMIZER_STEP_INL_H
#else
#define DIKKAT_REFERENCE_OPTIMIZER_STEP_INL_H
#endif

#include "dikkat/kernels/optimizer_step.h"
#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// base^exponent by squaring: libm's pow differs by processor.
HWY_INLINE double whole_power(double base, std::uint64_t exponent) {
  double power = 1.0;
  for (; exponent != 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) power = power * base;
    base = base * base;
  }
  return power;
}

// The scalars of a step, each computed in double and rounded to T once.
template <class T>
struct SgdScalars {
  T rate;
  T momentum;
  T decay;
  T factor;

  explicit SgdScalars(const SgdSettings& s)
      : rate(number<T>(s.rate)),
        momentum(number<T>(s.momentum)),
        decay(number<T>(s.rate * s.decay)),
        factor(number<T>(s.gradient_factor)) {}
};

template <class T>
struct AdamScalars {
  T beta1;
  T beta2;
  T share1;  // 1 - beta1
  T share2;
  T decay;
  T rate;   // rate / (1 - beta1^t)
  T scale;  // 1 / sqrt(1 - beta2^t)
  T epsilon;
  T factor;

  explicit AdamScalars(const AdamSettings& s)
      : beta1(number<T>(s.beta1)),
        beta2(number<T>(s.beta2)),
        share1(number<T>(1.0 - s.beta1)),
        share2(number<T>(1.0 - s.beta2)),
        decay(number<T>(s.rate * s.decay)),
        rate(number<T>(s.rate / (1.0 - whole_power(s.beta1, s.step)))),
        scale(number<T>(1.0 / square_root(1.0 - whole_power(s.beta2, s.step)))),
        epsilon(number<T>(s.epsilon)),
        factor(number<T>(s.gradient_factor)) {}
};

template <class T>
void sgd_plain(const SgdScalars<T>& s, T* w, const T* gradient, T* velocity, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const T g = gradient[i] * s.factor;
    velocity[i] = fma(s.momentum, velocity[i], g);
    w[i] = fma(-s.rate, velocity[i], w[i] - s.decay * w[i]);
  }
}

template <class T>
void adam_plain(const AdamScalars<T>& s, T* w, const T* gradient, T* m, T* v, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const T g = gradient[i] * s.factor;
    m[i] = fma(s.beta1, m[i], s.share1 * g);
    v[i] = fma(s.beta2, v[i], (s.share2 * g) * g);
    w[i] = w[i] - w[i] * s.decay;
    w[i] = w[i] - (m[i] * s.rate) / (square_root(v[i]) * s.scale + s.epsilon);
  }
}

template <class T>
void sgd_step_plain(const SgdSettings& settings, T* w, const T* gradient, T* velocity, std::size_t n) {
  sgd_plain(SgdScalars<T>(settings), w, gradient, velocity, n);
}

template <class T>
void adam_step_plain(const AdamSettings& settings, T* w, const T* gradient, T* m, T* v, std::size_t n) {
  adam_plain(AdamScalars<T>(settings), w, gradient, m, v, n);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_OPTIMIZER_STEP_INL_H
