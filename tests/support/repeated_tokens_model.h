// A small model trained, in the test, on repeated random tokens: nothing can be learned there but to copy what followed
// the earlier occurrence of the present token. Two layers suffice for that, and one does not (Olsson et al. 2022).
#pragma once

#include <cstdint>
#include <vector>

#include "dikkat/inspect/head_windows.h"
#include "dikkat/models/language_model.h"
#include "dikkat/optim/optimizer.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/stepper.h"

namespace dikkat::testing {

// Sample s of step t is the repeated window number t * 2^20 + s: a period of its own, tokens of its own.
class RepeatedTokens final : public train::BatchSource {
 public:
  RepeatedTokens(std::size_t length, std::size_t vocabulary, std::uint64_t seed)
      : length_(length), vocabulary_(vocabulary), seed_(seed) {}

  void fill(std::uint64_t t, std::size_t first, std::size_t count, data::Batch& batch) override {
    batch.inputs.clear();
    batch.targets.clear();
    batch.lengths.assign(count, length_);
    for (std::size_t s = first; s < first + count; ++s) {
      const inspect::RepeatedWindow window = inspect::repeat_random(length_ + 1, vocabulary_, seed_, (t << 20U) + s);
      batch.inputs.insert(batch.inputs.end(), window.tokens.begin(), window.tokens.end() - 1);
      for (std::size_t i = 1; i <= length_; ++i) batch.targets.push_back(static_cast<std::int32_t>(window.tokens[i]));
    }
    batch.rows.lay_out(batch.lengths, length_, first);
  }

 private:
  std::size_t length_;
  std::size_t vocabulary_;
  std::uint64_t seed_;
};

// Some 7 s of one core. The previous-token head stands in layer 0, the induction heads in layer 1; on windows of period
// 16 the second half's loss falls from ln 40 to below 0.01 nats.
struct RepeatedTokensTraining {
  models::Config model = {.vocabulary = 40,
                          .context = 32,
                          .width = 64,
                          .layers = 2,
                          .heads = 4,
                          .mlp_width = 64,
                          .position = models::PositionKind::rotary,
                          .output = models::OutputKind::free,
                          .init = models::InitKind::book};
  train::Settings settings = {.seed = 1,
                              .steps = 2000,
                              .batch = 32,
                              .learning_rate = 3e-3,
                              .final_learning_rate = 3e-4,
                              .warmup = 50,
                              .weight_decay = 0.01};
};

// Returns the mean loss of the last 20 steps; `model` holds the trained weights.
inline double train_on_repeated_tokens(const models::LanguageModel& model, const train::Settings& settings,
                                       const kernels::Executor& executor) {
  model.initialise(executor, settings.seed);
  optim::Optimizer optimizer(model.parameters(), train::optimizer_settings(settings));
  RepeatedTokens source(model.config().context, model.config().vocabulary, settings.seed);
  train::LanguageObjective objective(model, source);
  train::Stepper stepper(objective, optimizer, settings, executor);
  const train::StopRequest never;
  double last = 0;
  for (std::uint64_t t = 1; t <= settings.steps; ++t) {
    const train::Measured measured = stepper.measure(t, never);
    stepper.update(t, measured);
    if (t + 20 > settings.steps) last += measured.loss_nats / 20;
  }
  return last;
}

}  // namespace dikkat::testing
