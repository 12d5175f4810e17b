// The feed-forward network of a block: out = down(f(up(x))), each position on its own. A gated f takes 2F columns from
// up, the gates first.
#pragma once

#include <string>

#include "dikkat/kernels/activation.h"
#include "dikkat/nn/linear.h"

namespace dikkat::nn {

class Mlp {
 public:
  struct Options {
    std::size_t width = 0;  // C
    std::size_t inner = 0;  // F
    kernels::Activation kind = kernels::Activation::gelu;
    Bias bias = Bias::none;
    Init up = {};
    Init down = {};
  };
  // Parameters <path>.up.*, <path>.down.*.
  Mlp(ParameterStore& store, std::string path, const Options& options);

  // x (R,C) -> (R,C)
  [[nodiscard]] Variable forward(Context& context, const Variable& x) const;

 private:
  std::string path_;
  kernels::Activation kind_;
  Linear up_;
  Linear down_;
};

}  // namespace dikkat::nn
