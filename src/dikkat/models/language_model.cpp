#include "dikkat/models/language_model.h"

#include <cmath>
#include <optional>

#include "dikkat/autograd/tape.h"
#include "dikkat/base/error.h"
#include "dikkat/nn/kv_cache.h"
#include "dikkat/nn/tap.h"
#include "dikkat/ops/dropout.h"
#include "dikkat/ops/embedding.h"
#include "dikkat/ops/linear.h"

namespace dikkat::models {
namespace {

// Deviations of the initial weights, by scheme (InitKind).
struct Deviations {
  double token, position, projection, attention_output, up, down, output;
};

Deviations deviations_of(const Config& config) {
  const double branches = 2.0 * static_cast<double>(config.layers);  // residual additions
  if (config.init == InitKind::book) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(config.width));
    const double down = 0.5 / std::sqrt(static_cast<double>(config.mlp_width_or_default()) * branches);
    return {0.5, 0.1, scale, scale / std::sqrt(branches), scale, down, 0.1};
  }
  const double residual = 0.02 / std::sqrt(branches);  // Radford et al. 2019, section 2.3
  return {0.02, 0.02, 0.02, residual, 0.02, residual, 0.02};
}

nn::PositionOptions position_of(const Config& config, double deviation) {
  return {.context = config.context,
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

Config checked(const Config& config) {
  check(config);
  return config;
}

}  // namespace

struct LanguageModel::Parts {
  nn::Parameter* tokens;  // token_embedding.weight (V,C)
  std::unique_ptr<nn::Position> position;
  std::vector<nn::Block> blocks;
  std::optional<nn::Norm> final_norm;  // pre-norm only: post-norm blocks end with theirs
  nn::Parameter* output = nullptr;     // output.weight (C,V); null when tied
  nn::Parameter* output_bias = nullptr;
};

LanguageModel::LanguageModel(const Config& config, DType dtype, nn::ParameterStore::Gradients gradients)
    : config_(checked(config)), parts_(std::make_unique<Parts>()) {
  const Deviations deviations = deviations_of(config_);
  const std::size_t v = config_.vocabulary;
  const std::size_t c = config_.width;
  parts_->tokens = &parameters_.add("token_embedding.weight", {v, c}, nn::normal(deviations.token));
  parts_->position = nn::make_position(config_.position, parameters_, position_of(config_, deviations.position));
  const nn::Block::Options block = block_of(config_, deviations);
  parts_->blocks.reserve(config_.layers);
  for (std::size_t l = 0; l < config_.layers; ++l) {
    parts_->blocks.emplace_back(parameters_, "blocks." + std::to_string(l), l, block);
  }
  if (config_.placement == Placement::pre) parts_->final_norm.emplace(parameters_, "final_norm", c, norm_of(config_));
  if (config_.output == OutputKind::free) {
    parts_->output = &parameters_.add("output.weight", {c, v}, nn::normal(deviations.output));
  } else {
    parameters_.second_use(*parts_->tokens);
  }
  if (config_.output_bias) parts_->output_bias = &parameters_.add("output.bias", {v}, nn::zeros());
  parameters_.allocate(dtype, gradients);
  Pool pool(1);
  parts_->position->prepare({pool}, dtype);
}

LanguageModel::~LanguageModel() = default;
LanguageModel::LanguageModel(LanguageModel&&) noexcept = default;

Variable LanguageModel::forward(Context& context, std::span<const text::Token> tokens) const {
  const Parts& p = *parts_;
  Variable x = ops::embedding(context, p.tokens->use(context), tokens);
  x = p.position->add_to_embedding(context, x);
  nn::show(context, "", "embedding", x.value);
  x = ops::dropout(context, x, config_.dropout, "embedding");
  for (const nn::Block& block : p.blocks) x = block.forward(context, *p.position, x);
  if (p.final_norm) x = p.final_norm->forward(context, x);
  nn::show(context, "", "final_norm", x.value);

  const Variable bias = p.output_bias != nullptr ? p.output_bias->use(context) : Variable{};
  Variable logits = p.output != nullptr ? ops::linear(context, x, p.output->use(context), bias)
                                        : ops::linear_transposed(context, x, p.tokens->use_again(context), bias);
  nn::show(context, "", "logits", logits.value);
  if (context.cache != nullptr) context.cache->length += tokens.size();
  return logits;
}

}  // namespace dikkat::models
