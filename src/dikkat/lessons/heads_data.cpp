#include "dikkat/lessons/heads_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "dikkat/lessons/published_generator.h"

namespace dikkat::lessons {
namespace {

constexpr double kRise = 0.30;
constexpr std::uint64_t kShuffleSeeds = 4000;

double mean_of(const std::array<double, kHeadsSteps>& readings, const Region& region) {
  const std::size_t steps = region.last - region.first + 1;
  return compensated_sum(std::span(readings).subspan(region.first, steps)) / static_cast<double>(steps);
}

HeadsSeries drawn(std::uint64_t seed) {
  PublishedGenerator generator(seed);
  generator.next();
  HeadsSeries series{};
  for (std::size_t t = 1; t < kHeadsSteps; ++t) series.readings[t] = rounded_to_thousandths(generator.bell() * 1.9);
  series.label = heads_label(series.readings);
  return series;
}

}  // namespace

double rounded_to_thousandths(double value) {
  std::array<char, 32> text;
  const auto written = std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, 3);
  double rounded = 0;
  std::from_chars(text.begin(), written.ptr, rounded);
  return rounded;
}

double compensated_sum(std::span<const double> values) {
  double sum = 0;
  double lost = 0;
  for (const double x : values) {
    const double next = sum + x;
    lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  return std::isfinite(lost) ? sum + lost : sum;
}

std::int32_t heads_label(const std::array<double, kHeadsSteps>& readings) {
  return mean_of(readings, kHeadsRegions[1]) - mean_of(readings, kHeadsRegions[0]) > kRise ? 1 : 0;
}

std::vector<HeadsSeries> heads_series(std::uint64_t seed) {
  std::vector<HeadsSeries> all;
  for (std::size_t i = 0; i < kHeadsSeries; ++i) all.push_back(drawn(seed + i));
  return all;
}

std::size_t rising(std::span<const HeadsSeries> series) {
  return static_cast<std::size_t>(std::count_if(series.begin(), series.end(), [](auto& s) { return s.label == 1; }));
}

double baseline(std::span<const HeadsSeries> series) {
  const double share = static_cast<double>(rising(series)) / static_cast<double>(series.size());
  return std::max(share, 1 - share);
}

HeadsSeries shuffled(const HeadsSeries& series, std::uint64_t seed, std::size_t i) {
  PublishedGenerator generator(seed + kShuffleSeeds + i);
  HeadsSeries result = series;
  for (std::size_t last = kHeadsSteps - 1; last > 0; --last) {
    const auto other = static_cast<std::size_t>(generator.next() * static_cast<double>(last + 1));
    std::swap(result.readings[last], result.readings[other]);
  }
  return result;
}

std::string python_float(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string heads_csv(std::span<const HeadsSeries> series) {
  std::string text = "label";
  for (std::size_t t = 0; t < kHeadsSteps; ++t) text += fmt::format(",step_{}", t);
  text += "\n";
  for (const HeadsSeries& one : series) {
    text += one.label == 1 ? "rises" : "does not rise";
    for (const double reading : one.readings) text += "," + python_float(reading);
    text += "\n";
  }
  return text;
}

}  // namespace dikkat::lessons
