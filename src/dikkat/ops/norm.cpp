#include "dikkat/ops/norm.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/ops/column_sum.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

template <class T>
T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data<T>() : nullptr;
}

struct GainSum {
  kernels::NormShape shape;
  Tensor x, mean, rstd, dy;
  const kernels::Rows* rows;

  static void add(const kernels::Executor& executor, Joining& joining, const Pieces<GainSum>& pieces,
                  const Tensor& d_gain) {
    const auto add_group = [&](Chunks chunks, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                               const Tensor& dy) {
      kernels::NormShape shape = pieces[0].shape;
      shape.rows = x.shape()[0];
      with_number(dy.dtype(), [&]<class T>() {
        kernels::norm_gain_gradient<T>(
            executor, shape, {x.data<T>(), mean.data<T>(), rstd.data<T>(), dy.data<T>(), d_gain.data<T>()}, chunks);
      });
    };
    each_joined(joining, pieces, add_group, &GainSum::x, &GainSum::mean, &GainSum::rstd, &GainSum::dy);
  }
};

struct NormBackward {
  kernels::NormShape shape;
  Tensor x, gain, mean, rstd;
  Slot x_slot, gain_slot, bias_slot, y_slot;
  const kernels::Rows* rows;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Shape parameter{shape.columns};
    context.tape->add_sum(gain_slot, parameter, dy.dtype(), GainSum{shape, x, mean, rstd, dy, rows}, dy.count(),
                          context);
    context.tape->add_sum(bias_slot, parameter, dy.dtype(), ColumnSum{dy, rows}, dy.count(), context);
    Gradient dx = context.tape->into(x_slot, x.shape(), x.dtype(), context);
    if (!dx.wanted()) dx.tensor = Tensor::empty(x.shape(), x.dtype(), context.memory);
    with_number(dy.dtype(), [&]<class T>() {
      kernels::norm_backward<T>(context.executor, shape,
                                {.x = x.data<T>(),
                                 .gain = data_or_null<T>(gain),
                                 .mean = data_or_null<T>(mean),
                                 .rstd = rstd.data<T>(),
                                 .dy = dy.data<T>(),
                                 .dx = dx.tensor.data<T>()},
                                dx.store);
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
