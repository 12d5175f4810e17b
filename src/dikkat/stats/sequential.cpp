#include "dikkat/stats/sequential.h"

#include <cmath>
#include <limits>

#include "dikkat/stats/summary.h"

namespace dikkat::stats {
namespace {

constexpr double kKappa = 1.5;

}  // namespace

double critical_value(Looks looks, std::size_t n, double error) {
  const auto count = static_cast<double>(n);
  if (looks == Looks::once) return t_quantile(1 - error / 2, count - 1);
  if (n < kFirstLook) return std::numeric_limits<double>::infinity();
  const double c = std::pow(std::sqrt(1 + count) / (kKappa * error), 2 / count);
  if (c >= 1 + count) return std::numeric_limits<double>::infinity();
  return std::sqrt((count - 1) * (c - 1) / (1 - c / (1 + count)));
}

}  // namespace dikkat::stats
