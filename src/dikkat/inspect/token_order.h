// Whether the order of a text's tokens tells anything: a test before shuffles of it are taken for chance.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/inspect/head_windows.h"

namespace dikkat::inspect {

// Mutual information of neighbours within windows, in nats: sum over pairs (a, b) of
//   n_ab / n * ln(n_ab n / (n_a. n_.b)),
// against the same of `draws` shuffles of all windows' tokens; p = (1 + #{shuffles with as much}) / (draws + 1).
struct TokenOrder {
  double nats = 0;
  double shuffled_nats = 0;  // mean of the shuffles
  double p = 1;
};
[[nodiscard]] TokenOrder token_order(const HeadWindows& windows, std::size_t draws, std::uint64_t seed);

}  // namespace dikkat::inspect
