// The decoder-only language model: tokens in, next-token logits out.
//
//   x = tokens' embedding (+ positions), dropout;  x = block(x) for each block;  logits = output(norm(x))
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dikkat/autograd/context.h"
#include "dikkat/models/config.h"
#include "dikkat/nn/parameter.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::models {

class LanguageModel {
 public:
  // Checks the config (Error{usage}). Values are zero until initialised or loaded.
  LanguageModel(const Config& config, DType dtype, nn::ParameterStore::Gradients gradients);
  ~LanguageModel();
  LanguageModel(LanguageModel&&) noexcept;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const nn::ParameterStore& parameters() const { return parameters_; }
  void initialise(const kernels::Executor& executor, std::uint64_t seed) const {
    parameters_.initialise(executor, seed);
  }

  // tokens (R), laid out as context.rows says (training, evaluation: whole samples from position 0) -> logits (R,V).
  // `tokens` must stay valid until backward has run. With context.cache the rows continue the cached positions: one
  // sample, cache.length + R <= config.context; the cache is advanced.
  [[nodiscard]] Variable forward(Context& context, std::span<const text::Token> tokens) const;

 private:
  struct Parts;

  Config config_;
  nn::ParameterStore parameters_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dikkat::models
