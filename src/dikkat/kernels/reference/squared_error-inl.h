// Plain bodies of squared_error.h.
#if defined(DIKKAT_REFERENCE_SQUARED_ERROR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_SQUARED_ERROR_INL_H
#undef DIKKAT_REFERENCE_SQUARED_ERROR_INL_H
#else
#define DIKKAT_REFERENCE_SQUARED_ERROR_INL_H
#endif

#include "dikkat/kernels/reference/number-inl.h"
#include "dikkat/kernels/squared_error.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <class T>
void squared_error_forward_plain(const T* outputs, const double* targets, T* losses, std::size_t samples) {
  for (std::size_t b = 0; b < samples; ++b) {
    const T d = outputs[b] - number<T>(targets[b]);
    losses[b] = d * d;
  }
}

template <class T>
void squared_error_backward_plain(const T* outputs, const double* targets, T* d_outputs, std::size_t samples,
                                  double scale) {
  for (std::size_t b = 0; b < samples; ++b) {
    const T d = outputs[b] - number<T>(targets[b]);
    d_outputs[b] = (d + d) * number<T>(scale);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_SQUARED_ERROR_INL_H
