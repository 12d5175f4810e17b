#include "dikkat/stats/summary.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dikkat/base/testing.h"

namespace dikkat::stats {
namespace {

using testing::error_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Mean, OfAHandfulAndOfNothing) {
  EXPECT_EQ(mean(std::vector{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}), 5.0);
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_EQ(mean(std::vector{1.0, kInfinity}), kInfinity);
}

// A plain sum loses both ones beside 1e100.
TEST(Mean, KeepsWhatAPlainSumLoses) { EXPECT_EQ(mean(std::vector{1.0, 1e100, 1.0, -1e100}), 0.5); }

TEST(Deviation, HasDivisorNMinusOne) {
  EXPECT_DOUBLE_EQ(deviation(std::vector{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}), std::sqrt(32.0 / 7.0));
  EXPECT_EQ(deviation(std::vector{3.0, 3.0, 3.0}), 0.0);
  EXPECT_TRUE(std::isnan(deviation(std::vector{3.0})));
}

TEST(Deviation, IsUnhurtByALargeMean) { EXPECT_DOUBLE_EQ(deviation(std::vector{1e9 + 1, 1e9 + 2, 1e9 + 3}), 1.0); }

// One degree: tan(pi (p - 1/2)); two: (2p - 1) / sqrt(2 p (1 - p)).
TEST(TQuantile, IsTheClosedFormForOneAndTwoDegrees) {
  for (const double p : {0.001, 0.05, 0.3, 0.5, 0.8, 0.975, 0.9995}) {
    const double one = std::tan(std::numbers::pi * (p - 0.5));
    const double two = (2 * p - 1) / std::sqrt(2 * p * (1 - p));
    EXPECT_NEAR(t_quantile(p, 1), one, 1e-12 * (1 + std::abs(one))) << p;
    EXPECT_NEAR(t_quantile(p, 2), two, 1e-12 * (1 + std::abs(two))) << p;
  }
}

// Fisher and Yates, table III.
TEST(TQuantile, AgreesWithTheTable) {
  EXPECT_NEAR(t_quantile(0.975, 5), 2.5706, 5e-5);
  EXPECT_NEAR(t_quantile(0.975, 10), 2.2281, 5e-5);
  EXPECT_NEAR(t_quantile(0.995, 10), 3.1693, 5e-5);
  EXPECT_NEAR(t_quantile(0.95, 30), 1.6973, 5e-5);
  EXPECT_NEAR(t_quantile(0.975, 120), 1.9799, 5e-5);
  EXPECT_NEAR(t_quantile(0.025, 49), -2.0096, 5e-5);
}

TEST(NormalQuantile, AgreesWithTheTable) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.01), -2.326347874040841, 1e-13);
  EXPECT_EQ(normal_quantile(0.5), 0.0);
}

// Two degrees: -2 log(1 - p).
TEST(ChiSquaredQuantile, IsTheClosedFormForTwoDegreesAndTheTable) {
  EXPECT_NEAR(chi_squared_quantile(0.9, 2), -2 * std::log(0.1), 1e-12);
  EXPECT_NEAR(chi_squared_quantile(0.1, 9), 4.16816, 5e-6);
  EXPECT_NEAR(chi_squared_quantile(0.9, 9), 14.68366, 5e-6);
}

// One degree: 1/2 at 1. Two: 1 - |t| / sqrt(2 + t^2).
TEST(TTwoSided, IsTheClosedFormAndEvenInT) {
  EXPECT_NEAR(t_two_sided(1, 1), 0.5, 1e-15);
  EXPECT_NEAR(t_two_sided(-3, 2), 1 - 3 / std::sqrt(11.0), 1e-15);
  EXPECT_EQ(t_two_sided(2.5, 7), t_two_sided(-2.5, 7));
  EXPECT_EQ(t_two_sided(0, 7), 1.0);
  EXPECT_EQ(t_two_sided(kInfinity, 7), 0.0);
  EXPECT_TRUE(std::isnan(t_two_sided(std::nan(""), 7)));
}

TEST(TTwoSided, UndoesTheQuantile) {
  for (const double degrees : {1.5, 4.0, 50.0})
    EXPECT_NEAR(t_two_sided(t_quantile(0.99, degrees), degrees), 0.02, 1e-13);
}

// Student's own sleep data (1908): ten differences, 0.70 to 2.46 around 1.58.
TEST(TInterval, OfStudentsSleepData) {
  const std::vector<double> difference{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  const Interval interval = t_interval(difference);
  EXPECT_NEAR(interval.low, 0.7001142, 5e-8);
  EXPECT_NEAR(interval.high, 2.4598858, 5e-8);
  EXPECT_TRUE(interval.holds(1.58));
  EXPECT_FALSE(interval.holds(2.46));
}

TEST(TInterval, IsInfiniteForFewerThanTwo) {
  EXPECT_EQ(t_interval(std::vector{3.0}).low, -kInfinity);
  EXPECT_EQ(t_interval({}).high, kInfinity);
}

// 10 of 100: Wilson 1927 gives 5.52 to 17.44 %. None of 10: 0 to z^2 / (10 + z^2).
TEST(WilsonInterval, AgreesWithKnownValues) {
  const Interval tenth = wilson_interval(10, 100);
  EXPECT_NEAR(tenth.low, 0.0552291, 5e-8);
  EXPECT_NEAR(tenth.high, 0.1743657, 5e-8);
  const double z = 1.959963984540054;
  EXPECT_EQ(wilson_interval(0, 10).low, 0.0);
  EXPECT_NEAR(wilson_interval(0, 10).high, z * z / (10 + z * z), 1e-14);
  EXPECT_EQ(wilson_interval(10, 10).high, 1.0);
  EXPECT_NEAR(wilson_interval(10, 10).low, 10 / (10 + z * z), 1e-14);
}

TEST(WilsonInterval, OfNoTrialsIsEverything) {
  EXPECT_EQ(wilson_interval(0, 0).low, 0.0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1.0);
}

TEST(Quantiles, RefuseWhatIsNoProbability) {
  for (const double p : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    EXPECT_EQ(error_of([&] { (void)t_quantile(p, 3); }).kind(), ErrorKind::internal);
    EXPECT_EQ(error_of([&] { (void)normal_quantile(p); }).kind(), ErrorKind::internal);
    EXPECT_EQ(error_of([&] { (void)t_interval({}, p); }).kind(), ErrorKind::internal);
  }
  EXPECT_EQ(error_of([] { (void)t_quantile(0.5, 0); }).kind(), ErrorKind::internal);
  EXPECT_EQ(error_of([] { (void)wilson_interval(3, 2); }).kind(), ErrorKind::internal);
}

}  // namespace
}  // namespace dikkat::stats
