#include "dikkat/kernels/attention.h"

#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/kernels/attention_testing.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/reference/attention-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

using testing::AttentionInputs;
using testing::AttentionResults;
using testing::random_attention;
using testing::random_size;
using testing::random_values;
using testing::same_bits;

constexpr Bodies kBothBodies[] = {Bodies::reference, Bodies::fast};

template <class T>
class Attention : public ::testing::Test {
 protected:
  Pool pool{1};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Attention, Numbers);

template <class T>
AttentionInputs<T> one_head(std::size_t queries, std::size_t keys, std::size_t width) {
  AttentionInputs<T> in;
  in.shape = {.heads = 1, .kv_heads = 1, .width = width, .scale = 1.0};
  in.lay_out({queries}, {keys});
  in.q.assign(queries * width, 0);
  in.k.assign(keys * width, 0);
  in.v.assign(keys * width, 0);
  in.d_out.assign(queries * width, 1);
  return in;
}

// Equal scores: the causal rows are the means of 8, then 8 and 4, then 8, 4 and 0 (weights 1, 1/2, and 1/3 rounded).
TYPED_TEST(Attention, EqualScoresGiveMeansOfThePast) {
  auto in = one_head<TypeParam>(3, 3, 1);
  in.v = {8, 4, 0};
  const TypeParam third = TypeParam{1} / 3;
  for (const Bodies bodies : kBothBodies) {
    const auto r = in.run({this->pool, bodies});
    EXPECT_EQ(r.out, (std::vector<TypeParam>{8, 6, std::fma(third, TypeParam{4}, 8 * third)}));
    EXPECT_EQ(r.sum, (std::vector<TypeParam>{1, 2, 3}));
    EXPECT_EQ(r.max, (std::vector<TypeParam>{0, 0, 0}));
    // Every row hands its weights to the values it looked at: 1 + 1/2 + 1/3, 1/2 + 1/3, 1/3.
    EXPECT_EQ(r.d_v, (std::vector<TypeParam>{TypeParam{1} + TypeParam{0.5} + third, TypeParam{0.5} + third, third}));
    // q = k = 0: no gradient reaches them.
    EXPECT_EQ(r.d_q, (std::vector<TypeParam>{0, 0, 0}));
    EXPECT_EQ(r.d_k, (std::vector<TypeParam>{0, 0, 0}));
  }
}

// Weights 1/2 and 1/2 on values 8 and 4, out 6, dp = (8, 4), ds = 1/2 (8 - 6, 4 - 6) = (1, -1); with q = 0, k = (3, 5),
// scale 2: dq = (1 * 3 - 1 * 5) * 2 = -4, and dk = ds * q = 0.
TYPED_TEST(Attention, GradientOfTwoKeysByHand) {
  auto in = one_head<TypeParam>(1, 2, 1);
  in.shape.scale = 2;
  in.k = {3, 5};
  in.v = {8, 4};
  for (const Bodies bodies : kBothBodies) {
    const auto r = in.run({this->pool, bodies});
    EXPECT_EQ(r.out, (std::vector<TypeParam>{6}));
    EXPECT_EQ(r.d_q, (std::vector<TypeParam>{-4}));
    EXPECT_EQ(r.d_k, (std::vector<TypeParam>{0, 0}));
    EXPECT_EQ(r.d_v, (std::vector<TypeParam>{0.5, 0.5}));
  }
}

// The last query of three sees itself and one before: (4 + 0) / 2; wider than the sample it sees all.
TYPED_TEST(Attention, WindowCutsThePast) {
  auto in = one_head<TypeParam>(3, 3, 1);
  in.v = {8, 4, 0};
  for (const Bodies bodies : kBothBodies) {
    in.shape.mask.window = 2;
    EXPECT_EQ(in.run({this->pool, bodies}).out, (std::vector<TypeParam>{8, 6, 2}));
    in.shape.mask.window = 1;
    EXPECT_EQ(in.run({this->pool, bodies}).out, in.v);
    in.shape.mask.window = 100;
    const auto wide = in.run({this->pool, bodies});
    in.shape.mask.window = 0;
    EXPECT_TRUE(wide == in.run({this->pool, bodies}));
  }
}

