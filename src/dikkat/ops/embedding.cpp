#include "dikkat/ops/embedding.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/embedding.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct EmbeddingBackward {
  Shape table;
  std::span<const std::uint32_t> ids;
  Slot table_slot, y_slot;
  const kernels::Rows* rows;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Tensor d_table = context.tape->onto(table_slot, table, dy.dtype(), context);
    with_number(dy.dtype(), [&]<class T>() {
      kernels::embedding_backward<T>(context.executor, dy.data<T>(), ids, rows->chunks, d_table.data<T>(), table[0],
                                     table[1]);
    });
  }
};

}  // namespace

Variable embedding(Context& context, const Variable& table, std::span<const std::uint32_t> ids) {
  require_rank("embedding", "table", table.value, 2);
  const std::size_t width = table.shape()[1];
  Variable y = output_of(context, Tensor::empty({ids.size(), width}, table.value.dtype(), context.memory), table);
  with_number(table.value.dtype(), [&]<class T>() {
    kernels::embedding_forward<T>(context.executor, table.value.data<T>(), table.shape()[0], ids, y.value.data<T>(),
                                  width, kernels::Store::assign);
  });
  if (y.wants_gradient()) context.tape->record(EmbeddingBackward{table.shape(), ids, table.slot, y.slot, context.rows});
  return y;
}

}  // namespace dikkat::ops
