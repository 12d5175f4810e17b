// The feed-forward network of a block: out = down(f(up(x))), each position on its own.
#pragma once

#include <string>

#include "dikkat/kernels/activation.h"
#include "dikkat/nn/linear.h"

namespace dikkat::nn {

// f: an activation, or the gated swiglu (up then has 2F columns, gate first).
enum class ActivationKind : std::uint8_t { relu, gelu, gelu_tanh, silu, swiglu };

class Mlp {
 public:
  struct Options {
    std::size_t width = 0;  // C
    std::size_t inner = 0;  // F
    ActivationKind kind = ActivationKind::gelu;
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
  ActivationKind kind_;
  Linear up_;
  Linear down_;
};

}  // namespace dikkat::nn
