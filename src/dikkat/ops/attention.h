// Attention over a joint projection, differentiable (kernels/attention.h has the mathematics).
//   qkv (R, (H + 2G) D): queries of H heads, then keys, then values of G heads, side by side -> out (R, H D)
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"
#include "dikkat/kernels/mask.h"

namespace dikkat::ops {

struct AttentionOptions {
  std::size_t heads = 1;     // H
  std::size_t kv_heads = 1;  // G
  std::size_t width = 1;     // D
  kernels::Mask mask = {};
  std::span<const double> slopes = {};  // (H), ALiBi; must stay valid until backward has run
  double dropout = 0.0;                 // on the weights, in training
  std::string_view place = {};          // parameter path, for dropout's draws
};

[[nodiscard]] Variable attention(Context& context, const Variable& qkv, const AttentionOptions& options);

// Generation: the rows' queries against cached keys and values, (S, G D) each, the last rows of which are this call's
// own.
[[nodiscard]] Tensor attention_cached(Context& context, const Tensor& qkv, const Tensor& keys, const Tensor& values,
                                      const AttentionOptions& options);

// For looking inside: the map (R, H, keys), exactly the weights of the forward pass before dropout, handed to `look`,
// which may change it; then the output from that map. Equal to `attention` to the bit if nothing is changed; the
// gradient is that of the unchanged map.
[[nodiscard]] Variable attention_with_map(Context& context, const Variable& qkv, const AttentionOptions& options,
                                          const std::function<void(Tensor&)>& look);

}  // namespace dikkat::ops
