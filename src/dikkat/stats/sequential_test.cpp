// The table of the simulations that chose 1.5, and that looking again and again stays within the error.
#include "dikkat/stats/sequential.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "dikkat/random/streams.h"
#include "dikkat/stats/summary.h"

namespace dikkat::stats {
namespace {

TEST(CriticalValue, IsTheTableToTwoPlaces) {
  constexpr std::array<std::size_t, 7> kPairs = {10, 12, 16, 20, 30, 60, 1000};
  constexpr std::array<std::pair<std::size_t, std::array<double, 7>>, 4> kTable = {{
      {1, {3.56, 3.42, 3.29, 3.23, 3.17, 3.17, 3.49}},
      {2, {4.10, 3.88, 3.66, 3.56, 3.47, 3.42, 3.68}},
      {5, {4.89, 4.51, 4.16, 4.00, 3.84, 3.74, 3.93}},
      {20, {6.34, 5.57, 4.94, 4.67, 4.38, 4.18, 4.27}},
  }};
  for (const auto& [arms, row] : kTable) {
    for (std::size_t i = 0; i < kPairs.size(); ++i) {
      EXPECT_NEAR(critical_value(Looks::any, kPairs[i], 0.05 / static_cast<double>(arms)), row[i], 0.005)
          << arms << " arms, " << kPairs[i] << " pairs";
    }
  }
}

TEST(CriticalValue, OfOneLookIsStudents) {
  EXPECT_NEAR(critical_value(Looks::once, 12, 0.05), 2.2010, 5e-5);
  EXPECT_NEAR(critical_value(Looks::once, 11, 0.01), 3.1693, 5e-5);
}

TEST(CriticalValue, IsInfiniteBeforeTheFirstLookAndWhereTenPairsCannotSpeak) {
  EXPECT_TRUE(std::isinf(critical_value(Looks::any, 9, 0.05)));
  EXPECT_TRUE(std::isfinite(critical_value(Looks::any, 10, 0.05)));
  EXPECT_TRUE(std::isinf(critical_value(Looks::any, 10, 1e-6)));
  EXPECT_TRUE(std::isfinite(critical_value(Looks::any, 30, 1e-6)));
}

// Two normal numbers of a counter (Box, Muller 1958).
std::array<double, 2> normals(random::Stream stream, std::uint32_t path, std::uint32_t pair) {
  const double radius = std::sqrt(-2 * std::log1p(-random::uniform(stream, {path, pair, 0, 0})));
  const double angle = 2 * std::numbers::pi * random::uniform(stream, {path, pair, 1, 0});
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// Of 20,000 studies of identical arms, how many ever leave the truth out, looked at after every pair from 10 to 60.
double ever_wrong(Looks looks) {
  constexpr std::uint32_t kStudies = 20'000;
  constexpr std::size_t kPairs = 60;
  std::array<double, kPairs + 1> critical{};
  for (std::size_t n = kFirstLook; n <= kPairs; ++n) critical[n] = critical_value(looks, n, 0.05);
  const random::Stream stream = random::stream(5, "studies");
  std::size_t wrong = 0;
  for (std::uint32_t study = 0; study < kStudies; ++study) {
    double sum = 0, squares = 0;
    for (std::size_t n = 1; n <= kPairs; ++n) {
      const double d = normals(stream, study, static_cast<std::uint32_t>((n - 1) / 2))[(n - 1) % 2];
      sum += d;
      squares += d * d;
      if (n < kFirstLook) continue;
      const auto count = static_cast<double>(n);
      const double s = std::sqrt((squares - sum * sum / count) / (count - 1));
      if (std::abs(sum / count) > critical[n] * s / std::sqrt(count)) {
        ++wrong;
        break;
      }
    }
  }
  return static_cast<double>(wrong) / kStudies;
}

// 2.9 % in 400,000 paths; three standard errors of 20,000 are 0.36 points.
TEST(CriticalValue, KeepsTheErrorHoweverOftenOneLooks) { EXPECT_NEAR(ever_wrong(Looks::any), 0.029, 0.004); }

// And the plain t does not: that is what the other is for.
TEST(CriticalValue, OfOneLookIsBrokenByLookingOn) { EXPECT_GT(ever_wrong(Looks::once), 0.15); }

}  // namespace
}  // namespace dikkat::stats
