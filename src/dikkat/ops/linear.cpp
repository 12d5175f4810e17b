#include "dikkat/ops/linear.h"

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/matmul.h"
#include "dikkat/ops/column_sum.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::ops {
namespace {

using kernels::Matrix;
using kernels::Store;

// How the weight is stored: (in, out), or (out, in) as an embedding table is.
enum class Layout : std::uint8_t { in_out, out_in };

template <class T>
Matrix<const T> matrix_of(const Tensor& t) {
  return {t.data<T>(), t.shape()[0], t.shape()[1], t.stride(0), t.stride(1)};
}
template <class T>
Matrix<T> target_of(const Tensor& t) {
  return {t.data<T>(), t.shape()[0], t.shape()[1], t.stride(0), t.stride(1)};
}

struct WeightSum {
  Tensor x, dy;
  const kernels::Rows* rows;
  Layout layout;

  static void add(const kernels::Executor& executor, Joining& joining, const Pieces<WeightSum>& pieces,
                  const Tensor& d_weight) {
    const bool in_out = pieces[0].layout == Layout::in_out;
    const auto add_group = [&](Chunks chunks, const Tensor& x, const Tensor& dy) {
      with_number(dy.dtype(), [&]<class T>() {
        kernels::matmul<T>(executor, matrix_of<T>(in_out ? x : dy).transposed(), matrix_of<T>(in_out ? dy : x),
                           target_of<T>(d_weight), {.store = Store::add, .chunks = chunks});
      });
    };
    each_joined(joining, pieces, add_group, &WeightSum::x, &WeightSum::dy);
  }
};

struct LinearBackward {
  Tensor x, weight;
  Slot x_slot, weight_slot, bias_slot, y_slot;
  Layout layout;
  const kernels::Rows* rows;

  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const DType dtype = dy.dtype();
    context.tape->add_sum(bias_slot, {dy.shape()[1]}, dtype, ColumnSum{dy, rows}, dy.count(), context);
    context.tape->add_sum(weight_slot, weight.shape(), dtype, WeightSum{x, dy, rows, layout},
                          x.shape()[0] * weight.count(), context);
    const Gradient dx = context.tape->into(x_slot, x.shape(), dtype, context);
    if (!dx.wanted()) return;
    with_number(dtype, [&]<class T>() {
      const Matrix<const T> w = matrix_of<T>(weight);
      kernels::matmul<T>(context.executor, matrix_of<T>(dy), layout == Layout::in_out ? w.transposed() : w,
                         target_of<T>(dx.tensor), {.store = dx.store});
    });
  }
};

Variable apply(Context& context, const char* name, const Variable& x, const Variable& weight, const Variable& bias,
               Layout layout) {
  require_rank(name, "x", x.value, 2);
  require_rank(name, "weight", weight.value, 2);
  const std::size_t in = weight.shape()[layout == Layout::in_out ? 0 : 1];
  const std::size_t out = weight.shape()[layout == Layout::in_out ? 1 : 0];
  require_shape(name, "x", x.value, {x.shape()[0], in});
  if (bias.value.defined()) require_shape(name, "bias", bias.value, {out});

  Variable y = output_of(context, Tensor::empty({x.shape()[0], out}, x.value.dtype(), context.memory), x, weight, bias);
  with_number(x.value.dtype(), [&]<class T>() {
    const Matrix<const T> w = matrix_of<T>(weight.value);
    kernels::matmul<T>(context.executor, matrix_of<T>(x.value), layout == Layout::in_out ? w : w.transposed(),
                       target_of<T>(y.value), {.bias = bias.value.defined() ? bias.value.data<T>() : nullptr});
  });
  if (y.wants_gradient()) {
    context.tape->record(
        LinearBackward{x.value, weight.value, x.slot, weight.slot, bias.slot, y.slot, layout, context.rows});
  }
  return y;
}

}  // namespace

Variable linear(Context& context, const Variable& x, const Variable& weight, const Variable& bias) {
  return apply(context, "linear", x, weight, bias, Layout::in_out);
}

Variable linear_transposed(Context& context, const Variable& x, const Variable& table, const Variable& bias) {
  return apply(context, "linear_transposed", x, table, bias, Layout::out_in);
}

}  // namespace dikkat::ops
