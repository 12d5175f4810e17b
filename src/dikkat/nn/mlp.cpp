#include "dikkat/nn/mlp.h"

#include "dikkat/nn/tap.h"
#include "dikkat/ops/activation.h"

namespace dikkat::nn {
namespace {

Variable activated(Context& context, ActivationKind kind, const Variable& x) {
  switch (kind) {
    case ActivationKind::relu: return ops::activation(context, kernels::Activation::relu, x);
    case ActivationKind::gelu: return ops::activation(context, kernels::Activation::gelu, x);
    case ActivationKind::gelu_tanh: return ops::activation(context, kernels::Activation::gelu_tanh, x);
    case ActivationKind::silu: return ops::activation(context, kernels::Activation::silu, x);
    case ActivationKind::swiglu: return ops::swiglu(context, x);
  }
  return x;
}

}  // namespace

Mlp::Mlp(ParameterStore& store, std::string path, const Options& options)
    : path_(std::move(path)),
      kind_(options.kind),
      up_(store, path_ + ".up", {options.width, options.kind == ActivationKind::swiglu ? 2 * options.inner : options.inner},
          options.up, options.bias),
      down_(store, path_ + ".down", {options.inner, options.width}, options.down, options.bias) {}

Variable Mlp::forward(Context& context, const Variable& x) const {
  const Variable pre = up_.forward(context, x);
  show(context, path_, "pre", pre.value);
  const Variable post = activated(context, kind_, pre);
  show(context, path_, "post", post.value);
  const Variable out = down_.forward(context, post);
  show(context, path_, "out", out.value);
  return out;
}

}  // namespace dikkat::nn