// Slope log 2 halves the weight with every step into the past: (1/4 8 + 1/2 4 + 1 16) / (7/4) = 80/7.
TYPED_TEST(Attention, SlopesPreferTheNear) {
  auto in = one_head<TypeParam>(3, 3, 1);
  in.slopes = {std::log(2.0)};
  in.v = {8, 4, 16};
  for (const Bodies bodies : kBothBodies) {
    const auto r = in.run({this->pool, bodies});
    EXPECT_NEAR(r.sum[2], 1.75, 8 * std::numeric_limits<TypeParam>::epsilon());
    EXPECT_NEAR(r.out[2], 80.0 / 7, 64 * std::numeric_limits<TypeParam>::epsilon());
  }
}

// Two heads on one key head: the key's gradient is the sum of both heads' (1 + 10 per row).
TYPED_TEST(Attention, GroupedHeadsShareTheirKeysGradient) {
  auto in = one_head<TypeParam>(1, 1, 1);
  in.shape.heads = 2;
  in.q = {0, 0};
  in.v = {5};
  in.d_out = {1, 10};
  for (const Bodies bodies : kBothBodies) {
    const auto r = in.run({this->pool, bodies});
    EXPECT_EQ(r.out, (std::vector<TypeParam>{5, 5}));
    EXPECT_EQ(r.d_v, (std::vector<TypeParam>{11}));
  }
}

TYPED_TEST(Attention, RowWithNothingToSeeIsZeroAndGivesNoGradient) {
  for (const Bodies bodies : kBothBodies) {
    for (const Direction direction : {Direction::causal, Direction::bidirectional}) {
      auto none = one_head<TypeParam>(3, 0, 2);
      none.shape.mask.direction = direction;
      const auto r = none.run({this->pool, bodies});
      EXPECT_EQ(r.out, std::vector<TypeParam>(6, 0));
      EXPECT_EQ(r.sum, std::vector<TypeParam>(3, 0));
      EXPECT_EQ(r.d_q, std::vector<TypeParam>(6, 0));
    }
    // Two keys, five queries at positions 0 to 4, window 2: the last two see nothing, the third sees key 1 alone.
    auto some = one_head<TypeParam>(5, 2, 1);
    some.shape.mask = {.direction = Direction::bidirectional, .window = 2};
    some.v = {8, 4};
    const auto r = some.run({this->pool, bodies});
    EXPECT_EQ(r.out, (std::vector<TypeParam>{6, 6, 4, 0, 0}));
    EXPECT_EQ(r.sum, (std::vector<TypeParam>{2, 2, 1, 0, 0}));
    EXPECT_EQ(r.max, std::vector<TypeParam>(5, 0));
    EXPECT_EQ(r.d_v, (std::vector<TypeParam>{1, 2}));
    EXPECT_EQ(some.pattern({this->pool, bodies}, 2), (std::vector<TypeParam>{0.5, 0.5, 0.5, 0.5, 0, 1, 0, 0, 0, 0}));
  }
}

TYPED_TEST(Attention, WhatIsHiddenIsNotEvenRead) {
  auto in = one_head<TypeParam>(20, 20, 3);
  std::mt19937_64 draw(7);
  in.draw_values(draw);
  auto spoiled = in;
  for (std::size_t i = 3; i < 60; ++i) {
    spoiled.v[i] = std::numeric_limits<TypeParam>::quiet_NaN();
    spoiled.k[i] = std::numeric_limits<TypeParam>::infinity();
  }
  for (const Bodies bodies : kBothBodies) {
    const auto r = in.run({this->pool, bodies});
    const auto other = spoiled.run({this->pool, bodies});
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_EQ(other.out[d], r.out[d]);
      EXPECT_EQ(other.d_q[d], r.d_q[d]);
    }
  }
}

