// What a training will need, found out before its first step.
#pragma once

#include <string>

#include "dikkat/cli/execution.h"
#include "dikkat/train/trainer.h"

namespace dikkat::cli {

struct TrainingPlan {
  train::TrainRequest request;  // the vocabulary filled in
  std::size_t parameters = 0;
  std::size_t tokens = 0;  // of the texts; 0 where a resumed run's cannot be read
  std::string unread;      // why not
  train::Estimate estimate;
  std::uint64_t step = 0;      // where training goes on from
  bool stopped_early = false;  // by --patience; there is nothing left to do
  double seconds = 0;          // for what is left, evaluations aside: from the speed of a matrix product here and now

  [[nodiscard]] std::uint64_t steps_left() const {
    const std::uint64_t steps = request.spec.settings.steps;
    return stopped_early || step >= steps ? 0 : steps - step;
  }
};

// Reads the texts (and, resuming, the run's newest checkpoint) and refuses what training would refuse. Writes nothing
// but warnings about the run.
[[nodiscard]] TrainingPlan make_plan(const train::TrainRequest& request, const Execution& execution);
[[nodiscard]] std::string plan_text(const TrainingPlan& plan, bool json);

// Time for `steps` steps, evaluations aside, from the speed of a matrix product measured for some 30 ms.
[[nodiscard]] double expected_seconds(const train::RunSpec& spec, const train::Estimate& estimate, std::uint64_t steps,
                                      const kernels::Executor& executor);

}  // namespace dikkat::cli
