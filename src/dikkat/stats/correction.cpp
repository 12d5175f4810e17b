#include "dikkat/stats/correction.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "dikkat/base/error.h"

namespace dikkat::stats {

std::vector<double> holm(std::span<const double> p) {
  for (const double value : p) {
    if (!(value >= 0 && value <= 1)) {
      throw Error(ErrorKind::internal, "a p-value of " + std::to_string(value) + " cannot be adjusted");
    }
  }
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;  // no p may fall below that of a smaller one
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

double max_statistic_p(double value, std::span<const double> maxima) {
  // Whatever cannot be compared counts against the value.
  const auto as_large = std::count_if(maxima.begin(), maxima.end(), [&](double m) { return !(m < value); });
  return static_cast<double>(as_large + 1) / static_cast<double>(maxima.size() + 1);
}

}  // namespace dikkat::stats
