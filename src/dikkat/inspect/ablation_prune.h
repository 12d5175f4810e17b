// Taking parts of a model away for good: the weights that carry them become zero, and the model computes, to the bit,
// what ablation by zero measures. Its shape stays.
//
//   head        its rows of attention.output.weight; and, once no head is left that shares them, its columns of values
//   in
//               attention.qkv
//   attention   all of attention.output, and the columns of values
//   mlp         all of mlp.down and mlp.up
//   positions   position_embedding.weight (learned positions only)
//
// Training on leaves a part at zero where both sides of it are: neither has a gradient, and weight decay of zero is
// zero. What can grow again is said in `Pruned::grows`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dikkat/inspect/intervention_parts.h"
#include "dikkat/models/language_model.h"

namespace dikkat::inspect {

struct Pruned {
  std::size_t weights = 0;         // numbers that are zero now and were not
  std::vector<std::string> grows;  // what training can bring back, and why: one line each
};

// Error{usage} for parts that no weights carry.
void require_prunable(const models::Config& config, const std::vector<Part>& parts);

// Sets the weights of `model`. Error{usage} for parts that no weights carry (residual connections, activations,
// positions that are not learned); nothing is changed then.
[[nodiscard]] Pruned prune(const models::LanguageModel& model, const std::vector<Part>& parts);

}  // namespace dikkat::inspect
