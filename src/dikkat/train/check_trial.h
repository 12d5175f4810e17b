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

// Seconds that making the model and one pass over a few tokens take at the least, by count: 40 ns a parameter, 10 ns an
// attention weight, and 0.3 us for each pair of blocks, as their tensors are looked through by name.
[[nodiscard]] double least_seconds(const models::Config& model);

// first-loss, time (from steps that were measured), memorise, gradients: see check_model.h. A model too large for the
// time is tried on samples cut short; what still cannot be done is said to be undone. One whose least_seconds alone are
// more than there are is not made at all: a note says so.
[[nodiscard]] Findings tried(const Trial& trial, const kernels::Executor& executor);

}  // namespace dikkat::train