TYPED_TEST(Attention, RefusesShapesThatDoNotFit) {
  auto in = one_head<TypeParam>(2, 2, 1);
  const Executor executor{this->pool};
  EXPECT_THROW((void)in.pattern(executor, 1), Error);
  in.slopes = {1.0, 2.0};
  EXPECT_THROW((void)in.run(executor), Error);
  in.slopes.clear();
  in.shape.heads = 3;
  in.shape.kv_heads = 2;
  EXPECT_THROW((void)in.run(executor), Error);
}

TYPED_TEST(Attention, PatternRowsSumToOneAndHideTheFuture) {
  std::mt19937_64 draw(11);
  auto in = one_head<TypeParam>(40, 40, 8);
  in.draw_values(draw);
  for (const Bodies bodies : kBothBodies) {
    const auto p = in.pattern({this->pool, bodies}, 43);
    for (std::size_t i = 0; i < 40; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 43; ++j) {
        sum += static_cast<double>(p[i * 43 + j]);
        if (j > i) {
          EXPECT_EQ(p[i * 43 + j], 0);
        }
      }
      // Forty weights, each with a few roundings.
      EXPECT_NEAR(sum, 1.0, 40 * std::numeric_limits<TypeParam>::epsilon());
    }
  }
}

TYPED_TEST(Attention, MixOfThePatternIsTheForwardPass) {
  std::mt19937_64 draw(12);
  for (std::size_t i = 0, n = testing::random_cases(200); i < n; ++i) {
    const auto in = random_attention<TypeParam>(draw, 70);
    const std::size_t keys = 150;
    for (const Bodies bodies : kBothBodies) {
      const Executor executor{this->pool, bodies};
      ASSERT_TRUE(same_bits(in.mix(executor, in.pattern(executor, keys), keys), in.run(executor).out)) << i;
    }
  }
}

TYPED_TEST(Attention, FastEqualsPlainToTheBit) {
  std::mt19937_64 draw(13);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const auto in = random_attention<TypeParam>(draw, 70);
    const Executor law{this->pool, Bodies::reference};
    const auto expected = in.run(law);
    const auto pattern = in.pattern(law, 145);
    for (const auto set : testing::instruction_sets()) {
      const Executor fast{this->pool, Bodies::fast, set};
      const auto seen = in.run(fast);
      ASSERT_TRUE(same_bits(seen.out, expected.out)) << i;
      ASSERT_TRUE(same_bits(seen.max, expected.max)) << i;
      ASSERT_TRUE(same_bits(seen.sum, expected.sum)) << i;
      ASSERT_TRUE(same_bits(seen.d_q, expected.d_q)) << i;
      ASSERT_TRUE(same_bits(seen.d_k, expected.d_k)) << i;
      ASSERT_TRUE(same_bits(seen.d_v, expected.d_v)) << i;
      ASSERT_TRUE(same_bits(in.pattern(fast, 145), pattern)) << i;
      ASSERT_TRUE(same_bits(in.mix(fast, pattern, 145), in.mix(law, pattern, 145))) << i;
      ASSERT_TRUE(in.run({this->pool, Bodies::reference, set}) == expected) << i;
    }
  }
}

TYPED_TEST(Attention, AnyNumberOfThreadsGivesTheSameBits) {
  std::mt19937_64 draw(14);
  for (const std::size_t length : {std::size_t{16}, std::size_t{300}}) {
    AttentionInputs<TypeParam> in;
    in.shape = {.heads = 4, .kv_heads = 2, .width = 8, .scale = 0.35};
    in.lay_out({length, length / 3, length}, {length, length / 3, length});
    in.draw_values(draw);
    const auto expected = in.run({this->pool, Bodies::reference});
    for (const unsigned threads : {1U, 2U, 3U}) {
      Pool threaded(threads);
      EXPECT_TRUE(in.run({threaded, Bodies::check}) == expected) << threads;
    }
  }
}

// Long rows: the draws' blocks and the tiles of scores follow one another.
TYPED_TEST(Attention, LongRowsKeepTheLaw) {
  std::mt19937_64 draw(15);
  for (const std::size_t window : {std::size_t{0}, std::size_t{77}}) {
    AttentionInputs<TypeParam> in;
    in.shape = {.heads = 1, .kv_heads = 1, .width = 12, .scale = 0.3};
    in.shape.mask.window = window;
    in.shape.dropout = 0.1;
    in.lay_out({7, 1, 200}, {1000, 517, 300});
    in.draw_values(draw);
    const auto expected = in.run({this->pool, Bodies::reference});
    for (const auto set : testing::instruction_sets()) {
      EXPECT_TRUE(in.run({this->pool, Bodies::fast, set}) == expected);
    }
  }
}

