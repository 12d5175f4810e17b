#include "dikkat/ops/embedding.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/embedding.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

struct TableSum {
  Tensor dy;
  std::span<const std::uint32_t> ids;
  const kernels::Rows* rows;

  static std::span<const std::uint32_t> joined_ids(Joining& joining, const Pieces<TableSum>& group) {
    if (group.size() == 1) return group[0].ids;
    joining.ids.clear();
    for (std::size_t i = 0; i < group.size(); ++i) {
      joining.ids.insert(joining.ids.end(), group[i].ids.begin(), group[i].ids.end());
    }
    return joining.ids;
  }

  static void add(const kernels::Executor& executor, Joining& joining, const Pieces<TableSum>& pieces,
                  const Tensor& d_table) {
    std::size_t first = 0;
    const auto add_group = [&](Chunks chunks, const Tensor& dy) {
      const Pieces<TableSum> group = pieces.part(first, pieces.together(first));
      first += group.size();
      with_number(dy.dtype(), [&]<class T>() {
        kernels::embedding_backward<T>(executor, dy.data<T>(), joined_ids(joining, group), chunks, d_table.data<T>(),
                                       d_table.shape()[0], d_table.shape()[1]);
      });
    };
    each_joined(joining, pieces, add_group, &TableSum::dy);
  }
};

struct EmbeddingBackward {
  Shape table;
  std::span<const std::uint32_t> ids;
  Slot table_slot, y_slot;
  const kernels::Rows* rows;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    context.tape->add_sum(table_slot, table, dy.dtype(), TableSum{dy, ids, rows}, dy.count(), context);
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
