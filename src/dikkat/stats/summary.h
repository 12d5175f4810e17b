// Means, deviations and the intervals that are made of them.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace dikkat::stats {

struct Interval {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool holds(double value) const { return low <= value && value <= high; }
};
// Of a sample that says nothing yet.
inline constexpr Interval kEverything{-std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::infinity()};

// Compensated sums. mean of nothing is NaN; deviation has divisor n - 1 and is NaN for fewer than two.
[[nodiscard]] double mean(std::span<const double> values);
[[nodiscard]] double deviation(std::span<const double> values);

// Quantile of Student's t: P(T <= t) = p, 0 < p < 1, degrees > 0. normal_quantile likewise.
[[nodiscard]] double t_quantile(double p, double degrees);
[[nodiscard]] double normal_quantile(double p);
// Quantile of chi squared: P(X <= x) = p.
[[nodiscard]] double chi_squared_quantile(double p, double degrees);
// P(|T| >= |t|).
[[nodiscard]] double t_two_sided(double t, double degrees);

// mean -+ t(1 - (1 - level)/2, n-1) s / sqrt(n); infinite for fewer than two values.
[[nodiscard]] Interval t_interval(std::span<const double> values, double level = 0.95);
// Wilson's, of a share of successes.
[[nodiscard]] Interval wilson_interval(std::size_t successes, std::size_t trials, double level = 0.95);

}  // namespace dikkat::stats
