// An ablation as people read it and as programs do.
#pragma once

#include <string>

#include "dikkat/base/json.h"
#include "dikkat/inspect/ablation.h"

namespace dikkat::cli {

// "+0.0123 ± 0.0045 **": the difference, half its 95 % interval, * below 0.05 and ** below 0.01 of the corrected p.
[[nodiscard]] std::string estimate_text(const inspect::Estimate& estimate);
// The parts an effect takes away: "head 0.1 + mlp 1", "all of these".
[[nodiscard]] std::string names_of(const inspect::Ablation& ablation, const inspect::Effect& effect);

// The table of singles and of all together, a column a substitute; then that of pairs with their interactions; then
// what is to be said of parts that were not changed.
[[nodiscard]] std::string ablation_text(const inspect::Ablation& ablation);
[[nodiscard]] Json as_json(const inspect::Ablation& ablation);

}  // namespace dikkat::cli
