#include "dikkat/stats/correction.h"

#include <cmath>

#include "dikkat/base/testing.h"

namespace dikkat::stats {
namespace {

using testing::error_of;

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-15) << i;
}

// In order 0.005 x 4, 0.01 x 3, 0.03 x 2, then 0.04 x 1, which may not fall below 0.06.
TEST(Holm, StepsDownAndNeverFalls) {
  expect_near(holm(std::vector{0.01, 0.04, 0.03, 0.005}), {0.03, 0.06, 0.06, 0.02});
}

TEST(Holm, StopsAtOneAndTreatsTiesAlike) {
  expect_near(holm(std::vector{0.5, 0.5, 0.9}), {1, 1, 1});
  expect_near(holm(std::vector{0.02, 0.02}), {0.04, 0.04});
  expect_near(holm(std::vector{0.2}), {0.2});
  EXPECT_TRUE(holm({}).empty());
}

TEST(Holm, RefusesWhatIsNoProbability) {
  EXPECT_EQ(error_of([] { (void)holm(std::vector{0.1, 1.5}); }).kind(), ErrorKind::internal);
  EXPECT_EQ(error_of([] { (void)holm(std::vector{std::nan("")}); }).kind(), ErrorKind::internal);
}

TEST(MaxStatistic, CountsMaximaThatAreAsLarge) {
  const std::vector<double> maxima{1, 2, 3, 4};
  EXPECT_EQ(max_statistic_p(5, maxima), 1.0 / 5);  // never 0
  EXPECT_EQ(max_statistic_p(4, maxima), 2.0 / 5);  // a tie speaks against
  EXPECT_EQ(max_statistic_p(2.5, maxima), 3.0 / 5);
  EXPECT_EQ(max_statistic_p(0, maxima), 1.0);
  EXPECT_EQ(max_statistic_p(0, {}), 1.0);
}

TEST(MaxStatistic, WhatIsNoNumberIsNeverSignificant) {
  EXPECT_EQ(max_statistic_p(std::nan(""), std::vector{1.0, 2.0}), 1.0);
  EXPECT_EQ(max_statistic_p(5, std::vector{1.0, std::nan("")}), 2.0 / 3);
}

}  // namespace
}  // namespace dikkat::stats
