// What a training will need, found out before its first step.
#pragma once

#include <string>

#include "dikkat/cli/execution.h"
#include "dikkat/train/trainer.h"

namespace dikkat::cli {

struct TrainingPlan {
  train::TrainRequest request;  // the vocabulary filled in
  std::size_t parameters = 0;
  std::size_t tokens = 0;  // of the texts; 0 when resuming
  train::Estimate estimate;
  double seconds = 0;  // for all steps, evaluations aside: from the speed of a matrix product here and now
};

// Reads the texts for their vocabulary and refuses what training would refuse about them. Writes nothing.
[[nodiscard]] TrainingPlan make_plan(const train::TrainRequest& request, const Execution& execution);
[[nodiscard]] std::string plan_text(const TrainingPlan& plan, bool json);

// Time for `steps` steps, evaluations aside, from the speed of a matrix product measured for some 20 ms.
[[nodiscard]] double expected_seconds(const train::RunSpec& spec, const train::Estimate& estimate, std::uint64_t steps,
                                      const kernels::Executor& executor);

}  // namespace dikkat::cli
