#include "dikkat/ops/dropout.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/dropout.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct DropoutBackward {
  kernels::DropoutDraw draw;
  Slot x_slot, y_slot;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Gradient dx = context.tape->into(x_slot, dy.shape(), dy.dtype(), context);
    if (!dx.wanted()) return;
    with_number(dy.dtype(), [&]<class T>() {
      kernels::dropout<T>(context.executor, draw, dy.data<T>(), dx.tensor.data<T>(), dy.shape()[1], dx.store);
    });
  }
};

}  // namespace

Variable dropout(Context& context, const Variable& x, double rate, std::string_view place) {
  if (context.mode != Mode::training || rate <= 0) return x;
  require_rank("dropout", "x", x.value, 2);
  const kernels::DropoutDraw draw{.rate = rate,
                                  .stream = random::stream(context.seed, "dropout", place),
                                  .step = context.step,
                                  .sample = context.rows->sample,
                                  .position = context.rows->position};
  Variable y = output_of(context, Tensor::empty(x.shape(), x.value.dtype(), context.memory), x);
  with_number(x.value.dtype(), [&]<class T>() {
    kernels::dropout<T>(context.executor, draw, x.value.data<T>(), y.value.data<T>(), x.shape()[1],
                        kernels::Store::assign);
  });
  if (y.wants_gradient()) context.tape->record(DropoutBackward{draw, x.slot, y.slot});
  return y;
}

}  // namespace dikkat::ops
