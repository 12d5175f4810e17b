#include "dikkat/ops/attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/attention.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

using kernels::AttentionShape;
using kernels::Heads;

// Where queries, keys and values stand in a joint projection.
template <class T>
struct Joint {
  Heads<T> q, k, v;
};
template <class T>
Joint<T> joint(T* data, std::size_t stride, const AttentionShape& shape) {
  const std::size_t queries = shape.heads * shape.width;
  const std::size_t keys = shape.kv_heads * shape.width;
  return {{data, stride}, {data + queries, stride}, {data + queries + keys, stride}};
}

AttentionShape shape_of(const Context& context, const AttentionOptions& options) {
  return {.heads = options.heads,
          .kv_heads = options.kv_heads,
          .width = options.width,
          .scale = 1.0 / std::sqrt(static_cast<double>(options.width)),
          .mask = options.mask,
          .slopes = options.slopes,
          .rows = context.rows,
          .dropout = context.mode == Mode::training ? options.dropout : 0.0,
          .dropout_stream = random::stream(context.seed, "attention dropout", options.place),
          .step = context.step};
}

struct AttentionBackward {
  AttentionShape shape;
  Tensor qkv, out, max, sum;
  Slot qkv_slot, out_slot;

  void operator()(Context& context) const {
    const Tensor d_out = context.tape->take(out_slot);
    if (!d_out.defined() || qkv_slot == kNoSlot) return;
    const Tensor d_qkv = Tensor::empty(qkv.shape(), qkv.dtype(), context.memory);
    with_number(qkv.dtype(), [&]<class T>() {
      const Joint<const T> from = joint<const T>(qkv.data<T>(), qkv.stride(0), shape);
      const Joint<T> to = joint(d_qkv.data<T>(), d_qkv.stride(0), shape);
      const std::size_t width = out.stride(0);
      kernels::attention_backward<T>(context.executor, shape,
                                     {.q = from.q,
                                      .k = from.k,
                                      .v = from.v,
                                      .out = {out.data<T>(), width},
                                      .max = max.data<T>(),
                                      .sum = sum.data<T>(),
                                      .d_out = {d_out.data<T>(), d_out.stride(0)},
                                      .d_q = to.q,
                                      .d_k = to.k,
                                      .d_v = to.v});
    });
    context.tape->give(qkv_slot, d_qkv, context);
  }
};

void require_joint(const Tensor& qkv, const AttentionOptions& options) {
  require_rank("attention", "qkv", qkv, 2);
  require_shape("attention", "qkv", qkv, {qkv.shape()[0], (options.heads + 2 * options.kv_heads) * options.width});
}

// out, and the row maxima and sums that backward needs.
struct Forward {
  Tensor out, max, sum;
};
Forward forward(Context& context, const AttentionShape& shape, const Tensor& qkv) {
  const std::size_t rows = qkv.shape()[0];
  const DType dtype = qkv.dtype();
  Forward result{Tensor::empty({rows, shape.heads * shape.width}, dtype, context.memory),
                 Tensor::empty({rows, shape.heads}, dtype, context.memory),
                 Tensor::empty({rows, shape.heads}, dtype, context.memory)};
  with_number(dtype, [&]<class T>() {
    const Joint<const T> from = joint<const T>(qkv.data<T>(), qkv.stride(0), shape);
    kernels::attention_forward<T>(context.executor, shape,
                                  {.q = from.q,
                                   .k = from.k,
                                   .v = from.v,
                                   .out = {result.out.data<T>(), result.out.stride(0)},
                                   .max = result.max.data<T>(),
                                   .sum = result.sum.data<T>()});
  });
  return result;
}

// `shown`: result.out, or what came of a map that somebody changed.
Variable tracked(Context& context, const AttentionShape& shape, const Variable& qkv, const Forward& result,
                 const Tensor& shown) {
  Variable out = output_of(context, shown, qkv);
  if (out.wants_gradient()) {
    context.tape->record(AttentionBackward{shape, qkv.value, result.out, result.max, result.sum, qkv.slot, out.slot});
  }
  return out;
}

}  // namespace

Variable attention(Context& context, const Variable& qkv, const AttentionOptions& options) {
  require_joint(qkv.value, options);
  const AttentionShape shape = shape_of(context, options);
  const Forward result = forward(context, shape, qkv.value);
  return tracked(context, shape, qkv, result, result.out);
}

Tensor attention_cached(Context& context, const Tensor& qkv, const Tensor& keys, const Tensor& values,
                        const AttentionOptions& options) {
  require_joint(qkv, options);
  AttentionShape shape = shape_of(context, options);
  const std::array<std::size_t, 2> key_first_row = {0, keys.shape()[0]};
  shape.key_first_row = key_first_row;
  const std::size_t rows = qkv.shape()[0];
  const DType dtype = qkv.dtype();
  const Tensor out = Tensor::empty({rows, shape.heads * shape.width}, dtype, context.memory);
  const Tensor max = Tensor::empty({rows, shape.heads}, dtype, context.memory);
  const Tensor sum = Tensor::empty({rows, shape.heads}, dtype, context.memory);
  with_number(dtype, [&]<class T>() {
    kernels::attention_forward<T>(context.executor, shape,
                                  {.q = {qkv.data<T>(), qkv.stride(0)},
                                   .k = {keys.data<T>(), keys.stride(0)},
                                   .v = {values.data<T>(), values.stride(0)},
                                   .out = {out.data<T>(), out.stride(0)},
                                   .max = max.data<T>(),
                                   .sum = sum.data<T>()});
  });
  return out;
}

Variable attention_with_map(Context& context, const Variable& qkv, const AttentionOptions& options,
                            const std::function<void(Tensor&)>& look) {
  require_joint(qkv.value, options);
  const AttentionShape shape = shape_of(context, options);
  const Forward plain = forward(context, shape, qkv.value);
  std::size_t keys = 0;
  for (std::size_t b = 0; b < context.rows->samples(); ++b) {
    keys = std::max(keys, context.rows->first_row[b + 1] - context.rows->first_row[b]);
  }
  const DType dtype = qkv.value.dtype();
  Tensor pattern = Tensor::zeros({qkv.shape()[0], shape.heads, keys}, dtype, context.memory);
  const Tensor shown = Tensor::empty(plain.out.shape(), dtype, context.memory);
  with_number(dtype, [&]<class T>() {
    const Joint<const T> from = joint<const T>(qkv.value.data<T>(), qkv.value.stride(0), shape);
    kernels::attention_pattern<T>(context.executor, shape, from.q, from.k, pattern.span<T>(), keys);
    look(pattern);
    kernels::attention_mix<T>(context.executor, shape, pattern.span<T>(), keys, from.v,
                              {shown.data<T>(), shown.stride(0)});
  });
  return tracked(context, shape, qkv, plain, shown);
}

}  // namespace dikkat::ops
