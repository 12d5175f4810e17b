// An ablation as people read it and as programs do.
#pragma once

#include <string>

#include "dikkat/base/json.h"
#include "dikkat/inspect/ablation.h"

namespace dikkat::cli {

// "+0.0123 ± 0.0045 **": the difference, half its 95 % interval, * below 0.05 and ** below 0.01 of the corrected p;
// "nothing measurable" where both are zero to four places.
[[nodiscard]] std::string estimate_text(const inspect::Estimate& estimate);
// The parts an effect takes away: "head 0.1 + block 1.mlp", "all of these".
[[nodiscard]] std::string names_of(const inspect::Ablation& ablation, const inspect::Effect& effect);

// What is ahead before a study of pairs, when a part of its passes has taken so many seconds: "66 pairs of 12 parts, by
// 3 substitutes: 23,700 passes over a window, about 4:05 min to go"; without pairs no word of them.
[[nodiscard]] std::string ahead_text(std::size_t parts, const inspect::AblationOptions& options, std::size_t done,
                                     std::size_t passes, double seconds);

// The table of singles and of all together, a column a substitute; then that of pairs with their interactions; then
// what is to be said of parts that were not changed.
[[nodiscard]] std::string ablation_text(const inspect::Ablation& ablation);
[[nodiscard]] Json as_json(const inspect::Ablation& ablation);

}  // namespace dikkat::cli
