#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/data/series.h"
#include "dikkat/random/shuffle.h"
#include "dikkat/random/streams.h"

namespace dikkat::data {
namespace {

void check_validation_share(double share) {
  if (share >= 0 && share < 1) return;
  throw Error(ErrorKind::usage,
              "the share of validation is " + dikkat::text_of(share) + ", it must be from 0 to below 1",
              {.hint = "use 0.2, for example"});
}

std::size_t how_many(std::size_t count, double share) {
  if (share == 0 || count < 2) return 0;
  const auto rounded = static_cast<std::size_t>(std::floor(share * static_cast<double>(count) + 0.5));
  return std::clamp<std::size_t>(rounded, 1, count - 1);
}

// Appends some of `rows`.
void choose(std::vector<std::size_t> rows, std::size_t wanted, random::Stream stream,
            std::vector<std::size_t>& chosen) {
  random::shuffle_first(std::span(rows), wanted, stream);
  chosen.insert(chosen.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(wanted));
}

}  // namespace

std::vector<std::size_t> validation_rows(std::span<const std::string> labels, double share, std::uint64_t seed) {
  check_validation_share(share);
  std::map<std::string_view, std::vector<std::size_t>> rows_of;
  for (std::size_t row = 0; row < labels.size(); ++row) rows_of[labels[row]].push_back(row);
  std::vector<std::size_t> chosen;
  for (auto& [label, rows] : rows_of) {
    const std::size_t wanted = how_many(rows.size(), share);
    choose(std::move(rows), wanted, random::stream(seed, "validation", label), chosen);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<std::size_t> validation_rows(std::size_t count, double share, std::uint64_t seed) {
  check_validation_share(share);
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::vector<std::size_t> chosen;
  choose(std::move(rows), how_many(count, share), random::stream(seed, "validation"), chosen);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace dikkat::data
