// Which windows an ablation measures, which serve as its reference, and what is drawn for each: functions of the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dikkat/inspect/ablation.h"

namespace dikkat::inspect {

struct AblationWindows {
  std::vector<std::size_t> measured;    // first tokens, ascending
  std::vector<std::size_t> references;  // in the reference text, or in the same
};

// options.length is set. Without need of references there are none. When the one text holds fewer than asked for, what
// it holds is divided in the ratio asked for. Errors as `ablate`.
[[nodiscard]] AblationWindows ablation_windows(const AblationText& text, const AblationOptions& options);

// The reference window (its number) whose activations stand in for those of measured window `window`.
[[nodiscard]] std::size_t donor_of(std::size_t window, std::size_t references, std::uint64_t seed);
// An order of `length` positions, every one equally likely, drawn for window `window`.
[[nodiscard]] std::vector<std::size_t> position_order(std::size_t window, std::size_t length, std::uint64_t seed);

}  // namespace dikkat::inspect
