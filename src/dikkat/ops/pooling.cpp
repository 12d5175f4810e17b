#include "dikkat/ops/pooling.h"

#include <cmath>

#include "dikkat/autograd/tape.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

using kernels::PoolingShape;

PoolingShape shape_of(const Context& context, const AttentionPoolingOptions& options) {
  return {.heads = options.heads,
          .width = options.width,
          .scale = 1.0 / std::sqrt(static_cast<double>(options.width)),
          .sum = options.sum,
          .rows = context.rows};
}

void require_rows(const char* operation, const Context& context, const Tensor& x) {
  require_rank(operation, "x", x, 2);
  require_shape(operation, "x", x, {context.rows->count(), x.shape()[1]});
}

struct QuerySum {
  PoolingShape shape;
  Tensor key_values, d_scores;
  const kernels::Rows* rows;

  static void add(const kernels::Executor& executor, Joining& joining, const Pieces<QuerySum>& pieces,
                  const Tensor& d_query) {
    const auto add_group = [&](Chunks chunks, const Tensor& key_values, const Tensor& d_scores) {
      with_number(d_query.dtype(), [&]<class T>() {
        kernels::pooling_query_gradient<T>(executor, pieces[0].shape,
                                           {key_values.data<T>(), d_scores.data<T>(), d_query.data<T>()}, chunks);
      });
    };
    each_joined(joining, pieces, add_group, &QuerySum::key_values, &QuerySum::d_scores);
  }
};

struct AttentionPoolingBackward {
  PoolingShape shape;
  Tensor key_values, query, pattern, out;
  Slot key_values_slot, query_slot, out_slot;

  void operator()(Context& context) const {
    const Tensor d_out = context.tape->take(out_slot);
    if (!d_out.defined()) return;
    const DType dtype = d_out.dtype();
    const Tensor d_key_values = Tensor::empty(key_values.shape(), dtype, context.memory);
    const Tensor d_scores = Tensor::empty(pattern.shape(), dtype, context.memory);
    with_number(dtype, [&]<class T>() {
      kernels::pooling_backward<T>(context.executor, shape,
                                   {.key_values = key_values.span<T>().data(),
                                    .query = query.data<T>(),
                                    .pattern = pattern.data<T>(),
                                    .out = out.data<T>(),
                                    .d_out = d_out.span<T>().data(),
                                    .d_key_values = d_key_values.data<T>(),
                                    .d_scores = d_scores.data<T>()});
    });
    context.tape->add_sum(query_slot, query.shape(), dtype, QuerySum{shape, key_values, d_scores, shape.rows},
                          key_values.count(), context);
    if (key_values_slot != kNoSlot) context.tape->give(key_values_slot, d_key_values, context);
  }
};

// The map and the output that belongs to it.
struct Forward {
  Tensor pattern, out;
};
Forward forward(Context& context, const PoolingShape& shape, const Variable& key_values, const Variable& query) {
  require_shape("attention_pooling", "key_values", key_values.value, {shape.rows->count(), 2 * shape.columns()});
  require_shape("attention_pooling", "query", query.value, {shape.columns()});
  const DType dtype = key_values.value.dtype();
  Forward result{Tensor::empty({shape.rows->count(), shape.heads}, dtype, context.memory),
                 Tensor::empty({shape.rows->samples(), shape.columns()}, dtype, context.memory)};
  with_number(dtype, [&]<class T>() {
    kernels::pooling_forward<T>(context.executor, shape,
                                {.key_values = key_values.value.span<T>().data(),
                                 .query = query.value.data<T>(),
                                 .pattern = result.pattern.data<T>(),
                                 .out = result.out.data<T>()});
  });
  return result;
}

// `shown`: result.out, or what came of a map that somebody changed.
Variable tracked(Context& context, const PoolingShape& shape, const Variable& key_values, const Variable& query,
                 const Forward& result, const Tensor& shown) {
  Variable out = output_of(context, shown, key_values, query);
  if (out.wants_gradient()) {
    context.tape->record(AttentionPoolingBackward{shape, key_values.value, query.value, result.pattern, result.out,
                                                  key_values.slot, query.slot, out.slot});
  }
  return out;
}

enum class Which : std::uint8_t { mean, last };

struct RowPoolingBackward {
  Which which;
  const kernels::Rows* rows;
  Shape x_shape;
  Slot x_slot, y_slot;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Gradient dx = context.tape->into(x_slot, x_shape, dy.dtype(), context);
    if (!dx.wanted()) return;
    with_number(dy.dtype(), [&]<class T>() {
      const auto run = which == Which::mean ? kernels::mean_pooling_backward<T> : kernels::last_pooling_backward<T>;
      run(context.executor, *rows, dy.span<T>().data(), dx.tensor.data<T>(), x_shape[1], dx.store);
    });
  }
};

Variable row_pooling(Context& context, const char* name, Which which, const Variable& x) {
  require_rows(name, context, x.value);
  const DType dtype = x.value.dtype();
  Variable y = output_of(context, Tensor::empty({context.rows->samples(), x.shape()[1]}, dtype, context.memory), x);
  with_number(dtype, [&]<class T>() {
    const auto run = which == Which::mean ? kernels::mean_pooling_forward<T> : kernels::last_pooling_forward<T>;
    run(context.executor, *context.rows, x.value.span<T>().data(), y.value.data<T>(), x.shape()[1]);
  });
  if (y.wants_gradient()) context.tape->record(RowPoolingBackward{which, context.rows, x.shape(), x.slot, y.slot});
  return y;
}

}  // namespace

Variable attention_pooling(Context& context, const Variable& key_values, const Variable& query,
                           const AttentionPoolingOptions& options) {
  const PoolingShape shape = shape_of(context, options);
  const Forward result = forward(context, shape, key_values, query);
  return tracked(context, shape, key_values, query, result, result.out);
}

Variable attention_pooling_with_map(Context& context, const Variable& key_values, const Variable& query,
                                    const AttentionPoolingOptions& options, const std::function<void(Tensor&)>& look) {
  const PoolingShape shape = shape_of(context, options);
  const Forward plain = forward(context, shape, key_values, query);
  Tensor pattern = plain.pattern.clone();
  look(pattern);
  const Tensor shown = Tensor::empty(plain.out.shape(), plain.out.dtype(), context.memory);
  with_number(shown.dtype(), [&]<class T>() {
    kernels::pooling_mix<T>(context.executor, shape, pattern.data<T>(), key_values.value.span<T>().data(),
                            shown.data<T>());
  });
  return tracked(context, shape, key_values, query, plain, shown);
}

Variable mean_pooling(Context& context, const Variable& x) {
  return row_pooling(context, "mean_pooling", Which::mean, x);
}

Variable last_pooling(Context& context, const Variable& x) {
  return row_pooling(context, "last_pooling", Which::last, x);
}

}  // namespace dikkat::ops
