// Facts worked out by hand on small maps.
#include "dikkat/inspect/head_facts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/parallel.h"

namespace dikkat::inspect {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleEq;

// Heads side by side, (T, heads, T), in two parts: rows before `cut` and after.
std::vector<HeadSummary> summaries_of(const std::vector<double>& maps, std::size_t tokens, std::size_t heads,
                                      std::size_t cut, const kernels::Mask& mask = {}) {
  Pool pool(1);
  const Tensor whole = Tensor::empty({tokens, heads, tokens}, DType::f64);
  std::copy(maps.begin(), maps.end(), whole.data<double>());
  HeadSummaries summaries(3, {1, 1 + heads}, tokens, mask);
  if (cut > 0) summaries.add({pool}, {3, 0, 1, whole.slice(0, 0, cut)});
  summaries.add({pool}, {3, cut, 1, whole.slice(0, cut, tokens)});
  return summaries.finish();
}

TEST(HeadFacts, OfTwoHeadsOfThreeTokens) {
  const std::vector<double> maps = {1, 0, 0, 1,    0,    0,  // row 0 of both heads
                                    1, 0, 0, 0.5,  0.5,  0,  // row 1
                                    0, 1, 0, 0.25, 0.25, 0.5};
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const auto summaries = summaries_of(maps, 3, 2, cut);
    ASSERT_EQ(summaries.size(), 2U);
    EXPECT_EQ(summaries[0].layer, 3U);
    EXPECT_EQ(summaries[0].head, 1U);
    const HeadFacts& before = summaries[0].facts;  // always the token before
    EXPECT_DOUBLE_EQ(before.self, 1.0 / 3);
    EXPECT_DOUBLE_EQ(before.previous, 2.0 / 3);
    EXPECT_DOUBLE_EQ(before.first, 2.0 / 3);
    EXPECT_DOUBLE_EQ(before.distance, 2.0 / 3);
    EXPECT_DOUBLE_EQ(before.spread, 1.0);
    EXPECT_DOUBLE_EQ(before.evenness, (1.0 + 1.0 / 2 + 1.0 / 3) / 3);
    const HeadFacts& mixed = summaries[1].facts;
    EXPECT_DOUBLE_EQ(mixed.self, 2.0 / 3);
    EXPECT_DOUBLE_EQ(mixed.previous, 0.25);
    EXPECT_DOUBLE_EQ(mixed.first, 1.75 / 3);
    EXPECT_DOUBLE_EQ(mixed.distance, (0.5 + 0.5 + 0.25) / 3);
    EXPECT_DOUBLE_EQ(mixed.spread, (1 + 2 + 1 / 0.375) / 3);
    EXPECT_DOUBLE_EQ(mixed.evenness, (1 + 1 + 1 / 0.375 / 3) / 3);
    const double none = std::nan("");
    EXPECT_THAT(summaries[1].small.values,
                ElementsAre(DoubleEq(1), NanSensitiveDoubleEq(none), NanSensitiveDoubleEq(none), DoubleEq(0.5),
                            DoubleEq(0.5), NanSensitiveDoubleEq(none), DoubleEq(0.25), DoubleEq(0.25), DoubleEq(0.5)));
  }
}

TEST(HeadFacts, OneTokenLooksAtItself) {
  const HeadFacts facts = summaries_of({1}, 1, 1, 0).front().facts;
  EXPECT_EQ(facts.self, 1.0);
  EXPECT_EQ(facts.previous, 0.0);
  EXPECT_EQ(facts.first, 1.0);
  EXPECT_EQ(facts.distance, 0.0);
  EXPECT_EQ(facts.spread, 1.0);
  EXPECT_EQ(facts.evenness, 1.0);
}

// 130 tokens in 64 blocks: token t belongs to block floor(t 64 / 130).
TEST(HeadFacts, SmallMapsKeepTheLargestOfABlock) {
  std::vector<double> map(130 * 130, 0.0);
  for (std::size_t i = 0; i < 130; ++i) map[i * 130 + i] = 1.0;
  map[129 * 130 + 0] = 0.75;
  map[129 * 130 + 129] = 0.25;
  const auto small = summaries_of(map, 130, 1, 77).front().small;
  ASSERT_EQ(small.side, 64U);
  EXPECT_EQ(small.values[0], 1.0);
  EXPECT_EQ(small.values[63 * 64 + 0], 0.75);
  EXPECT_EQ(small.values[63 * 64 + 63], 1.0) << "token 128 is in the block of token 129";
  EXPECT_EQ(small.values[63 * 64 + 5], 0.0);
  EXPECT_TRUE(std::isnan(small.values[1])) << "nobody of the first block sees the second";
}

TEST(HeadFacts, OnlyVisibleKeysCount) {
  const auto summaries = summaries_of({1, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5}, 3, 1, 0, {.window = 2});
  EXPECT_DOUBLE_EQ(summaries.front().facts.evenness, 1.0);
  EXPECT_TRUE(std::isnan(summaries.front().small.values[2 * 3 + 0]));
}

}  // namespace
}  // namespace dikkat::inspect