// Sample by sample, and query by query with the keys so far: the rows of the whole.
TYPED_TEST(Attention, CachedTokensEqualTheWholeAndRowsAloneEqualTheBatch) {
  std::mt19937_64 draw(16);
  for (const std::size_t window : {std::size_t{0}, std::size_t{9}}) {
    AttentionInputs<TypeParam> in;
    in.shape = {.heads = 2, .kv_heads = 1, .width = 5, .scale = 0.4};
    in.shape.mask.window = window;
    in.slopes = {0.5, 0.25};
    in.lay_out({37, 50}, {37, 50});
    in.draw_values(draw);
    const Executor executor{this->pool};
    const auto whole = in.run(executor);
    const std::size_t wide = 10, narrow = 5;
    const auto part = [&](std::size_t row, std::size_t queries, std::size_t keys) {
      AttentionInputs<TypeParam> alone;
      alone.shape = in.shape;
      alone.slopes = in.slopes;
      alone.lay_out({queries}, {keys});
      const std::size_t first_key = row + queries - keys;
      const auto cut = [](const std::vector<TypeParam>& x, std::size_t from, std::size_t to) {
        return std::vector<TypeParam>(x.begin() + static_cast<std::ptrdiff_t>(from),
                                      x.begin() + static_cast<std::ptrdiff_t>(to));
      };
      alone.q = cut(in.q, row * wide, (row + queries) * wide);
      alone.k = cut(in.k, first_key * narrow, (row + queries) * narrow);
      alone.v = cut(in.v, first_key * narrow, (row + queries) * narrow);
      alone.d_out = cut(in.d_out, row * wide, (row + queries) * wide);
      EXPECT_TRUE(same_bits(alone.run(executor).out, cut(whole.out, row * wide, (row + queries) * wide))) << row;
    };
    part(0, 37, 37);
    part(37, 50, 50);
    for (std::size_t t = 0; t < 50; ++t) part(37 + t, 1, t + 1);
    part(37 + 20, 30, 50);
    part(37 + 47, 3, 50);
  }
}

// v = identity shows the weights after dropout: each is 0 or p / (1 - rate), 0 where the word of its own counter is
// below floor(rate 2^32).
TYPED_TEST(Attention, DropoutFollowsItsCounters) {
  const std::size_t n = 70;
  auto in = one_head<TypeParam>(n, n, n);
  for (std::size_t i = 0; i < n; ++i) in.v[i * n + i] = 1;
  in.shape.dropout = 0.25;
  in.shape.dropout_stream = random::stream(5, "dropout", "here");
  in.shape.step = 9;
  const std::uint64_t key = random::substream(in.shape.dropout_stream, 0).key;
  for (const Bodies bodies : kBothBodies) {
    const auto r = in.run({this->pool, bodies});
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j <= i; ++j) {
        const auto words = random::philox(key, {j / 64 * 16 + j % 16, i, 3, 9});
        const bool kept = words[j % 64 / 16] >= 0x40000000U;
        const TypeParam p = 1 / static_cast<TypeParam>(i + 1);
        EXPECT_EQ(r.out[i * n + j], kept ? p * static_cast<TypeParam>(1 / 0.75) : 0) << i << " " << j;
      }
    }
  }
}

