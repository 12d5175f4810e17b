// Which tokens of a long text are looked at.
#include "dikkat/cli/chosen_text.h"

#include <gmock/gmock.h>

#include "dikkat/base/testing.h"

namespace dikkat::cli {

bool operator==(const TokenWindow& a, const TokenWindow& b) { return a.first == b.first && a.count == b.count; }

namespace {

using dikkat::testing::error_of;
using ::testing::HasSubstr;

TEST(WindowOf, TakesAllThatFits) {
  EXPECT_EQ(window_of(1, 64, {}, Naming::named), (TokenWindow{0, 1}));
  EXPECT_EQ(window_of(64, 64, {}, Naming::named), (TokenWindow{0, 64}));
}

TEST(WindowOf, TheBeginningIsTakenOnlyOfATextThatNobodyNamed) {
  EXPECT_EQ(window_of(1000, 64, {}, Naming::unnamed), (TokenWindow{0, 64}));
  const Error error = error_of([] { (void)window_of(100'000, 64, {}, Naming::named); });
  EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  EXPECT_THAT(error.what(), HasSubstr("the text has 100,000 tokens, the model sees 64 at once"));
  EXPECT_THAT(error.what(), HasSubstr("--last 64, or --from N with --length at most 64"));
}

TEST(WindowOf, TakesWhatIsAskedFor) {
  EXPECT_EQ(window_of(1000, 64, {.from = 100}, Naming::named), (TokenWindow{100, 64}));
  EXPECT_EQ(window_of(1000, 64, {.from = 990}, Naming::named), (TokenWindow{990, 10}));
  EXPECT_EQ(window_of(1000, 64, {.length = 8}, Naming::named), (TokenWindow{0, 8}));
  EXPECT_EQ(window_of(1000, 64, {.from = 5, .length = 8}, Naming::unnamed), (TokenWindow{5, 8}));
  EXPECT_EQ(window_of(1000, 64, {.last = 10}, Naming::named), (TokenWindow{990, 10}));
  EXPECT_EQ(window_of(5, 64, {.last = 10}, Naming::named), (TokenWindow{0, 5}));
}

TEST(WindowOf, RefusesWhatIsBeyondTheTextOrTheModel) {
  const auto refusal = [](std::size_t total, const WindowWish& wish) {
    return error_of([&] { (void)window_of(total, 64, wish, Naming::unnamed); });
  };
  EXPECT_THAT(refusal(100, {.from = 100}).what(), HasSubstr("give --from at most 99"));
  EXPECT_THAT(refusal(100, {.length = 65}).what(), HasSubstr("give --length at most 64"));
  EXPECT_THAT(refusal(100, {.last = 65}).what(), HasSubstr("give --last at most 64"));
  EXPECT_EQ(refusal(100, {.last = 0}).kind(), ErrorKind::usage);
  EXPECT_EQ(refusal(100, {.length = 0}).kind(), ErrorKind::usage);
  EXPECT_THAT(refusal(100, {.length = 0}).what(), HasSubstr("give --length at least 1"));
  EXPECT_THAT(refusal(100, {.last = 0}).what(), HasSubstr("give --last at least 1"));
  EXPECT_THAT(refusal(100, {.from = 1, .last = 4}).what(), HasSubstr("--last stands for itself"));
}

TEST(ChosenText, SaysWhereItIs) {
  EXPECT_EQ((ChosenText{.tokens = {1, 2}, .total = 2, .source = "--text"}).where(), "2 tokens of --text");
  EXPECT_EQ((ChosenText{.tokens = {1}, .total = 1, .source = "--text"}).where(), "1 token of --text");
  EXPECT_EQ((ChosenText{.tokens = {1, 2}, .first = 1000, .total = 5000, .source = "a\nb"}).where(),
            "tokens 1,000 to 1,001 of the 5,000 of a\\nb");
}

}  // namespace
}  // namespace dikkat::cli
