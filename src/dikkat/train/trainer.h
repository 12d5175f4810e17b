// Training: batches, steps, evaluations, checkpoints, until the last step or a reason to stop. Knows nothing of how a
// terminal looks: what happens is told to an Observer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/train/estimate.h"
#include "dikkat/train/evaluator.h"
#include "dikkat/train/settings.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {

// Known before the first step.
struct StartReport {
  RunSpec spec;
  Estimate estimate;
  std::size_t tokens = 0;  // of the text, or steps of all series
  std::uint64_t step = 0;  // where training goes on from; 0 for a new run
};
struct StepReport {
  std::uint64_t step = 0;  // from 1
  double loss_nats = 0;    // before the update
  double gradient_norm = 0;
  double learning_rate = 0;
  double tokens_per_s = 0;
  std::string_view weights_sha256 = {};  // after the update; empty where not hashed
};
struct EvaluationReport {
  std::uint64_t step = 0;
  Evaluation result;
  bool best = false;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const StartReport&) {}
  virtual void on_step(const StepReport&) {}
  virtual void on_evaluation(const EvaluationReport&) {}
  virtual void on_checkpoint(std::uint64_t /*step*/) {}
  virtual void on_sample(std::uint64_t /*step*/, std::string_view /*text*/) {}
  virtual void on_warning(std::string_view) {}
};

enum class Ending : std::uint8_t { finished, early_stop, interrupted };

struct Outcome {
  Ending ending = Ending::finished;
  int signal = 0;  // for interrupted
  std::uint64_t step = 0;
  double loss_nats = 0;
  std::optional<double> validation_loss_nats;
  std::optional<double> validation_accuracy;  // of classes, when this process evaluated last
  std::optional<double> best_validation_loss_nats;
  std::uint64_t best_step = 0;
  std::string weights_sha256;
};

// Trains a new run in folder `run` (which must not exist), or goes on with an existing one exactly where its newest
// good checkpoint stands. The finished weights are the same to the bit either way.
struct TrainRequest {
  std::filesystem::path run;
  RunSpec spec;
  std::vector<std::filesystem::path> files;  // texts ("-": standard input, copied into the run) or a table of series
  bool resume = false;
  bool override_settings = false;  // resume although settings differ
};
// What the data settled in a run (vocabulary, channels, outputs; context where it was left to it), for who asks anew.
void keep_what_data_settled(const models::Config& of_run, models::Config& asked);

[[nodiscard]] Outcome train(const TrainRequest& request, const kernels::Executor& executor, const StopRequest& stop,
                            Observer& observer);

}  // namespace dikkat::train
