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
  EXPECT_EQ(progress_line(report_at(10), 20, 2.0, 4.0, 83),
            "[#######.......]  50% step 10/20  loss 2.1000  val 2.0000  12.3k tok/s  4.0 s left");
  EXPECT_EQ(progress_line(report_at(20), 20, std::nullopt, 0, 100),
            "[########################] 100% step 20/20  loss 2.1000  12.3k tok/s");
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
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(std::uint64_t{27} << 20U), "27 MiB");
  EXPECT_EQ(size_text(~std::uint64_t{0}), "16 EiB");
  EXPECT_EQ(duration_text(0.44), "0.4 s");
  EXPECT_EQ(duration_text(23.4), "23 s");
  EXPECT_EQ(duration_text(245), "4:05 min");
  EXPECT_EQ(duration_text(9000), "2:30 h");
  EXPECT_EQ(duration_text(-1), "?");
  EXPECT_EQ(rate_text(950), "950");
  EXPECT_EQ(rate_text(12345), "12.3k");
  EXPECT_EQ(rate_text(1.25e6), "1.2M");
}

}  // namespace
}  // namespace dikkat::cli
