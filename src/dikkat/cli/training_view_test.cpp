#include "dikkat/cli/training_view.h"

#include <gmock/gmock.h>

#include "dikkat/base/testing.h"
#include "dikkat/cli/words.h"

namespace dikkat::cli {
namespace {

train::StepReport report_at(std::uint64_t step) {
  train::StepReport report;
  report.step = step;
  report.loss_nats = 2.1;
  report.tokens_per_s = 12345;
  return report;
}

TEST(ProgressLine, SaysWhereTrainingStandsAndWhatIsLeft) {
  // The fields take 10, 30, 13 and 14 columns at most, what stands around the bar 3, and the last column stays
  // free: 71.
  EXPECT_EQ(progress_line(report_at(10), 20, 2.0, 4.0, 79),
            "[####....] step 10/20  loss 2.1000  val 2.0000  12.3k tok/s  4.0 s left");
  EXPECT_EQ(progress_line(report_at(20), 20, std::nullopt, 0, 110),
            "[########################] step 20/20  loss 2.1000  12.3k tok/s");
}

TEST(ProgressLine, TheBarHasOneLengthForAWidthWhateverTheNumbers) {
  const auto bar = [](std::uint64_t step, double loss, double rate, std::optional<double> validation) {
    train::StepReport report = report_at(step);
    report.loss_nats = loss;
    report.tokens_per_s = rate;
    const std::string line = progress_line(report, 2000, validation, 100.0 / static_cast<double>(step), 100);
    return line.find(']');
  };
  for (const std::uint64_t step : {1U, 9U, 10U, 999U, 1999U}) {
    EXPECT_EQ(bar(step, 4.0, 950, std::nullopt), bar(1, 10.5, 123456, 3.0)) << step;
  }
}

TEST(ProgressLine, GivesUpTheBarThenTheRateThenTheValidationLoss) {
  const auto line = [](std::size_t width) { return progress_line(report_at(19), 20, 2.0, 3599, width); };
  EXPECT_EQ(line(75), "[###.] step 19/20  loss 2.1000  val 2.0000  12.3k tok/s  59:59 min left");
  EXPECT_EQ(line(74), "step 19/20  loss 2.1000  val 2.0000  12.3k tok/s  59:59 min left");
  EXPECT_EQ(line(67), "step 19/20  loss 2.1000  val 2.0000  59:59 min left");
  EXPECT_EQ(line(53), "step 19/20  loss 2.1000  59:59 min left");
  EXPECT_EQ(line(40), "19/20  2.1000  59:59 min");
  EXPECT_EQ(line(25), "19/20  2.1000  59:59 min");
}

TEST(SmoothedRate, IsTheMeanOverTheLastSecondOrSo) {
  SmoothedRate rate;
  EXPECT_EQ(rate.per_second(), 0);
  for (int i = 0; i < 100; ++i) rate.add(10, i % 2 == 0 ? 0.01 : 0.03);  // 20 tokens every 0.04 s
  EXPECT_NEAR(rate.per_second(), 500, 10) << "steady where steps are not";
  for (int i = 0; i < 100; ++i) rate.add(10, 0.1);
  EXPECT_NEAR(rate.per_second(), 100, 1) << "after ten seconds nothing is left of what was";
}

TEST(ProgressLine, NeverFillsTheTerminalsWidth) {
  for (std::size_t width = 1; width < 120; ++width) {
    EXPECT_LT(progress_line(report_at(19), 20, 2.0, 3600, width).size(), width) << width;
  }
  EXPECT_EQ(progress_line(report_at(1), 20, 2.0, 1, 0), "");
}

TEST(LossCurve, DrawsHighOnTopAndValidationOverTraining) {
  const LossCurve curve{.first_step = 1, .training = {4.0, 3.0, 2.0, 1.0}, .validation = {{4, 2.0}}};
  EXPECT_EQ(drawn(curve, 60, 4),
            "    4.00 |*\n"
            "         | *\n"
            "         |  *o\n"
            "    1.00 |   *\n"
            "         +----\n"
            "          1  4\n");
}

TEST(LossCurve, AColumnIsTheMeanOfItsSteps) {
  const LossCurve curve{.first_step = 11, .training = {4.0, 2.0, 1.0, 1.0}};
  EXPECT_EQ(drawn(curve, 2, 2),
            "    3.00 |*\n"
            "    1.00 | *\n"
            "         +--\n"
            "          11 14\n");
}

TEST(LossCurve, IsEmptyWhereThereIsNothingToDraw) {
  EXPECT_EQ(drawn({.training = {}}, 60, 8), "");
  EXPECT_EQ(drawn({.training = {1.0}}, 60, 8), "");
  EXPECT_EQ(drawn({.training = {1.0, std::numeric_limits<double>::quiet_NaN()}}, 60, 8), "");
}

TEST(LossCurve, AFlatOneLiesAtTheBottom) {
  EXPECT_EQ(drawn({.training = {2.0, 2.0}}, 60, 2),
            "    2.00 |\n"
            "    2.00 |**\n"
            "         +--\n"
            "          1 2\n");
}

TEST(Words, NumbersAsPeopleReadThem) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(27678), "27,678");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(duration_text(0.44), "0.4 s");
  EXPECT_EQ(duration_text(23.4), "23 s");
  EXPECT_EQ(duration_text(245), "4:05 min");
  EXPECT_EQ(duration_text(9000), "2:30 h");
  EXPECT_EQ(duration_text(-1), "?");
  EXPECT_EQ(about_text(23.4), "about 23 s");
  EXPECT_EQ(about_text(0.01), "less than 0.1 s");
  EXPECT_EQ(rate_text(950), "950");
  EXPECT_EQ(rate_text(12345), "12.3k");
  EXPECT_EQ(rate_text(1.25e6), "1.2M");
}

}  // namespace
}  // namespace dikkat::cli
