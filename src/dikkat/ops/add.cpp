#include "dikkat/ops/add.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct AddBackward {
  Slot a_slot, b_slot, y_slot;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    context.tape->give(a_slot, dy, context);
    context.tape->give(b_slot, dy, context);
  }
};

}  // namespace

Variable add(Context& context, const Variable& a, const Variable& b) {
  require_shape("add", "b", b.value, a.shape());
  Variable y = output_of(context, Tensor::empty(a.shape(), a.value.dtype(), context.memory), a, b);
  with_number(a.value.dtype(), [&]<class T>() {
    kernels::add<T>(context.executor, a.value.data<T>(), b.value.data<T>(), y.value.data<T>(), a.value.count());
  });
  if (y.wants_gradient()) context.tape->record(AddBackward{a.slot, b.slot, y.slot});
  return y;
}

}  // namespace dikkat::ops
