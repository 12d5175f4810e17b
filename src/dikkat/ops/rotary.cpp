#include "dikkat/ops/rotary.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/rotary.h"

namespace dikkat::ops {
namespace {

void rotate(const Context& context, const kernels::Rows& rows, kernels::Rotation rotation, const Tensor& x,
            const Tensor& cosines, const Tensor& sines, std::size_t heads, std::size_t width) {
  with_number(x.dtype(), [&]<class T>() {
    const kernels::RotaryTable<T> table{cosines.data<T>(), sines.data<T>(), cosines.shape()[0]};
    kernels::rotary<T>(context.executor, table, rows.position, rotation, x.data<T>(), x.stride(0), heads, width);
  });
}

struct RotaryBackward {
  Tensor cosines, sines;
  std::size_t heads, width;
  Slot x_slot, y_slot;
  const kernels::Rows* rows;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Tensor dx = dy.storage_shared() ? dy.clone(context.memory) : dy;
    rotate(context, *rows, kernels::Rotation::inverse, dx, cosines, sines, heads, width);
    context.tape->give(x_slot, dx, context);
  }
};

}  // namespace

Variable rotary(Context& context, const Variable& x, const Tensor& cosines, const Tensor& sines, std::size_t heads,
                std::size_t width) {
  rotate(context, *context.rows, kernels::Rotation::forward, x.value, cosines, sines, heads, width);
  Variable y = output_of(context, x.value, x);
  if (y.wants_gradient()) {
    context.tape->record(RotaryBackward{cosines, sines, heads, width, x.slot, y.slot, context.rows});
  }
  return y;
}

}  // namespace dikkat::ops
