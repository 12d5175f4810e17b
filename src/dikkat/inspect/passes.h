// Forward passes of a trained model with somebody looking: what every command that looks inside is built on. The bits
// are those of training and evaluation, whatever the number of threads, the neighbours in the batch, and the passes
// before.
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

// Rows to hold at a time (data::Batch, windows): enough to keep the products busy, little enough for any machine.
inline constexpr std::size_t kRowsAtATime = 512;
[[nodiscard]] constexpr std::size_t windows_at_a_time(std::size_t length) {
  return length == 0 || length >= kRowsAtATime ? 1 : kRowsAtATime / length;
}

// Every call refuses samples that are empty or longer than the model's context, and tokens outside its vocabulary
// (Error{incompatible}). What a tap throws comes through; the object can go on.
class Passes {
 public:
  // model outlives it.
  Passes(const models::LanguageModel& model, const kernels::Executor& executor);

  // tokens of one sample (at most the model's context) -> logits (R,V), a clone; `tap` may be null.
  [[nodiscard]] Tensor logits(std::span<const text::Token> tokens, nn::Tap* tap);
  // As `logits`, for who only wants what the tap sees.
  void look(const data::Batch& batch, nn::Tap& tap);
  // Loss of each row, in nats (R), a clone; 0 where there is no target.
  [[nodiscard]] Tensor row_losses(const data::Batch& batch, nn::Tap* tap);
  // Mean loss of each sample of the batch over its targets, in nats, in double from the rows' losses (tree16); NaN for
  // a sample without targets.
  [[nodiscard]] std::vector<double> losses(const data::Batch& batch, nn::Tap* tap);

  [[nodiscard]] const models::LanguageModel& model() const { return model_; }
  [[nodiscard]] const kernels::Executor& executor() const { return executor_; }

 private:
  template <class Use>
  void pass(std::span<const text::Token> tokens, const kernels::Rows& rows, nn::Tap* tap, Use&& use);
  template <class Use>
  void with_losses(const data::Batch& batch, nn::Tap* tap, Use&& use);

  const models::LanguageModel& model_;
  kernels::Executor executor_;
  Arena arena_;
};

}  // namespace dikkat::inspect
