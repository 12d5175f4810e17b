// The whole of `check`: everything that can be known about a training before its first step.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/train/check_finding.h"
#include "dikkat/train/estimate.h"

namespace dikkat::train {

struct CheckOptions {
  double seconds = 5;  // for trying the model
  // Told of what has been found so far, once, before the model is tried: trying takes its time.
  std::function<void(const Findings&)> before_trial = {};
};

// Of what training would take: texts, or one table of series where spec.model.task is classify or regress. The data
// (see check_text.h, check_series.h), then memory (by count), then the model itself (check_trial.h). A trouble after
// which there is nothing to try ends it. Error{usage} for what is wrong with the call rather than with the data.
[[nodiscard]] Findings check_training(const RunSpec& spec, const std::vector<std::filesystem::path>& files,
                                      const kernels::Executor& executor, const CheckOptions& options);

}  // namespace dikkat::train
