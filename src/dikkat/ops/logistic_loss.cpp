#include "dikkat/ops/logistic_loss.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/logistic_loss.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct LogisticLossBackward {
  Tensor logits;
  std::span<const std::int32_t> targets;
  double gradient_scale;
  Slot logits_slot;

  void operator()(Context& context) const {
    with_number(logits.dtype(), [&]<class T>() {
      kernels::logistic_loss_backward<T>(context.executor, logits.data<T>(), targets.data(), logits.data<T>(),
                                         targets.size(), gradient_scale);
    });
    context.tape->give(logits_slot, logits, context);
  }
};

}  // namespace

Tensor logistic_loss(Context& context, const Variable& logits, std::span<const std::int32_t> targets,
                     double gradient_scale) {
  require_shape("logistic_loss", "logits", logits.value, {targets.size(), 1});
  const Tensor losses = Tensor::empty({targets.size()}, logits.value.dtype(), context.memory);
  with_number(losses.dtype(), [&]<class T>() {
    kernels::logistic_loss_forward<T>(context.executor, logits.value.data<T>(), targets.data(), losses.data<T>(),
                                      targets.size());
  });
  if (context.tape != nullptr && logits.wants_gradient()) {
    context.tape->record(LogisticLossBackward{logits.value, targets, gradient_scale, logits.slot});
  }
  return losses;
}

}  // namespace dikkat::ops
