// The data of the lesson on heads: 720 made-up series of 12 readings, and the question whether they rise.
//
// Series i: generator of seed + i, its first draw thrown away; step 0 is 0; steps 1-11 are (u + u + u - 1.5) * 1.9
// rounded to three decimals. Label 1 iff mean(steps 7-11) - mean(steps 1-5) > 0.30; step 6 belongs to neither region.
// The first 200 train, the last 180 are held out, the 340 between are not used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dikkat::lessons {

inline constexpr std::size_t kHeadsSteps = 12;
inline constexpr std::size_t kHeadsSeries = 720;
inline constexpr std::size_t kHeadsTraining = 200;
inline constexpr std::size_t kHeadsHeldOut = 180;
inline constexpr std::size_t kHeadsFirstHeldOut = kHeadsSeries - kHeadsHeldOut;

// Steps of the two regions that the label compares, both ends belonging to them.
struct Region {
  std::size_t first, last;
};
inline constexpr std::array<Region, 2> kHeadsRegions = {{{1, 5}, {7, 11}}};

struct HeadsSeries {
  std::array<double, kHeadsSteps> readings;
  std::int32_t label;  // 1: it rises
};
[[nodiscard]] std::int32_t heads_label(const std::array<double, kHeadsSteps>& readings);
[[nodiscard]] std::vector<HeadsSeries> heads_series(std::uint64_t seed);

[[nodiscard]] std::size_t rising(std::span<const HeadsSeries> series);
// Share of the more frequent label.
[[nodiscard]] double baseline(std::span<const HeadsSeries> series);

// The readings of held-out series number i in the order of the document's order test: Fisher-Yates from the end,
// generator of seed + 4000 + i.
[[nodiscard]] HeadsSeries shuffled(const HeadsSeries& series, std::uint64_t seed, std::size_t i);

// Series as CSV: a header, then one row a series, its label first.
[[nodiscard]] std::string heads_csv(std::span<const HeadsSeries> series);

// As Python prints a float: the shortest decimals that read back, with a point.
[[nodiscard]] std::string python_float(double value);
// The nearest decimal of three places, ties to even.
[[nodiscard]] double rounded_to_thousandths(double value);
// Python's sum of floats, from version 3.12 on: compensated by Neumaier's method.
[[nodiscard]] double compensated_sum(std::span<const double> values);

}  // namespace dikkat::lessons
