#include "dikkat/nn/mlp.h"

#include "dikkat/nn/tap.h"
#include "dikkat/ops/activation.h"

namespace dikkat::nn {
Mlp::Mlp(ParameterStore& store, std::string path, const Options& options)
    : path_(std::move(path)),
      kind_(options.kind),
      up_(store, path_ + ".up", {options.width, kernels::input_width(options.kind, options.inner)}, options.up,
          options.bias),
      down_(store, path_ + ".down", {options.inner, options.width}, options.down, options.bias) {}

Variable Mlp::forward(Context& context, const Variable& x) const {
  const Variable pre = up_.forward(context, x);
  show(context, path_, "pre", pre.value);
  const Variable post = ops::activation(context, kind_, pre);
  show(context, path_, "post", post.value);
  const Variable out = down_.forward(context, post);
  show(context, path_, "out", out.value);
  return out;
}

}  // namespace dikkat::nn
