#include "dikkat/cli/verdict_view.h"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

namespace dikkat::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Twenty columns from -1 to 3: five of them to a unit.
TEST(DifferencePicture, ShowsCountsZeroAndTheInterval) {
  const std::vector<double> differences{-1, 0.5, 0.5, 3};
  EXPECT_EQ(difference_picture(differences, {0.4, 2.4}, 29),
            "  -1 ▄    │ █           ▄ +3\n"
            "          │ ├────●────┤  \n");
}

TEST(DifferencePicture, IsNothingWhereNothingCanBeDrawn) {
  EXPECT_EQ(difference_picture({}, stats::kEverything, 80), "");
  EXPECT_EQ(difference_picture(std::vector{0.0, 0.0}, stats::kEverything, 80), "");
  EXPECT_EQ(difference_picture(std::vector{1.0, 2.0}, stats::kEverything, 10), "");
  constexpr double kHuge = std::numeric_limits<double>::max();
  EXPECT_EQ(difference_picture(std::vector{-kHuge, kHuge}, stats::kEverything, 80), "");
}

Compared of_differences(std::vector<double> differences, double delta) {
  Compared c{.a = "a.csv", .b = "b.csv", .question = {}, .verdict = {}};
  c.runs_a = c.runs_b = differences.size();
  c.question.smallest_difference = delta;
  c.verdict = stats::verdict(differences, c.question);
  c.differences = std::move(differences);
  return c;
}

// Student's sleep data (1908); his intervals are held in stats/verdict_test.cpp.
const std::vector<double> kSleepGains{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

TEST(VerdictText, BeginsWithTheAnswer) {
  EXPECT_THAT(verdict_text(of_differences(kSleepGains, 0.1), 80),
              StartsWith("better: b.csv is ahead of a.csv by 1.58 on average (95 % interval +0.1961 to\n"
                         "+2.964), at least the 0.1 that matters.\n"));
  EXPECT_THAT(verdict_text(of_differences(kSleepGains, 1), 80), HasSubstr("perhaps by less than the 1 that"));
  EXPECT_THAT(verdict_text(of_differences({1, 2, 3}, 1), 80), StartsWith("too few pairs: 3, and no verdict"));
  EXPECT_THAT(verdict_text(of_differences(std::vector<double>(12, 0.0), 1), 80),
              StartsWith("same computation: all 12"));
}

TEST(VerdictJson, HasNullWhereTheIntervalHasNoEnd) {
  const Json of_three = verdict_json(of_differences({1, 2, 3}, 1));
  EXPECT_EQ(text_of(*of_three.find("interval")), "null");
  EXPECT_EQ(text_of(*of_three.find("verdict")), "\"too few pairs\"");
  const Json better = verdict_json(of_differences(kSleepGains, 0.1));
  EXPECT_EQ(better.find("interval")->items().size(), 2U);
  EXPECT_EQ(text_of(*better.find("pairs")), "10");
  EXPECT_EQ(text_of(*better.find("pairs_needed")), "null");
}

}  // namespace
}  // namespace dikkat::cli
