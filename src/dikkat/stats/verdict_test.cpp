#include "dikkat/stats/verdict.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dikkat/base/testing.h"

namespace dikkat::stats {
namespace {

using dikkat::testing::error_of;
using ::testing::HasSubstr;

// Student's sleep data (1908).
const std::vector<double> kSleep{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

// Computed by the formula in another program.
TEST(Verdict, OfStudentsSleepData) {
  const Verdict any = verdict(kSleep, {.smallest_difference = 0.1});
  EXPECT_EQ(any.answer, Answer::better);
  EXPECT_NEAR(any.mean, 1.58, 1e-15);
  EXPECT_NEAR(any.deviation, 1.2299954832798732, 1e-14);
  EXPECT_NEAR(any.interval.low, 0.19613971519927742, 1e-12);
  EXPECT_NEAR(any.interval.high, 2.963860284800722, 1e-12);
  EXPECT_EQ(any.won, 9U);
  EXPECT_EQ(any.lost, 0U);
  EXPECT_EQ(any.sign_flip_p, 4.0 / 1024);
  const Verdict once = verdict(kSleep, {.smallest_difference = 0.1, .looks = Looks::once});
  EXPECT_NEAR(once.interval.low, 0.7001142, 5e-8);
}

// Ten differences around `centre` with deviation 1 and no pair equal.
std::vector<double> around(double centre) {
  std::vector<double> differences;
  for (int i = 0; i < 10; ++i) differences.push_back((i - 4.5) / std::sqrt(82.5 / 9) + centre);
  return differences;
}

// T_10 / sqrt(10) = 1.1251: the interval reaches so far to both sides.
TEST(Verdict, FollowsTheTableInItsOrder) {
  const auto answer = [](double centre, double delta) {
    return verdict(around(centre), {.smallest_difference = delta}).answer;
  };
  EXPECT_EQ(answer(0, 1.2), Answer::no_difference);
  EXPECT_EQ(answer(0, 1.1), Answer::undecided);
  EXPECT_EQ(answer(1.2, 0.1), Answer::better);
  EXPECT_EQ(answer(1.2, 2.4), Answer::no_difference);  // better by less than matters
  EXPECT_EQ(answer(1.1, 0.1), Answer::undecided);
  EXPECT_EQ(answer(-1.2, 0.1), Answer::worse);
}

TEST(Verdict, SaysNothingFromNinePairs) {
  const Verdict nine = verdict(std::span(kSleep).first(9), {.smallest_difference = 0.1});
  EXPECT_EQ(nine.answer, Answer::too_few_pairs);
  EXPECT_TRUE(std::isinf(nine.interval.high));
  EXPECT_EQ(verdict({}, {.smallest_difference = 0.1}).answer, Answer::too_few_pairs);
}

TEST(Verdict, SaysNothingFromFiveDifferencesThatAreNotZero) {
  std::vector<double> differences(30, 0.0);
  for (std::size_t i = 0; i < 5; ++i) differences[i] = 1 + 0.1 * static_cast<double>(i);
  EXPECT_EQ(verdict(differences, {.smallest_difference = 0.1}).answer, Answer::too_few_nonzero);
  differences[5] = 1.7;
  EXPECT_NE(verdict(differences, {.smallest_difference = 0.1}).answer, Answer::too_few_nonzero);
}

TEST(Verdict, CallsEqualScoresOneComputation) {
  EXPECT_EQ(verdict(std::vector<double>(12, 0.0), {.smallest_difference = 0.1}).answer, Answer::same_computation);
}

// 0.7 - 0.6 and 0.8 - 0.7 differ by rounding alone.
TEST(Verdict, MakesNothingOfDifferencesWithoutSpread) {
  std::vector<double> differences;
  for (int i = 0; i < 12; ++i) differences.push_back((0.1 * i + 0.1) - 0.1 * i);
  const Verdict v = verdict(differences, {.smallest_difference = 0.01});
  EXPECT_EQ(v.answer, Answer::undecided);
  EXPECT_FALSE(v.spread);
  EXPECT_TRUE(std::isinf(v.interval.low));
  EXPECT_FALSE(v.needed.has_value());
}

// 18, 22, 41 and 14 to 45 by trying N after N in another program.
TEST(Verdict, SaysHowManyPairsWouldDecide) {
  const Verdict v = verdict(around(0), {.smallest_difference = 1});
  ASSERT_EQ(v.answer, Answer::undecided);
  ASSERT_TRUE(v.needed.has_value());
  EXPECT_EQ(v.needed->better, 18U);
  EXPECT_EQ(v.needed->none, 22U);
  EXPECT_EQ(v.needed->sure, 41U);
  EXPECT_EQ(v.needed->none_low, 14U);
  EXPECT_EQ(v.needed->none_high, 45U);
}

TEST(Verdict, SharesTheErrorAmongComparisons) {
  const Verdict one = verdict(around(1.2), {.smallest_difference = 0.1});
  const Verdict of_twenty = verdict(around(1.2), {.smallest_difference = 0.1, .comparisons = 20});
  EXPECT_EQ(one.answer, Answer::better);
  EXPECT_EQ(of_twenty.answer, Answer::undecided);
  EXPECT_NEAR(of_twenty.interval.high - 1.2, 6.34 / std::sqrt(10.0), 0.005 / std::sqrt(10.0));
}

TEST(Verdict, RefusesASmallestDifferenceThatIsNone) {
  for (const double delta : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(error_of([&] { (void)verdict(kSleep, {.smallest_difference = delta}); }).kind(), ErrorKind::usage);
  }
}

TEST(Verdict, RefusesComparisonsThatAreNoneOrTooMany) {
  for (const std::size_t comparisons : {std::size_t{0}, kMostComparisons + 1}) {
    const Error error =
        error_of([&] { (void)verdict(kSleep, {.smallest_difference = 1, .comparisons = comparisons}); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.place().key, "comparisons");
  }
  EXPECT_TRUE(std::isfinite(verdict(kSleep, {.smallest_difference = 1, .comparisons = kMostComparisons}).interval.low));
}

// Degrees 12.7633 and half width 3.5746 by the formulas of Welch (1947) in another program.
TEST(UnpairedVerdict, IsWelchs) {
  const std::vector<double> a{20.4, 24.2, 15.4, 21.4, 20.2, 18.5, 21.5};
  const std::vector<double> b{20.2, 16.9, 18.5, 17.3, 20.5, 25.1, 27.0, 19.1};
  const Verdict v = unpaired_verdict(a, b, {.smallest_difference = 1, .looks = Looks::once});
  EXPECT_NEAR(v.mean, 0.34642857142857153, 1e-12);
  EXPECT_NEAR(v.interval.low, -3.2281984567284434, 1e-9);
  EXPECT_NEAR(v.interval.high, 3.9210555995855865, 1e-9);
  EXPECT_EQ(v.answer, Answer::undecided);
  EXPECT_EQ(v.pairs, 0U);
  EXPECT_EQ(unpaired_verdict(std::span(a).first(5), b, {.smallest_difference = 1, .looks = Looks::once}).answer,
            Answer::too_few_pairs);
  const Error error = error_of([&] { (void)unpaired_verdict(a, b, {.smallest_difference = 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.what(), HasSubstr("one look"));
}

}  // namespace
}  // namespace dikkat::stats
