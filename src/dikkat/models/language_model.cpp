#include "dikkat/models/language_model.h"

#include <string>

#include "dikkat/base/error.h"
#include "dikkat/models/body.h"
#include "dikkat/nn/kv_cache.h"
#include "dikkat/nn/tap.h"
#include "dikkat/ops/embedding.h"
#include "dikkat/ops/linear.h"

namespace dikkat::models {
namespace {

Config of_text(const Config& config) {
  check(config);
  if (config.task != Task::next_token) {
    throw Error(ErrorKind::usage,
                "task: a model of text learns the next token; got " + std::string(text_of(config.task)),
                {.key = "task", .hint = "give next-token"});
  }
  return config;
}

}  // namespace

struct LanguageModel::Parts {
  nn::Parameter* tokens;  // token_embedding.weight (V,C)
  Body body;
  nn::Parameter* output = nullptr;  // output.weight (C,V); null when tied
  nn::Parameter* output_bias = nullptr;
};

LanguageModel::LanguageModel(const Config& config, DType dtype, nn::ParameterStore::Gradients gradients)
    : config_(of_text(config)) {
  const Deviations deviations = deviations_of(config_);
  const std::size_t v = config_.vocabulary;
  const std::size_t c = config_.width;
  nn::Parameter& tokens = parameters_.add("token_embedding.weight", {v, c}, nn::normal(deviations.input));
  parts_.reset(new Parts{.tokens = &tokens, .body = Body(config_, parameters_, config_.context)});
  if (config_.output == OutputKind::free) {
    parts_->output = &parameters_.add("output.weight", {c, v}, nn::normal(deviations.output));
  } else {
    parameters_.second_use(tokens);
  }
  if (config_.output_bias) parts_->output_bias = &parameters_.add("output.bias", {v}, nn::zeros());
  parameters_.allocate(dtype, gradients);
  parts_->body.prepare(dtype);
}

LanguageModel::~LanguageModel() = default;
LanguageModel::LanguageModel(LanguageModel&&) noexcept = default;

Variable LanguageModel::forward(Context& context, std::span<const text::Token> tokens) const {
  const Parts& p = *parts_;
  const Variable x = p.body.forward(context, ops::embedding(context, p.tokens->use(context), tokens));

  const Variable bias = p.output_bias != nullptr ? p.output_bias->use(context) : Variable{};
  Variable logits = p.output != nullptr ? ops::linear(context, x, p.output->use(context), bias)
                                        : ops::linear_transposed(context, x, p.tokens->use_again(context), bias);
  nn::show(context, "", "logits", logits.value);
  if (context.cache != nullptr) context.cache->length += tokens.size();
  return logits;
}

}  // namespace dikkat::models
