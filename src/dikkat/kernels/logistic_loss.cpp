#include "dikkat/kernels/logistic_loss.h"

#include <string>

#include "dikkat/base/error.h"
#include "dikkat/kernels/cross_entropy.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/reference/logistic_loss-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

void check_targets(const std::int32_t* targets, std::size_t samples) {
  for (std::size_t b = 0; b < samples; ++b) {
    if (targets[b] == kNoTarget || targets[b] == 0 || targets[b] == 1) continue;
    throw Error(ErrorKind::internal, "logistic_loss: target of no class; got " + std::to_string(targets[b]) +
                                         " for sample " + std::to_string(b) + ", expected 0, 1 or " +
                                         std::to_string(kNoTarget));
  }
}

}  // namespace

template <class T>
void logistic_loss_forward(const Executor& executor, const T* logits, const std::int32_t* targets, T* losses,
                           std::size_t samples) {
  check_targets(targets, samples);
  DIKKAT_BODY(executor, logistic_loss_forward_plain<T>)(logits, targets, losses, samples);
}

template <class T>
void logistic_loss_backward(const Executor& executor, const T* logits, const std::int32_t* targets, T* d_logits,
                            std::size_t samples, double scale) {
  check_targets(targets, samples);
  DIKKAT_BODY(executor, logistic_loss_backward_plain<T>)(logits, targets, d_logits, samples, scale);
}

#define DIKKAT_INSTANTIATE(T)                                                                           \
  template void logistic_loss_forward(const Executor&, const T*, const std::int32_t*, T*, std::size_t); \
  template void logistic_loss_backward(const Executor&, const T*, const std::int32_t*, T*, std::size_t, double);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
