#include "dikkat/ops/norm.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

template <class T>
T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data<T>() : nullptr;
}

struct NormBackward {
  kernels::NormShape shape;
  Tensor x, gain, mean, rstd;
  Slot x_slot, gain_slot, bias_slot, y_slot;
  const kernels::Rows* rows;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Tensor d_gain = context.tape->onto(gain_slot, {shape.columns}, dy.dtype(), context);
    const Tensor d_bias = context.tape->onto(bias_slot, {shape.columns}, dy.dtype(), context);
    Gradient dx = context.tape->into(x_slot, x.shape(), x.dtype(), context);
    if (!dx.wanted()) dx.tensor = Tensor::empty(x.shape(), x.dtype(), context.memory);
    with_number(dy.dtype(), [&]<class T>() {
      kernels::norm_backward<T>(context.executor, shape,
                                {.x = x.data<T>(),
                                 .gain = data_or_null<T>(gain),
                                 .mean = data_or_null<T>(mean),
                                 .rstd = rstd.data<T>(),
                                 .dy = dy.data<T>(),
                                 .dx = dx.tensor.data<T>(),
                                 .d_gain = data_or_null<T>(d_gain),
                                 .d_bias = data_or_null<T>(d_bias)},
                                rows->chunks, dx.store);
    });
  }
};

}  // namespace

Variable norm(Context& context, kernels::Norm kind, double epsilon, const Variable& x, const Variable& gain,
              const Variable& bias) {
  require_rank("norm", "x", x.value, 2);
  const std::size_t rows = x.shape()[0];
  const std::size_t columns = x.shape()[1];
  if (gain.value.defined()) require_shape("norm", "gain", gain.value, {columns});
  if (bias.value.defined()) require_shape("norm", "bias", bias.value, {columns});
  const kernels::NormShape shape{.norm = kind, .rows = rows, .columns = columns, .epsilon = epsilon};
  const DType dtype = x.value.dtype();
  const Tensor mean = Tensor::empty({rows}, dtype, context.memory);
  const Tensor rstd = Tensor::empty({rows}, dtype, context.memory);
  Variable y = output_of(context, Tensor::empty(x.shape(), dtype, context.memory), x, gain, bias);
  with_number(dtype, [&]<class T>() {
    kernels::norm_forward<T>(context.executor, shape,
                             {.x = x.value.data<T>(),
                              .gain = data_or_null<T>(gain.value),
                              .bias = data_or_null<T>(bias.value),
                              .y = y.value.data<T>(),
                              .mean = mean.data<T>(),
                              .rstd = rstd.data<T>()});
  });
  if (y.wants_gradient()) {
    context.tape->record(
        NormBackward{shape, x.value, gain.value, mean, rstd, x.slot, gain.slot, bias.slot, y.slot, context.rows});
  }
  return y;
}

}  // namespace dikkat::ops
