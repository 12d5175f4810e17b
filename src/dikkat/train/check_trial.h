// Trying a model of one set of settings within a time limit.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "dikkat/train/check_finding.h"
#include "dikkat/train/check_probe.h"
#include "dikkat/train/estimate.h"

namespace dikkat::train {

struct Trial {
  RunSpec spec;                  // with all that the data settles
  double sample_tokens = 1;      // mean length of a sample
  double validation_tokens = 0;  // of one evaluation
  double seconds = 5;            // for all of it
  std::function<std::unique_ptr<Probe>(const ProbeOptions& options)> probe;
};

// first-loss, time (from steps that were measured), memorise, gradients: see check_model.h. A model too large for the
// time is tried on samples cut short; what still cannot be done is said to be undone.
[[nodiscard]] Findings tried(const Trial& trial, const kernels::Executor& executor);

}  // namespace dikkat::train
