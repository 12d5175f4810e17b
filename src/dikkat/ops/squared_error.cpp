#include "dikkat/ops/squared_error.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/squared_error.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct SquaredErrorBackward {
  Tensor outputs;
  std::span<const double> targets;
  double gradient_scale;
  Slot outputs_slot;

  void operator()(Context& context) const {
    with_number(outputs.dtype(), [&]<class T>() {
      kernels::squared_error_backward<T>(context.executor, outputs.data<T>(), targets.data(), outputs.data<T>(),
                                         targets.size(), gradient_scale);
    });
    context.tape->give(outputs_slot, outputs, context);
  }
};

}  // namespace

Tensor squared_error(Context& context, const Variable& outputs, std::span<const double> targets,
                     double gradient_scale) {
  require_shape("squared_error", "outputs", outputs.value, {targets.size(), 1});
  const Tensor losses = Tensor::empty({targets.size()}, outputs.value.dtype(), context.memory);
  with_number(losses.dtype(), [&]<class T>() {
    kernels::squared_error_forward<T>(context.executor, outputs.value.data<T>(), targets.data(), losses.data<T>(),
                                      targets.size());
  });
  if (context.tape != nullptr && outputs.wants_gradient()) {
    context.tape->record(SquaredErrorBackward{outputs.value, targets, gradient_scale, outputs.slot});
  }
  return losses;
}

}  // namespace dikkat::ops
