// The attention sublayer: joint projection to queries, keys and values; positions; attention; output projection.
#pragma once

#include <string>

#include "dikkat/kernels/mask.h"
#include "dikkat/nn/linear.h"
#include "dikkat/nn/position/position.h"

namespace dikkat::nn {

class Attention {
 public:
  struct Options {
    std::size_t width = 0;       // C
    std::size_t heads = 1;       // H
    std::size_t kv_heads = 1;    // G
    std::size_t head_width = 1;  // D
    kernels::Mask mask = {};
    Bias bias = Bias::none;
    double weight_dropout = 0.0;
    Init projection = {};
    Init output = {};
  };
  // Parameters <path>.qkv.* (C, (H + 2G) D) and <path>.output.* (H D, C). `layer` picks the block's place in a cache.
  Attention(ParameterStore& store, std::string path, std::size_t layer, const Options& options);

  // x (R,C) -> (R,C)
  [[nodiscard]] Variable forward(Context& context, const Position& position, const Variable& x) const;

 private:
  [[nodiscard]] Variable mixed(Context& context, const Position& position, const Variable& qkv) const;
  [[nodiscard]] Tensor mixed_with_cache(Context& context, const Position& position, const Tensor& qkv) const;
  void show_heads(Context& context, const Tensor& qkv) const;

  std::string path_;
  std::string pattern_path_;
  std::size_t layer_;
  Options options_;
  Linear qkv_;
  Linear output_;
};

}  // namespace dikkat::nn
