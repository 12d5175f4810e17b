// Forward passes of a trained model with somebody looking: what every command that looks inside is built on. The bits are
// those of training and evaluation.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dikkat/data/batch.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/language_model.h"
#include "dikkat/nn/tap.h"
#include "dikkat/tensor/arena.h"

namespace dikkat::inspect {

class Passes {
 public:
  // model outlives it.
  Passes(const models::LanguageModel& model, const kernels::Executor& executor);

  // tokens of one sample (at most the model's context) -> logits (R,V), a clone; `tap` may be null.
  [[nodiscard]] Tensor logits(std::span<const text::Token> tokens, nn::Tap* tap);
  // As `logits`, for who only wants what the tap sees.
  void look(const data::Batch& batch, nn::Tap& tap);
  // Mean loss of each sample of the batch over its targets, in nats, in double from the rows' losses.
  [[nodiscard]] std::vector<double> losses(const data::Batch& batch, nn::Tap* tap);

  [[nodiscard]] const models::LanguageModel& model() const { return model_; }
  [[nodiscard]] const kernels::Executor& executor() const { return executor_; }

 private:
  const models::LanguageModel& model_;
  kernels::Executor executor_;
  Arena arena_;
};

}  // namespace dikkat::inspect
