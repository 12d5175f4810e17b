#include "dikkat/ops/activation.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct ActivationBackward {
  kernels::Activation kind;
  Tensor x;
  Slot x_slot, y_slot;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Gradient dx = context.tape->into(x_slot, x.shape(), x.dtype(), context);
    if (!dx.wanted()) return;
    with_number(dy.dtype(), [&]<class T>() {
      kernels::activation_backward<T>(context.executor, kind, x.data<T>(), dy.data<T>(), dx.tensor.data<T>(),
                                      dy.shape()[0], dy.shape()[1], dx.store);
    });
  }
};

}  // namespace

Variable activation(Context& context, kernels::Activation kind, const Variable& x) {
  require_rank("activation", "x", x.value, 2);
  const std::size_t rows = x.shape()[0];
  const std::size_t width = x.shape()[1] / kernels::input_width(kind, 1);
  require_shape(text_of(kind), "x", x.value, {rows, kernels::input_width(kind, width)});
  Variable y = output_of(context, Tensor::empty({rows, width}, x.value.dtype(), context.memory), x);
  with_number(x.value.dtype(), [&]<class T>() {
    kernels::activation_forward<T>(context.executor, kind, x.value.data<T>(), y.value.data<T>(), rows, width);
  });
  if (y.wants_gradient()) context.tape->record(ActivationBackward{kind, x.value, x.slot, y.slot});
  return y;
}

}  // namespace dikkat::ops
