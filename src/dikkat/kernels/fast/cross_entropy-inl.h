// Fast bodies of cross_entropy.h: rows by vectors, the sixteen partial sums in registers.
#if defined(DIKKAT_FAST_CROSS_ENTROPY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_CROSS_ENTROPY_INL_H
#undef DIKKAT_FAST_CROSS_ENTROPY_INL_H
#else
#define DIKKAT_FAST_CROSS_ENTROPY_INL_H
#endif

#include <algorithm>

#include "dikkat/kernels/fast/softmax-inl.h"
#include "dikkat/kernels/reference/cross_entropy-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// losses holds the targets' logits; the logarithms are taken for a vector of rows at a time. Z is 0 only where there is
// no target (else one of its terms is 1).
template <class T>
HWY_INLINE void cross_entropy_losses(const CrossEntropyForward<T>& t, std::size_t first, std::size_t last) {
  sweep16<T>(last - first, [&](auto, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
    const Tag16<T> d;
    const std::size_t r = first + i;
    const auto z = lanes.load(t.sum + r);
    const auto loss = hn::Sub(hn::Add(logarithm(z), lanes.load(t.max + r)), lanes.load(t.losses + r));
    lanes.store(hn::IfThenElse(hn::Eq(z, hn::Zero(d)), hn::Zero(d), loss), t.losses + r);
  });
}

template <class T>
void cross_entropy_forward_fast(const CrossEntropyForward<T>& t, std::size_t first, std::size_t last) {
  const Tag16<T> d;
  for (std::size_t r = first; r < last; ++r) {
    if (t.targets[r] == kNoTarget) {
      cross_entropy_skip(t, r);
      continue;
    }
    const T* x = t.logits + r * t.vocabulary;
    const T m = largest_fast(x, t.vocabulary) + T{0};
    const auto m_v = hn::Set(d, m);
    Partials16<T> z;
    sweep16<T>(t.vocabulary, [&](auto part, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto e = exponential(hn::Sub(lanes.load(x + i), m_v));
      z.part[part] = lanes.keep(hn::Add(z.part[part], e), z.part[part]);
    });
    t.max[r] = m;
    t.sum[r] = z.total();
    t.losses[r] = x[t.targets[r]];
  }
  cross_entropy_losses(t, first, last);
}

// All columns as if none were the target (subtracting zero changes no bit), then the target's by itself.
template <class T>
void cross_entropy_backward_fast(const CrossEntropyBackward<T>& t, std::size_t first, std::size_t last) {
  const Tag16<T> d;
  const T scale = static_cast<T>(t.scale);
  const auto scale_v = hn::Set(d, scale);
  for (std::size_t r = first; r < last; ++r) {
    const T* x = t.logits + r * t.vocabulary;
    T* dx = t.d_logits + r * t.vocabulary;
    if (t.targets[r] == kNoTarget) {
      std::fill_n(dx, t.vocabulary, T{0});
      continue;
    }
    const auto target = static_cast<std::size_t>(t.targets[r]);
    const T reciprocal = T{1} / t.sum[r];
    const T hit = (exponential(x[target] - t.max[r]) * reciprocal - T{1}) * scale;
    const auto m = hn::Set(d, t.max[r]);
    const auto reciprocal_v = hn::Set(d, reciprocal);
    sweep16<T>(t.vocabulary, [&](auto, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto p = hn::Mul(exponential(hn::Sub(lanes.load(x + i), m)), reciprocal_v);
      lanes.store(hn::Mul(p, scale_v), dx + i);
    });
    dx[target] = hit;
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_CROSS_ENTROPY_INL_H
