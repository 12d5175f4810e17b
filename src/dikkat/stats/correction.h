// Several tests at once: what stays significant.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dikkat::stats {

// Holm 1979: adjusted p of each, in the order given, at most 1.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

// The maximum statistic (Westfall & Young 1993; Phipson & Smyth 2010): adjusted p of a value against the maxima of
// `draws` draws of the null: (1 + number of maxima >= value) / (draws + 1).
[[nodiscard]] double max_statistic_p(double value, std::span<const double> maxima);

}  // namespace dikkat::stats
