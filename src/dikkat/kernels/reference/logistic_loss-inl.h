// Plain bodies of logistic_loss.h.
#if defined(DIKKAT_REFERENCE_LOGISTIC_LOSS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_LOGISTIC_LOSS_INL_H
#undef DIKKAT_REFERENCE_LOGISTIC_LOSS_INL_H
#else
#define DIKKAT_REFERENCE_LOGISTIC_LOSS_INL_H
#endif

#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/kernels/logistic_loss.h"
#include "dikkat/kernels/reference/maths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <class T>
void logistic_loss_forward_plain(const T* logits, const std::int32_t* targets, T* losses, std::size_t samples) {
  for (std::size_t b = 0; b < samples; ++b) {
    const T s = targets[b] == 1 ? -logits[b] : logits[b];
    const T e = exponential(-maximum(s, -s));
    const T loss = maximum(s, number<T>(0)) + logarithm(number<T>(1) + e);
    losses[b] = targets[b] == kNoTarget ? number<T>(0) : loss;
  }
}

template <class T>
void logistic_loss_backward_plain(const T* logits, const std::int32_t* targets, T* d_logits, std::size_t samples,
                                  double scale) {
  for (std::size_t b = 0; b < samples; ++b) {
    const T s = targets[b] == 1 ? -logits[b] : logits[b];
    const T e = exponential(-maximum(s, -s));
    const T sigma = if_positive(s, number<T>(1), e) / (number<T>(1) + e);
    const T d = (targets[b] == 1 ? -sigma : sigma) * number<T>(scale);
    d_logits[b] = targets[b] == kNoTarget ? number<T>(0) : d;
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_LOGISTIC_LOSS_INL_H