// Central differences in double: the loss is the sum of out * d_out. With step 1e-5 the truncation is about 1e-10 and
// the rounding about 1e-11.
TEST(AttentionGradient, AgreesWithFiniteDifferences) {
  Pool pool(1);
  const Executor executor{pool};
  std::mt19937_64 draw(17);
  for (std::size_t i = 0; i < 40; ++i) {
    auto in = random_attention<double>(draw, 7);
    const auto r = in.run(executor);
    const auto loss = [&] {
      const auto out = in.run(executor).out;
      double sum = 0;
      for (std::size_t at = 0; at < out.size(); ++at) sum += out[at] * in.d_out[at];
      return sum;
    };
    const auto compare = [&](std::vector<double>& x, const std::vector<double>& gradient) {
      for (std::size_t at = 0; at < x.size(); at += 1 + x.size() / 12) {
        const double kept = x[at];
        x[at] = kept + 1e-5;
        const double above = loss();
        x[at] = kept - 1e-5;
        const double below = loss();
        x[at] = kept;
        EXPECT_NEAR((above - below) / 2e-5, gradient[at], 1e-8) << i << " " << at;
      }
    };
    compare(in.q, r.d_q);
    compare(in.k, r.d_k);
    compare(in.v, r.d_v);
  }
}

// Lane i of one attention over lanes has the bits of model i's own.
template <class Number, class T>
void expect_lanes_equal_solo(Pool& pool, std::uint64_t seed) {
  constexpr std::size_t kLanes = lanes_of<Number>;
  std::mt19937_64 draw(seed);
  auto solo = random_attention<T>(draw, 20);
  solo.shape = {.heads = 4, .kv_heads = 2, .width = 5, .scale = 0.4, .mask = {.window = 6}};
  solo.slopes = {0.5, 0.25, 0.125, 0.0625};
  solo.lay_out({9, 1, 4}, {9, 1, 4});
  solo.key_first_row.clear();
  solo.draw_values(draw);
  const std::size_t wide = 20, narrow = 10, rows = 14;
  const auto spread = [&](std::size_t n) {
    std::vector<Number> x(n);
    for (auto& number : x) {
      const auto drawn = random_values<T>(draw, kLanes);
      std::copy(drawn.begin(), drawn.end(), number.lane);
    }
    return x;
  };
  const auto lane_of = [](const std::vector<Number>& values, std::size_t lane) {
    std::vector<T> one;
    for (const auto& number : values) one.push_back(number.lane[lane]);
    return one;
  };
  const auto q = spread(rows * wide), k = spread(rows * narrow), v = spread(rows * narrow), d_out = spread(rows * wide);
  std::vector<Number> out(rows * wide), max(rows * 4), sum(rows * 4), d_q(rows * wide), d_k(rows * narrow),
      d_v(rows * narrow);
  std::vector<Number> scratch(2 * 9 * 5);
  for (const auto set : testing::instruction_sets()) {
    const Executor executor{pool, Bodies::fast, set};
    DIKKAT_BODY(executor, attention_forward_plain<Number>)
    (solo.whole_shape(),
     {{q.data(), wide}, {k.data(), narrow}, {v.data(), narrow}, {out.data(), wide}, max.data(), sum.data()},
     scratch.data());
    DIKKAT_BODY(executor, attention_backward_plain<Number>)
    (solo.whole_shape(),
     {{q.data(), wide},
      {k.data(), narrow},
      {v.data(), narrow},
      {out.data(), wide},
      max.data(),
      sum.data(),
      {d_out.data(), wide},
      {d_q.data(), wide},
      {d_k.data(), narrow},
      {d_v.data(), narrow}},
     scratch.data());
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      solo.q = lane_of(q, lane), solo.k = lane_of(k, lane), solo.v = lane_of(v, lane),
      solo.d_out = lane_of(d_out, lane);
      const AttentionResults<T> together{lane_of(out, lane), lane_of(max, lane), lane_of(sum, lane),
                                         lane_of(d_q, lane), lane_of(d_k, lane), lane_of(d_v, lane)};
      EXPECT_TRUE(solo.run(executor) == together) << lane;
    }
  }
}

TEST(AttentionLanes, EachLaneEqualsItsSoloRun) {
  Pool pool(1);
  expect_lanes_equal_solo<Lanes<float, 8>, float>(pool, 18);
  expect_lanes_equal_solo<Lanes<float, 16>, float>(pool, 19);
  expect_lanes_equal_solo<Lanes<double, 4>, double>(pool, 20);
}

}  // namespace
}  // namespace dikkat::kernels
