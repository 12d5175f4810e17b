#include "dikkat/ops/cross_entropy.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct CrossEntropyBackward {
  Tensor logits, max, sum;
  std::span<const std::int32_t> targets;
  double gradient_scale;
  Slot logits_slot;

  void operator()(Context& context) const {
    with_number(logits.dtype(), [&]<class T>() {
      kernels::cross_entropy_backward<T>(context.executor, logits.data<T>(), targets.data(), max.data<T>(),
                                         sum.data<T>(), logits.data<T>(), logits.shape()[0], logits.shape()[1],
                                         gradient_scale);
    });
    context.tape->give(logits_slot, logits, context);
  }
};

}  // namespace

Tensor cross_entropy(Context& context, const Variable& logits, std::span<const std::int32_t> targets,
                     double gradient_scale) {
  require_rank("cross_entropy", "logits", logits.value, 2);
  require_shape("cross_entropy", "logits", logits.value, {targets.size(), logits.shape()[1]});
  const std::size_t rows = targets.size();
  const DType dtype = logits.value.dtype();
  const Tensor losses = Tensor::empty({rows}, dtype, context.memory);
  const Tensor max = Tensor::empty({rows}, dtype, context.memory);
  const Tensor sum = Tensor::empty({rows}, dtype, context.memory);
  with_number(dtype, [&]<class T>() {
    kernels::cross_entropy_forward<T>(context.executor, logits.value.data<T>(), targets.data(), losses.data<T>(),
                                      max.data<T>(), sum.data<T>(), rows, logits.shape()[1]);
  });
  if (context.tape != nullptr && logits.wants_gradient()) {
    context.tape->record(CrossEntropyBackward{logits.value, max, sum, targets, gradient_scale, logits.slot});
  }
  return losses;
}

}  // namespace dikkat::ops
