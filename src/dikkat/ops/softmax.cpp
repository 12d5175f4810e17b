#include "dikkat/ops/softmax.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/softmax.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct SoftmaxBackward {
  Tensor y;
  Slot x_slot, y_slot;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Gradient dx = context.tape->into(x_slot, y.shape(), y.dtype(), context);
    if (!dx.wanted()) return;
    with_number(dy.dtype(), [&]<class T>() {
      kernels::softmax_backward<T>(context.executor, y.data<T>(), dy.data<T>(), dx.tensor.data<T>(), y.shape()[0],
                                   y.shape()[1], dx.store);
    });
  }
};

}  // namespace

Variable softmax(Context& context, const Variable& x) {
  require_rank("softmax", "x", x.value, 2);
  Variable y = output_of(context, Tensor::empty(x.shape(), x.value.dtype(), context.memory), x);
  with_number(x.value.dtype(), [&]<class T>() {
    kernels::softmax_forward<T>(context.executor, x.value.data<T>(), y.value.data<T>(), x.shape()[0], x.shape()[1]);
  });
  if (y.wants_gradient()) context.tape->record(SoftmaxBackward{y.value, x.slot, y.slot});
  return y;
}

}  // namespace dikkat::ops
