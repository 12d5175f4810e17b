#include "dikkat/models/body.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dikkat/nn/tap.h"
#include "dikkat/ops/dropout.h"

namespace dikkat::models {
namespace {

nn::PositionOptions position_of(const Config& config, std::size_t positions, double deviation) {
  return {.context = positions,
          .width = config.width,
          .heads = config.heads,
          .head_width = config.head_width_or_default(),
          .rotary_base = config.rotary_base,
          .learned = nn::normal(deviation)};
}

nn::Norm::Options norm_of(const Config& config) {
  std::optional<kernels::Norm> kind;
  if (config.norm == NormKind::layer) kind = kernels::Norm::layer;
  if (config.norm == NormKind::rms) kind = kernels::Norm::rms;
  return {.kind = kind, .epsilon = config.norm_epsilon, .bias = nn::bias_if(config.norm_bias)};
}

nn::Block::Options block_of(const Config& config, const Deviations& deviations) {
  return {.norm = norm_of(config),
          .attention = {.width = config.width,
                        .heads = config.heads,
                        .kv_heads = config.kv_heads_or_default(),
                        .head_width = config.head_width_or_default(),
                        .mask = {.direction = config.direction, .window = config.window},
                        .bias = nn::bias_if(config.attention_bias),
                        .weight_dropout = config.attention_dropout,
                        .projection = nn::normal(deviations.projection),
                        .output = nn::normal(deviations.attention_output)},
          .mlp = {.width = config.width,
                  .inner = config.mlp_width_or_default(),
                  .kind = config.activation,
                  .bias = nn::bias_if(config.mlp_bias),
                  .up = nn::normal(deviations.up),
                  .down = nn::normal(deviations.down)},
          .placement = config.placement,
          .residuals = config.residuals,
          .dropout = config.dropout};
}

}  // namespace

Deviations deviations_of(const Config& config) {
  const double branches = 2.0 * static_cast<double>(std::max<std::size_t>(1, config.layers));  // residual additions
  if (config.init == InitKind::book) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(config.width));
    const double down = 0.5 / std::sqrt(static_cast<double>(config.mlp_width_or_default()) * branches);
    return {0.5, 0.1, scale, scale / std::sqrt(branches), scale, down, 0.1};
  }
  const double residual = 0.02 / std::sqrt(branches);  // Radford et al. 2019, section 2.3
  return {0.02, 0.02, 0.02, residual, 0.02, residual, 0.02};
}

Body::Body(const Config& config, nn::ParameterStore& store, std::size_t positions) : dropout_(config.dropout) {
  const Deviations deviations = deviations_of(config);
  position_ = nn::make_position(config.position, store, position_of(config, positions, deviations.position));
  const nn::Block::Options block = block_of(config, deviations);
  blocks_.reserve(config.layers);
  for (std::size_t l = 0; l < config.layers; ++l) blocks_.emplace_back(store, "blocks." + std::to_string(l), l, block);
  if (config.placement == Placement::pre) final_norm_.emplace(store, "final_norm", config.width, norm_of(config));
}

void Body::prepare(DType dtype) {
  Pool pool(1);
  position_->prepare({pool}, dtype);
}

Variable Body::forward(Context& context, Variable x) const {
  x = position_->add_to_embedding(context, x);
  nn::show(context, "", "embedding", x.value);
  x = ops::dropout(context, x, dropout_, "embedding");
  for (const nn::Block& block : blocks_) x = block.forward(context, *position_, x);
  if (final_norm_) x = final_norm_->forward(context, x);
  nn::show(context, "", "final_norm", x.value);
  return x;
}

}  // namespace dikkat::models
