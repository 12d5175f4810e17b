#include "dikkat/stats/summary.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "dikkat/base/error.h"

namespace dikkat::stats {
namespace {

// Plain double throughout: long double is another number on another machine.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, Policy>;
using ChiSquared = boost::math::chi_squared_distribution<double, Policy>;
using Normal = boost::math::normal_distribution<double, Policy>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Neumaier 1974: the rounding errors of the sum are added up beside it.
class CompensatedSum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

void require_probability(double p, const char* what) {
  if (p > 0 && p < 1) return;
  throw Error(ErrorKind::internal, std::string(what) + " must lie between 0 and 1, not at " + std::to_string(p));
}

void require_degrees(double degrees) {
  if (degrees > 0) return;
  throw Error(ErrorKind::internal, "degrees of freedom must be positive, not " + std::to_string(degrees));
}

double two_sided_tail(double level) {
  require_probability(level, "the level of an interval");
  return 1 - (1 - level) / 2;
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return kNan;
  CompensatedSum sum;
  for (const double value : values) sum.add(value);
  return sum.value() / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return kNan;
  const double centre = mean(values);
  CompensatedSum squares;
  for (const double value : values) squares.add((value - centre) * (value - centre));
  return std::sqrt(squares.value() / static_cast<double>(values.size() - 1));
}

double t_quantile(double p, double degrees) {
  require_probability(p, "the probability of a quantile");
  require_degrees(degrees);
  return quantile(StudentsT(degrees), p);
}

double normal_quantile(double p) {
  require_probability(p, "the probability of a quantile");
  return quantile(Normal(), p);
}

double chi_squared_quantile(double p, double degrees) {
  require_probability(p, "the probability of a quantile");
  require_degrees(degrees);
  return quantile(ChiSquared(degrees), p);
}

double t_two_sided(double t, double degrees) {
  require_degrees(degrees);
  if (std::isnan(t)) return kNan;
  return std::min(1.0, 2 * cdf(complement(StudentsT(degrees), std::abs(t))));
}

Interval t_interval(std::span<const double> values, double level) {
  const double tail = two_sided_tail(level);
  if (values.size() < 2) return kEverything;
  const auto n = static_cast<double>(values.size());
  const double half = t_quantile(tail, n - 1) * deviation(values) / std::sqrt(n);
  const double centre = mean(values);
  return {centre - half, centre + half};
}

Interval wilson_interval(std::size_t successes, std::size_t trials, double level) {
  if (successes > trials) {
    throw Error(ErrorKind::internal, std::to_string(successes) + " successes in " + std::to_string(trials) + " trials");
  }
  const double z = normal_quantile(two_sided_tail(level));
  if (trials == 0) return {0, 1};
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double shrink = 1 + z * z / n;
  const double centre = (share + z * z / (2 * n)) / shrink;
  const double half = z / shrink * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {successes == 0 ? 0 : centre - half, successes == trials ? 1 : centre + half};
}

}  // namespace dikkat::stats
