#include "dikkat/random/streams.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace dikkat::random {
namespace {

constexpr std::uint32_t kDraws = 1U << 18U;

// Every stored run and checkpoint hangs on these: they may never change. Worked out with another program (see the
// script below) from FNV-1a, SplitMix64 and Philox as published.
//
//   M = 2**64 - 1
//   def mix(x):
//       x = (x + 0x9E3779B97F4A7C15) & M
//       x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M
//       x = (x ^ x >> 27) * 0x94D049BB133111EB & M
//       return x ^ x >> 31
//   def stream(seed, purpose, place=""):
//       h = 0xCBF29CE484222325
//       for b in purpose.encode() + b"\0" + place.encode(): h = (h ^ b) * 0x100000001B3 & M
//       return mix(mix(seed) ^ h)
//   def substream(key, number): return mix(key ^ mix(number))
TEST(Streams, KeysArePinnedForEver) {
  EXPECT_EQ(stream(1, "init").key, 0xF81BA33B9E239861U);
  EXPECT_EQ(stream(1, "init", "blocks.0.attention.query").key, 0xE66B8FD6AF6E907DU);
  EXPECT_EQ(stream(0xFFFFFFFFFFFFFFFFU, "dropout").key, 0x09143A919F5AC683U);
  EXPECT_EQ(substream(stream(1, "dropout"), 3).key, 0xDBBE8EDA89C670CFU);
}

// Philox of counter 0 under key 0 begins 6627e8d5 e169c58d.
TEST(Streams, DrawsFollowFromThePublishedAnswer) {
  constexpr std::uint64_t kWord = 0x6627E8D5E169C58DU;
  EXPECT_EQ(uniform(Stream{0}, {0, 0, 0, 0}), static_cast<double>(kWord >> 11U) / 9007199254740992.0);
  EXPECT_EQ(below(Stream{0}, {0, 0, 0, 0}, std::uint64_t{1} << 32U), 0x6627E8D5U);
  EXPECT_EQ(below(Stream{0}, {0, 0, 0, 0}, std::uint64_t{1} << 63U), kWord >> 1U);
  // 0x6627E8D5E169C58D / 2^64 is 0.39904647...
  EXPECT_EQ(below(Stream{0}, {0, 0, 0, 0}, 1000), 399U);
  // 0x6627E8D5E169C58D * (2^64 - 1) / 2^64 rounds down to one less than the word.
  EXPECT_EQ(below(Stream{0}, {0, 0, 0, 0}, ~std::uint64_t{0}), kWord - 1);
}

TEST(Streams, NamesPlacesSeedsAndNumbersGiveDifferentKeys) {
  std::set<std::uint64_t> keys;
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const char* purpose : {"init", "dropout", "sampler", "shuffle", "ab", "a"}) {
      for (const char* place : {"", "c", "bc", "blocks.0", "blocks.1"}) {
        keys.insert(stream(seed, purpose, place).key);
        ++made;
      }
      for (std::uint64_t number = 0; number < 20; ++number) {
        keys.insert(substream(stream(seed, purpose), number).key);
        ++made;
      }
    }
  }
  EXPECT_EQ(keys.size(), made);
}

TEST(Streams, UniformHasTheMomentsOfTheUniformDistribution) {
  const Stream draws = stream(7, "test");
  double sum = 0;
  double squares = 0;
  double neighbours = 0;
  double before = uniform(draws, {kDraws, 0, 0, 0});
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double u = uniform(draws, {i, 0, 0, 0});
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
    neighbours += (u - 0.5) * (before - 0.5);
    before = u;
  }
  // Four standard errors each: deviation of u is 1/sqrt(12), of (u - 1/2)^2 is 1/sqrt(180), of a product 1/12.
  const double root = std::sqrt(double{kDraws});
  EXPECT_NEAR(sum / kDraws, 0.5, 4 / (std::sqrt(12.0) * root));
  EXPECT_NEAR(squares / kDraws, 1.0 / 12, 4 / (std::sqrt(180.0) * root));
  EXPECT_NEAR(neighbours / kDraws, 0.0, 4 / (12 * root));
}

TEST(Streams, BelowStaysBelowAndReachesEveryValueEvenly) {
  const Stream draws = stream(8, "test");
  constexpr std::uint64_t kBound = 7;
  std::vector<double> seen(kBound, 0);
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const std::uint64_t value = below(draws, {0, i, 0, 0}, kBound);
    ASSERT_LT(value, kBound);
    seen[value] += 1;
  }
  const double expected = double{kDraws} / kBound;
  for (const double count : seen) EXPECT_NEAR(count, expected, 4 * std::sqrt(expected * (1 - 1.0 / kBound)));
}

TEST(Streams, BelowOneIsZeroAndLargeBoundsHold) {
  const Stream draws = stream(9, "test");
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(below(draws, {i, 0, 0, 0}, 1), 0U);
    for (const std::uint64_t bound : {std::uint64_t{1} << 33U, std::uint64_t{0xFFFFFFFF00000001U}}) {
      EXPECT_LT(below(draws, {i, 0, 0, 0}, bound), bound);
    }
  }
}

TEST(Streams, StreamsOfTwoPurposesAreUncorrelated) {
  const Stream a = stream(1, "dropout");
  const Stream b = stream(1, "sampler");
  double products = 0;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    products += (uniform(a, {i, 0, 0, 0}) - 0.5) * (uniform(b, {i, 0, 0, 0}) - 0.5);
  }
  EXPECT_NEAR(products / kDraws, 0.0, 4 / (12 * std::sqrt(double{kDraws})));
}

}  // namespace
}  // namespace dikkat::random
