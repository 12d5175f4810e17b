// What a run will need, worked out before its first step.
#pragma once

#include <cstddef>

#include "dikkat/models/config.h"
#include "dikkat/train/settings.h"

namespace dikkat::train {

// What a run is, apart from its weights.
struct RunSpec {
  models::Config model;
  Settings settings;
  Conduct conduct;
};

struct Estimate {
  std::size_t parameters = 0;
  std::size_t memory_bytes = 0;      // peak
  std::size_t checkpoint_bytes = 0;  // one checkpoint
  double operations_per_step = 0;    // floating-point operations
};

// By count, not by trial; spec.model.vocabulary must be set. tokens: of the text, which is held beside its tokens.
[[nodiscard]] Estimate estimate(const RunSpec& spec, std::size_t tokens);

// Error{limit} when the estimate is above what this machine (memory, cgroup) has.
void require_memory(const Estimate& estimate);

}  // namespace dikkat::train
