// A transformer block: attention, then MLP, each with its norm and residual.
//   pre:   x = x + drop(attention(norm1(x)));   x = x + drop(mlp(norm2(x)))
//   post:  x = norm1(x + drop(attention(x)));   x = norm2(x + drop(mlp(x)))
// Without residuals "x +" is left out.
#pragma once

#include <string>

#include "dikkat/nn/attention.h"
#include "dikkat/nn/mlp.h"
#include "dikkat/nn/norm.h"

namespace dikkat::nn {

enum class Placement : std::uint8_t { pre, post };
enum class Residuals : std::uint8_t { on, off };

class Block {
 public:
  struct Options {
    Norm::Options norm = {};
    Attention::Options attention = {};
    Mlp::Options mlp = {};
    Placement placement = Placement::pre;
    Residuals residuals = Residuals::on;
    double dropout = 0.0;
  };
  // Parameters <path>.norm1.*, .attention.*, .norm2.*, .mlp.*.
  Block(ParameterStore& store, std::string path, std::size_t layer, const Options& options);

  // x (R,C) -> (R,C)
  [[nodiscard]] Variable forward(Context& context, const Position& position, const Variable& x) const;

 private:
  // One sublayer with its norm, dropout and residual; `apply` is attention or MLP.
  template <class Apply>
  [[nodiscard]] Variable sublayer(Context& context, const Norm& norm, const std::string& place, const Variable& x,
                                  Apply&& apply) const;

  std::string path_;
  std::string attention_path_;
  std::string mlp_path_;
  Placement placement_;
  Residuals residuals_;
  double dropout_;
  Norm norm1_;
  Attention attention_;
  Norm norm2_;
  Mlp mlp_;
};

}  // namespace dikkat::nn
