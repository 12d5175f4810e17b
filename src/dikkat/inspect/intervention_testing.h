// What tests of interventions share: small models of every kind, texts for them, and weights made zero by hand.
#pragma once

#include <string>
#include <vector>

#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"
#include "dikkat/nn/parameter.h"

namespace dikkat::inspect::testing {

// `count` tokens that follow no rule.
inline std::vector<text::Token> random_text(const models::Config& config, std::size_t count, std::uint64_t seed = 5) {
  const random::Stream stream = random::stream(seed, "test text");
  std::vector<text::Token> tokens;
  for (std::uint32_t t = 0; t < count; ++t) {
    tokens.push_back(static_cast<text::Token>(random::below(stream, {t, 0, 0, 0}, config.vocabulary)));
  }
  return tokens;
}

// A model with values of spread, and its twin whose weights a test changes.
struct Twins {
  explicit Twins(const models::Config& config)
      : model(config, DType::f32, nn::ParameterStore::Gradients::none),
        twin(config, DType::f32, nn::ParameterStore::Gradients::none) {
    models::testing::spread(model, executor, 2);
    copy(model, twin);
  }

  static void copy(const models::LanguageModel& from, const models::LanguageModel& to) {
    for (const nn::Parameter* parameter : to.parameters().in_path_order()) {
      parameter->value().assign(from.parameters().find(parameter->path())->value());
    }
  }
  // Rows [begin, end) of a twin's matrix, or all of a parameter (end 0), become zero; one that is not there is none.
  void zero(const std::string& path, std::size_t begin = 0, std::size_t end = 0) const {
    const nn::Parameter* parameter = twin.parameters().find(path);
    if (parameter == nullptr) return;
    (end == 0 ? parameter->value() : parameter->value().slice(0, begin, end)).fill(0);
  }

  Pool pool{1};
  kernels::Executor executor{pool};
  models::LanguageModel model;
  models::LanguageModel twin;
};

}  // namespace dikkat::inspect::testing
