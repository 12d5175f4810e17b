// The loss of a whole split at fixed windows that do not overlap. Draws nothing: it cannot disturb training, and its
// result does not depend on how many windows are held at a time.
#pragma once

#include <optional>
#include <span>

#include "dikkat/data/batch.h"
#include "dikkat/models/language_model.h"
#include "dikkat/tensor/arena.h"
#include "dikkat/text/tokenizer.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {

struct Evaluation {
  double loss_nats = 0;                 // mean over the targets; of a number: the mean squared error
  std::size_t targets = 0;              // tokens, or series
  std::optional<double> accuracy = {};  // of classes
};

// Rows held at a time: enough to keep the products busy, little enough to stay below a training step's memory.
inline constexpr std::size_t kEvaluationRows = 512;

class Evaluator {
 public:
  Evaluator(const models::LanguageModel& model, const kernels::Executor& executor)
      : model_(model), executor_(executor) {}

  // nullopt if a stop was asked for. Losses are added window by window in double (tree16 within a window).
  // Error{malformed} for fewer than two tokens.
  [[nodiscard]] std::optional<Evaluation> evaluate(std::span<const text::Token> tokens, const StopRequest& stop);

 private:
  const models::LanguageModel& model_;
  kernels::Executor executor_;
  Arena arena_;
  data::Batch batch_;
};

}  // namespace dikkat::train
