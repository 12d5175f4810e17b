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
                                      x.count(), dx.store);
    });
  }
};

struct SwigluBackward {
  Tensor x;
  Slot x_slot, y_slot;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Gradient dx = context.tape->into(x_slot, x.shape(), x.dtype(), context);
    if (!dx.wanted()) return;
    with_number(dy.dtype(), [&]<class T>() {
      kernels::swiglu_backward<T>(context.executor, x.data<T>(), dy.data<T>(), dx.tensor.data<T>(), x.shape()[0],
                                  x.shape()[1] / 2, dx.store);
    });
  }
};

}  // namespace

Variable activation(Context& context, kernels::Activation kind, const Variable& x) {
  Variable y = output_of(context, Tensor::empty(x.shape(), x.value.dtype(), context.memory), x);
  with_number(x.value.dtype(), [&]<class T>() {
    kernels::activation_forward<T>(context.executor, kind, x.value.data<T>(), y.value.data<T>(), x.value.count());
  });
  if (y.wants_gradient()) context.tape->record(ActivationBackward{kind, x.value, x.slot, y.slot});
  return y;
}

Variable swiglu(Context& context, const Variable& x) {
  require_rank("swiglu", "x", x.value, 2);
  const std::size_t width = x.shape()[1] / 2;
  require_shape("swiglu", "x", x.value, {x.shape()[0], 2 * width});
  Variable y = output_of(context, Tensor::empty({x.shape()[0], width}, x.value.dtype(), context.memory), x);
  with_number(x.value.dtype(), [&]<class T>() {
    kernels::swiglu_forward<T>(context.executor, x.value.data<T>(), y.value.data<T>(), x.shape()[0], width);
  });
  if (y.wants_gradient()) context.tape->record(SwigluBackward{x.value, x.slot, y.slot});
  return y;
}

}  // namespace dikkat::ops
