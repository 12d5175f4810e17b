#include "dikkat/kernels/squared_error.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/reference/squared_error-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {

template <class T>
void squared_error_forward(const Executor& executor, const T* outputs, const double* targets, T* losses,
                           std::size_t samples) {
  DIKKAT_BODY(executor, squared_error_forward_plain<T>)(outputs, targets, losses, samples);
}

template <class T>
void squared_error_backward(const Executor& executor, const T* outputs, const double* targets, T* d_outputs,
                            std::size_t samples, double scale) {
  DIKKAT_BODY(executor, squared_error_backward_plain<T>)(outputs, targets, d_outputs, samples, scale);
}

#define DIKKAT_INSTANTIATE(T)                                                                     \
  template void squared_error_forward(const Executor&, const T*, const double*, T*, std::size_t); \
  template void squared_error_backward(const Executor&, const T*, const double*, T*, std::size_t, double);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
