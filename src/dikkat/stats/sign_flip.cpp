#include "dikkat/stats/sign_flip.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dikkat/random/streams.h"

namespace dikkat::stats {
namespace {

constexpr std::size_t kMostExact = 20;
constexpr std::size_t kMostDrawn = 2000;
constexpr std::size_t kDraws = 99'999;
constexpr double kTie = 1e-12;  // of the sum of sizes

// Choice after choice differs in one sign (Gray code), and what rounding adds up to stays below a tie.
double exact(const std::vector<double>& sizes, double reach) {
  std::vector<double> signed_size = sizes;
  double sum = 0;
  for (const double size : sizes) sum += size;
  const std::uint64_t choices = std::uint64_t{1} << sizes.size();
  std::uint64_t hits = 0;
  for (std::uint64_t choice = 1;; ++choice) {
    if (std::abs(sum) >= reach) ++hits;
    if (choice == choices) break;
    double& turned = signed_size[static_cast<std::size_t>(std::countr_zero(choice))];
    turned = -turned;
    sum += 2 * turned;
  }
  return static_cast<double>(hits) / static_cast<double>(choices);
}

double drawn(const std::vector<double>& sizes, double reach) {
  constexpr std::size_t kSigns = 32;  // of a draw
  const random::Stream stream = random::stream(0, "sign-flip");
  std::size_t hits = 1;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    double sum = 0;
    for (std::size_t first = 0; first < sizes.size(); first += kSigns) {
      const random::Counter counter{static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(first), 0, 0};
      std::uint64_t signs = random::below(stream, counter, std::uint64_t{1} << kSigns);
      for (std::size_t i = first; i < std::min(sizes.size(), first + kSigns); ++i, signs >>= 1U) {
        sum += (signs & 1U) != 0 ? sizes[i] : -sizes[i];
      }
    }
    if (std::abs(sum) >= reach) ++hits;
  }
  return static_cast<double>(hits) / static_cast<double>(kDraws + 1);
}

}  // namespace

double sign_flip_p(std::span<const double> differences) {
  std::vector<double> sizes;
  double sum = 0;
  double total = 0;
  double squares = 0;
  for (const double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    sum += difference;
    total += sizes.back();
    squares += difference * difference;
  }
  if (sizes.empty()) return 1;
  if (sizes.size() > kMostDrawn) return std::erfc(std::abs(sum) / std::sqrt(2 * squares));
  const double reach = std::abs(sum) - kTie * total;
  return sizes.size() <= kMostExact ? exact(sizes, reach) : drawn(sizes, reach);
}

}  // namespace dikkat::stats
