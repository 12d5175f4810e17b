// A verdict as people and programs read it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dikkat/base/json.h"
#include "dikkat/stats/verdict.h"

namespace dikkat::cli {

// What was compared: b against a.
struct Compared {
  std::string a, b;                      // their names
  std::size_t runs_a = 0, runs_b = 0;    // in their files
  double mean_a = 0, mean_b = 0;         // of the scores compared, as they stand in the files
  std::vector<double> differences = {};  // of the pairs, turned so that more is better for b
  bool paired = true;
  bool lower_is_better = false;
  stats::Question question;
  stats::Verdict verdict;
};

// The answer first, in one sentence; then the numbers, and where there are pairs a picture of them, within `columns`.
[[nodiscard]] std::string verdict_text(const Compared& compared, std::size_t columns);
[[nodiscard]] Json verdict_json(const Compared& compared);

// The differences as a histogram over an axis that shows 0, and under it the interval, where there is one:
//   -0.1583  ▂   ▂▄▂│█▂▆▄ ▂  ▂        +0.2111
//                   │├────●────┤
[[nodiscard]] std::string difference_picture(std::span<const double> differences, const stats::Interval& interval,
                                             std::size_t columns);

}  // namespace dikkat::cli
