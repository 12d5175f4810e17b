// Fast bodies of optimizer_step.h: the plain formulas in whole vectors, the last one masked.
#if defined(DIKKAT_FAST_OPTIMIZER_STEP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_OPTIMIZER_STEP_INL_H
#undef DIKKAT_FAST_OPTIMIZER_STEP_INL_H
#else
#define DIKKAT_FAST_OPTIMIZER_STEP_INL_H
#endif

#include "dikkat/kernels/reference/optimizer_step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// update(load, store, i) for each vector of n elements from i; load and store leave out what lies beyond the end.
template <class T, class Update>
HWY_INLINE void each_vector(std::size_t n, Update&& update) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + step <= n; i += step) {
    update([&](const T* p) HWY_ATTR { return hn::LoadU(d, p + i); },
           [&](auto value, T* p) HWY_ATTR { hn::StoreU(value, d, p + i); });
  }
  if (i == n) return;
  const auto inside = hn::FirstN(d, n - i);
  update([&](const T* p) HWY_ATTR { return hn::MaskedLoad(inside, d, p + i); },
         [&](auto value, T* p) HWY_ATTR { hn::BlendedStore(value, inside, d, p + i); });
}

template <class T>
void sgd_step_fast(const SgdSettings& settings, T* w, const T* gradient, T* velocity, std::size_t n) {
  const hn::ScalableTag<T> d;
  const SgdScalars<T> s(settings);
  const auto rate = hn::Set(d, s.rate);
  const auto momentum = hn::Set(d, s.momentum);
  const auto decay = hn::Set(d, s.decay);
  const auto factor = hn::Set(d, s.factor);
  each_vector<T>(n, [&](auto&& load, auto&& store) HWY_ATTR {
    const auto v = hn::MulAdd(momentum, load(velocity), hn::Mul(load(gradient), factor));
    const auto decayed = hn::Sub(load(w), hn::Mul(decay, load(w)));
    store(v, velocity);
    store(hn::NegMulAdd(rate, v, decayed), w);
  });
}

template <class T>
void adam_step_fast(const AdamSettings& settings, T* w, const T* gradient, T* m, T* v, std::size_t n) {
  const hn::ScalableTag<T> d;
  const AdamScalars<T> s(settings);
  const auto beta1 = hn::Set(d, s.beta1);
  const auto beta2 = hn::Set(d, s.beta2);
  const auto share1 = hn::Set(d, s.share1);
  const auto share2 = hn::Set(d, s.share2);
  const auto decay = hn::Set(d, s.decay);
  const auto rate = hn::Set(d, s.rate);
  const auto scale = hn::Set(d, s.scale);
  const auto epsilon = hn::Set(d, s.epsilon);
  const auto factor = hn::Set(d, s.factor);
  each_vector<T>(n, [&](auto&& load, auto&& store) HWY_ATTR {
    const auto g = hn::Mul(load(gradient), factor);
    const auto mean = hn::MulAdd(beta1, load(m), hn::Mul(share1, g));
    const auto square = hn::MulAdd(beta2, load(v), hn::Mul(hn::Mul(share2, g), g));
    const auto decayed = hn::Sub(load(w), hn::Mul(load(w), decay));
    const auto below = hn::Add(hn::Mul(hn::Sqrt(square), scale), epsilon);
    store(mean, m);
    store(square, v);
    store(hn::Sub(decayed, hn::Div(hn::Mul(mean, rate), below)), w);
  });
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_OPTIMIZER_STEP_INL_H
