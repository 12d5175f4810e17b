#include "dikkat/cli/interventions.h"

#include <gmock/gmock.h>

#include <array>

#include "dikkat/cli/ablate_view.h"

namespace dikkat::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(MeanTextTest, SaysWhereNothingIsLeftOfFourPlaces) {
  const std::array<double, 3> nothing = {1e-6, 2e-6, 3e-6};
  EXPECT_EQ(mean_text(nothing, Sign::always), "nothing measurable");
  EXPECT_EQ(mean_text(nothing), "0.0000 ± 0.0000");
  const std::array<double, 3> noisy = {-0.1, 0, 0.1};  // 0.1 / sqrt 3 times 4.3027
  EXPECT_EQ(mean_text(noisy, Sign::always), "+0.0000 ± 0.2484");
  inspect::Estimate estimate{.mean = 1e-5, .interval = {.low = 0.5e-5, .high = 1.5e-5}};
  EXPECT_EQ(estimate_text(estimate), "nothing measurable");
  estimate = {.mean = 0.00005, .interval = {.low = 0.00004, .high = 0.00006}};
  EXPECT_EQ(estimate_text(estimate), "+0.0001 ± 0.0000");
}

WindowsText text_of_tokens(std::size_t tokens, bool own) {
  WindowsText text;
  text.corpus.tokens.resize(tokens);
  text.corpus.train_count = tokens * 9 / 10;
  text.source = own ? "the validation part of a text.txt" : "a text.txt";
  text.own = own;
  if (own) text.whole = "a text.txt";
  return text;
}

// Of 1,001 tokens of the run's own, 101 validate: 12 windows of 8, 50 of 2; all of them hold 125 of 8.
TEST(FewWindowsTest, SaysHowToHaveMore) {
  EXPECT_FALSE(few_windows(50, text_of_tokens(1001, true), 8, "--file ").has_value());
  EXPECT_THAT(few_windows(12, text_of_tokens(1001, true), 8, "--file ").value(),
              AllOf(HasSubstr("Only 12 windows: intervals from fewer than 50"), HasSubstr("--length 2 gives 50."),
                    HasSubstr("With --file 'a text.txt' all of the text is measured"), HasSubstr("(125 windows)")));
  EXPECT_THAT(few_windows(12, text_of_tokens(101, false), 8, "--file ").value(),
              AllOf(HasSubstr("--length 2 gives 50."), HasSubstr("A longer text gives more too.")));
  EXPECT_THAT(few_windows(1, text_of_tokens(1001, false), 8, "--file ").value(),
              AllOf(HasSubstr("Only 1 window:"), HasSubstr("The text holds 125: give more --windows.")));
}

TEST(AheadTextTest, CountsPairsAndGuessesTheTime) {
  inspect::AblationOptions options;
  options.pairs = inspect::Pairs::all;
  EXPECT_EQ(ahead_text(12, options, 1000, 24000, 2.0),
            "66 pairs of 12 parts, by 3 substitutes: 24,000 passes over a window, about 46 s to go");
  options.by = {inspect::Substitute::zero};
  EXPECT_EQ(ahead_text(2, options, 0, 300, 2.0), "1 pair of 2 parts, by 1 substitute: 300 passes over a window");
  options.pairs = inspect::Pairs::none;
  EXPECT_EQ(ahead_text(1, options, 0, 300, 2.0), "1 part, by 1 substitute: 300 passes over a window");
}

}  // namespace
}  // namespace dikkat::cli
