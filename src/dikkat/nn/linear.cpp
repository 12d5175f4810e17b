#include "dikkat/nn/linear.h"

#include "dikkat/ops/linear.h"

namespace dikkat::nn {

Linear::Linear(ParameterStore& store, const std::string& path, Shape shape, Init init, Bias bias)
    : weight_(&store.add(path + ".weight", {shape.in, shape.out}, init)) {
  if (bias == Bias::kept) bias_ = &store.add(path + ".bias", {shape.out}, zeros());
}

Variable Linear::forward(Context& context, const Variable& x) const {
  return ops::linear(context, x, weight_->use(context), bias_ != nullptr ? bias_->use(context) : Variable{});
}

}  // namespace dikkat::nn
