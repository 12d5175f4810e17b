#include "dikkat/ops/class_token.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/ops/column_sum.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

Tensor last_row(const Tensor& x, const kernels::Rows& rows, std::size_t sample) {
  const std::size_t end = rows.first_row[sample + 1];
  return x.slice(0, end - 1, end);
}

// (B,C): the last row of each sample.
Tensor last_rows(const Context& context, const Tensor& x, const kernels::Rows& rows) {
  const Tensor all = Tensor::empty({rows.samples(), x.shape()[1]}, x.dtype(), context.memory);
  for (std::size_t b = 0; b < rows.samples(); ++b) all.slice(0, b, b + 1).assign(last_row(x, rows, b));
  return all;
}

struct ClassTokenBackward {
  Slot x_slot, token_slot, y_slot;
  const kernels::Rows* rows;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    context.tape->give(x_slot, dy, context);
    if (token_slot == kNoSlot) return;
    kernels::Rows& pooled = context.tape->new_rows();
    pooled.lay_out_pooled(*rows);
    context.tape->add_sum(token_slot, {dy.shape()[1]}, dy.dtype(), ColumnSum{last_rows(context, dy, *rows), &pooled},
                          rows->samples() * dy.shape()[1], context);
  }
};

}  // namespace

Variable class_token(Context& context, const Variable& x, const Variable& token) {
  require_rank("class_token", "x", x.value, 2);
  require_shape("class_token", "x", x.value, {context.rows->count(), x.shape()[1]});
  require_shape("class_token", "token", token.value, {x.shape()[1]});
  Variable y = output_of(context, x.value.clone(context.memory), x, token);
  with_number(x.value.dtype(), [&]<class T>() {
    for (std::size_t b = 0; b < context.rows->samples(); ++b) {
      T* row = last_row(y.value, *context.rows, b).data<T>();
      kernels::add<T>(context.executor, row, token.value.data<T>(), row, token.value.count());
    }
  });
  if (y.wants_gradient()) context.tape->record(ClassTokenBackward{x.slot, token.slot, y.slot, context.rows});
  return y;
}

}  // namespace dikkat::ops
