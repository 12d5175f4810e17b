#include "dikkat/inspect/windows.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "dikkat/base/error.h"

namespace dikkat::inspect {
namespace {

std::vector<text::Token> counting(std::size_t count) {
  std::vector<text::Token> tokens(count);
  std::iota(tokens.begin(), tokens.end(), text::Token{0});
  return tokens;
}

TEST(Windows, DoNotOverlapAndStayInside) {
  const auto tokens = counting(1000);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto starts = windows_over(tokens, 16, 50, seed);
    ASSERT_EQ(starts.size(), 50U);
    for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_GE(starts[i], starts[i - 1] + 16);
    EXPECT_LE(starts.back() + 17, 1000U);
    EXPECT_EQ(starts, windows_over(tokens, 16, 50, seed));
  }
  EXPECT_NE(windows_over(tokens, 16, 50, 0), windows_over(tokens, 16, 50, 1));
}

TEST(Windows, EveryChoiceIsEquallyLikely) {
  // Two windows of 2 among 6 tokens (5 as targets): 0,2; 0,3; 1,3. In 3,000 draws 1,000 +- 26 each.
  std::map<std::vector<std::size_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) ++seen[windows_over(counting(6), 2, 2, seed)];
  ASSERT_EQ(seen.size(), 3U);
  for (const auto& [starts, times] : seen) EXPECT_NEAR(times, 1000, 4 * 26) << starts[0] << ' ' << starts[1];
}

TEST(Windows, AsManyAsTheTextHolds) {
  EXPECT_EQ(windows_held(0, 4), 0U);
  EXPECT_EQ(windows_held(4, 4), 0U);
  EXPECT_EQ(windows_held(5, 4), 1U);
  EXPECT_EQ(windows_held(9, 4), 2U);
  EXPECT_EQ(windows_over(counting(9), 4, 100, 7), (std::vector<std::size_t>{0, 4}));
  EXPECT_EQ(windows_over(counting(5), 4, 3, 7), (std::vector<std::size_t>{0}));
}

TEST(Windows, ATextThatHoldsNoneIsRefused) {
  for (const std::size_t tokens : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
    try {
      (void)windows_over(counting(tokens), 4, 3, 7);
      ADD_FAILURE() << tokens;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
    }
  }
}

TEST(Windows, EveryOrderIsEquallyLikely) {
  std::map<std::vector<std::size_t>, int> seen;
  const random::Stream stream = random::stream(4, "test");
  for (std::uint32_t place = 0; place < 6000; ++place) ++seen[drawn_order(stream, place, 3)];
  ASSERT_EQ(seen.size(), 6U);
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 1000, 4 * 29);
  EXPECT_EQ(drawn_order(stream, 9, 40), drawn_order(stream, 9, 40));
  EXPECT_EQ(drawn_order(stream, 0, 1), (std::vector<std::size_t>{0}));
  EXPECT_TRUE(drawn_order(stream, 0, 0).empty());
}

TEST(Windows, FillGivesInputsAndWhatFollows) {
  data::Batch batch;
  const std::vector<std::size_t> starts = {1, 6};
  fill(counting(10), starts, 3, batch);
  EXPECT_EQ(batch.inputs, (std::vector<text::Token>{1, 2, 3, 6, 7, 8}));
  EXPECT_EQ(batch.targets, (std::vector<std::int32_t>{2, 3, 4, 7, 8, 9}));
  EXPECT_EQ(batch.lengths, (std::vector<std::size_t>{3, 3}));
  EXPECT_EQ(batch.rows.first_row, (std::vector<std::size_t>{0, 3, 6}));
  EXPECT_EQ(batch.rows.position, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}));
  const std::vector<std::size_t> past = {7};
  EXPECT_THROW(fill(counting(10), past, 3, batch), Error);
}

}  // namespace
}  // namespace dikkat::inspect
