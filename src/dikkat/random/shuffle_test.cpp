#include "dikkat/random/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace dikkat::random {
namespace {

Counter of_index(std::size_t i) { return {static_cast<std::uint32_t>(i), 0, 0, 0}; }

// 6,000 orders of three: each of the six within 5 standard deviations (28.9) of 1,000.
template <class Shuffle>
void expect_even(Shuffle&& shuffled) {
  std::map<std::vector<int>, int> count;
  for (std::uint64_t draw = 0; draw < 6000; ++draw) {
    std::vector<int> items{1, 2, 3};
    shuffled(std::span<int>(items), substream(stream(1, "orders"), draw));
    ++count[items];
  }
  ASSERT_EQ(count.size(), 6U);
  for (const auto& [order, times] : count) EXPECT_NEAR(times, 1000, 145);
}

TEST(Shuffle, EveryOrderIsEquallyLikely) {
  expect_even([](std::span<int> items, Stream stream) { shuffle(items, stream, of_index); });
  expect_even([](std::span<int> items, Stream stream) { shuffle_first(items, items.size(), stream); });
}

TEST(ShuffleFirst, ChoosesWithoutLosingAny) {
  std::vector<int> items{1, 2, 3, 4, 5, 6, 7};
  shuffle_first(std::span<int>(items), 3, stream(2, "choice"));
  std::vector<int> sorted = items;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
}

// The choice of a few is the beginning of the order of all.
TEST(ShuffleFirst, AFewAreTheBeginningOfAll) {
  std::vector<int> few{1, 2, 3, 4, 5, 6, 7};
  std::vector<int> all = few;
  shuffle_first(std::span<int>(few), 3, stream(2, "choice"));
  shuffle_first(std::span<int>(all), 7, stream(2, "choice"));
  EXPECT_TRUE(std::equal(few.begin(), few.begin() + 3, all.begin()));
}

TEST(Shuffle, OfNothingAndOfOneIsNothing) {
  std::vector<int> none;
  std::vector<int> one{5};
  shuffle(std::span<int>(none), stream(1, "x"), of_index);
  shuffle_first(std::span<int>(none), 0, stream(1, "x"));
  shuffle(std::span<int>(one), stream(1, "x"), of_index);
  EXPECT_EQ(one.front(), 5);
}

}  // namespace
}  // namespace dikkat::random
