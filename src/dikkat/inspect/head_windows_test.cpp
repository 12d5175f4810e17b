#include "dikkat/inspect/head_windows.h"

#include <algorithm>
#include <map>
#include <set>

#include "dikkat/base/testing.h"

namespace dikkat::inspect {
namespace {

std::vector<text::Token> counting(std::size_t count) {
  std::vector<text::Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<text::Token>(i);
  return tokens;
}

TEST(RepeatRandom, RepeatsABlockOfDistinctTokens) {
  std::set<std::size_t> periods;
  for (std::uint64_t w = 0; w < 200; ++w) {
    const RepeatedWindow window = repeat_random(21, 65, 3, w);
    ASSERT_EQ(window.tokens.size(), 21U);
    periods.insert(window.period);
    const auto block = window.tokens.begin() + static_cast<std::ptrdiff_t>(window.period);
    EXPECT_EQ(std::set<text::Token>(window.tokens.begin(), block).size(), window.period);
    EXPECT_LT(*std::max_element(window.tokens.begin(), window.tokens.end()), 65U);
    for (std::size_t i = window.period; i < 21; ++i) EXPECT_EQ(window.tokens[i], window.tokens[i - window.period]);
  }
  EXPECT_EQ(periods, (std::set<std::size_t>{5, 6, 7, 8, 9, 10}));  // from half of 10 to 21 / 2
}

TEST(RepeatRandom, TakesEveryTokenAlikeOften) {
  std::map<text::Token, int> first;
  for (std::uint64_t w = 0; w < 4000; ++w) ++first[repeat_random(8, 4, 1, w).tokens[0]];
  for (const auto& [token, count] : first) EXPECT_NEAR(count, 1000, 4 * 27.4) << token;  // 4 deviations
}

TEST(RepeatRandom, IsShorterForASmallVocabularyAndNoneForATinyOne) {
  for (std::uint64_t w = 0; w < 20; ++w) EXPECT_LE(repeat_random(64, 5, 1, w).period, 5U);
  EXPECT_EQ(repeat_random(64, 2, 1, 0).period, 0U);
  EXPECT_EQ(repeat_random(5, 65, 1, 0).period, 0U);
  EXPECT_EQ(repeat_random(6, 65, 1, 0).period, 3U);
}

TEST(RepeatRandom, IsAFunctionOfSeedAndWindow) {
  EXPECT_EQ(repeat_random(30, 65, 3, 7).tokens, repeat_random(30, 65, 3, 7).tokens);
  EXPECT_NE(repeat_random(30, 65, 3, 7).tokens, repeat_random(30, 65, 3, 8).tokens);
  EXPECT_NE(repeat_random(30, 65, 3, 7).tokens, repeat_random(30, 65, 4, 7).tokens);
}

TEST(HeadWindows, AreStretchesOfTheTextAndAsManyRepeatedOnes) {
  const HeadWindows windows = head_windows(counting(1000), {.length = 10, .count = 50, .vocabulary = 65, .seed = 2});
  ASSERT_EQ(windows.count(), 50U);
  ASSERT_EQ(windows.periods.size(), 50U);
  for (std::size_t w = 0; w < 50; ++w) {
    const auto window = windows.text_window(w);
    for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(window[i], window[i - 1] + 1);
    EXPECT_EQ(windows.repeated_window(w)[windows.periods[w]], windows.repeated_window(w)[0]);
  }
}

TEST(HeadWindows, AreFewerInAShortTextAndRefusedInNone) {
  EXPECT_EQ(head_windows(counting(41), {.length = 10, .count = 50, .vocabulary = 65}).count(), 4U);
  const Error error =
      dikkat::testing::error_of([] { (void)head_windows(counting(10), {.length = 10, .vocabulary = 65}); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
}

TEST(HeadWindows, SpreadTakesSomeOfAllOfThem) {
  const HeadWindows all = head_windows(counting(401), {.length = 4, .count = 10, .vocabulary = 65});
  const HeadWindows some = all.spread(4);
  ASSERT_EQ(some.count(), 2U * 2U);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t w = std::vector<std::size_t>{0, 2, 5, 7}[i];
    EXPECT_TRUE(std::ranges::equal(some.text_window(i), all.text_window(w)));
  }
  EXPECT_EQ(all.spread(10).fingerprint(), all.fingerprint());
  EXPECT_EQ(all.spread(99).fingerprint(), all.fingerprint());
}

TEST(HeadWindows, FingerprintSeesEveryPart) {
  const HeadWindows windows = head_windows(counting(401), {.length = 8, .count = 10, .vocabulary = 65});
  std::set<std::string> prints{windows.fingerprint()};
  HeadWindows other = windows;
  ++other.text[3];
  prints.insert(other.fingerprint());
  other = windows;
  ++other.repeated[3];
  prints.insert(other.fingerprint());
  other = windows;
  ++other.periods[3];
  prints.insert(other.fingerprint());
  other = windows;
  other.length = 16;
  prints.insert(other.fingerprint());
  EXPECT_EQ(prints.size(), 5U);
}

// 4 tokens in 24 orders, 2,400 draws: each about 100 times, chi-squared over 23 degrees below its 99.9 % point, 49.7.
TEST(Shuffled, HasEveryOrderAlikeOften) {
  const HeadWindows windows{.length = 2, .text = {7, 8, 9, 10}, .repeated = {1, 1}, .periods = {3}};
  std::map<std::vector<text::Token>, double> seen;
  for (std::uint64_t draw = 0; draw < 2400; ++draw) {
    const HeadWindows other = shuffled(windows, 5, draw);
    EXPECT_TRUE(other.repeated.empty());
    ++seen[other.text];
  }
  EXPECT_EQ(seen.size(), 24U);
  double chi_squared = 0;
  for (const auto& [order, count] : seen) {
    EXPECT_TRUE(std::ranges::is_permutation(order, windows.text));
    chi_squared += (count - 100) * (count - 100) / 100;
  }
  EXPECT_LT(chi_squared, 49.7);
}

}  // namespace
}  // namespace dikkat::inspect
