#include "dikkat/inspect/token_order.h"

#include <algorithm>
#include <span>
#include <vector>

#include "dikkat/kernels/maths.h"
#include "dikkat/stats/correction.h"
#include "dikkat/stats/summary.h"

namespace dikkat::inspect {
namespace {

// n ln n for n = 0, 1, ...
std::vector<double> n_log_n(std::size_t most) {
  std::vector<double> values(most + 1);
  for (std::size_t n = 0; n <= most; ++n) values[n] = static_cast<double>(std::max<std::size_t>(n, 1));
  Pool pool(1);
  kernels::evaluate<double>({.pool = pool}, kernels::Function::logarithm, values.data(), values.data(), most + 1);
  for (std::size_t n = 0; n <= most; ++n) values[n] *= static_cast<double>(n);
  return values;
}

// Sum of n ln n over the numbers n of equal values.
double sum_over_runs(std::vector<std::uint64_t>& values, std::span<const double> table) {
  std::ranges::sort(values);
  double sum = 0;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin;
    while (end < values.size() && values[end] == values[begin]) ++end;
    sum += table[end - begin];
    begin = end;
  }
  return sum;
}

double information_of(const HeadWindows& windows, std::span<const double> table) {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
  std::vector<std::uint64_t> pairs;
  for (std::size_t w = 0; w < windows.count(); ++w) {
    const auto window = windows.text_window(w);
    for (std::size_t i = 1; i < window.size(); ++i) {
      first.push_back(window[i - 1]);
      second.push_back(window[i]);
      pairs.push_back(std::uint64_t{window[i - 1]} << 32U | window[i]);
    }
  }
  if (pairs.empty()) return 0;
  const std::size_t n = pairs.size();
  return (sum_over_runs(pairs, table) + table[n] - sum_over_runs(first, table) - sum_over_runs(second, table)) /
         static_cast<double>(n);
}

}  // namespace

TokenOrder token_order(const HeadWindows& windows, std::size_t draws, std::uint64_t seed) {
  const std::vector<double> table = n_log_n(windows.text.size());
  std::vector<double> of_shuffles;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    of_shuffles.push_back(information_of(shuffled(windows, seed, draw), table));
  }
  const double nats = information_of(windows, table);
  return {.nats = nats, .shuffled_nats = stats::mean(of_shuffles), .p = stats::max_statistic_p(nats, of_shuffles)};
}

}  // namespace dikkat::inspect
