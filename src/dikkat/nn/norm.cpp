#include "dikkat/nn/norm.h"

#include "dikkat/ops/norm.h"

namespace dikkat::nn {

Norm::Norm(ParameterStore& store, const std::string& path, std::size_t width, const Options& options)
    : options_(options) {
  if (!options.kind) return;
  gain_ = &store.add(path + ".gain", {width}, ones());
  if (options.bias == Bias::kept && options.kind == kernels::Norm::layer) {
    bias_ = &store.add(path + ".bias", {width}, zeros());
  }
}

Variable Norm::forward(Context& context, const Variable& x) const {
  if (!options_.kind) return x;
  return ops::norm(context, *options_.kind, options_.epsilon, x, gain_->use(context),
                   bias_ != nullptr ? bias_->use(context) : Variable{});
}

}  // namespace dikkat::nn
