// The whole of `check`: everything that is known about a training before its first step.
#pragma once

#include <filesystem>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/train/check_finding.h"
#include "dikkat/train/estimate.h"

namespace dikkat::train {

struct CheckOptions {
  double seconds = 5;  // for trying the model
};

// Of texts and settings (spec.model.vocabulary is set from the texts): see check_text.h and check_model.h, and besides
//   memory   what training and its checkpoints will need
//   time     how long it will take, by steps that were measured
// What cannot be looked at because of a trouble found before is left out. Error{usage} for standard input twice.
[[nodiscard]] Findings check_text_training(RunSpec spec, const std::vector<std::filesystem::path>& texts,
                                           const kernels::Executor& executor, const CheckOptions& options);

}  // namespace dikkat::train
