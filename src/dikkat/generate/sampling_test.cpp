#include "dikkat/generate/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "dikkat/base/testing.h"
#include "dikkat/kernels/maths.h"
#include "dikkat/kernels/testing.h"
#include "dikkat/random/streams.h"

namespace dikkat::generate {
namespace {

using ::dikkat::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tokens = std::vector<text::Token>;

class SamplingTest : public ::testing::Test {
 protected:
  [[nodiscard]] Tokens draws(const Sampling& sampling, const std::vector<double>& logits, std::size_t n,
                             const Tokens& seen = {}) {
    Sampler sampler(sampling);
    Tokens tokens;
    for (std::size_t draw = 0; draw < n; ++draw) {
      tokens.push_back(sampler.next_token(executor_, std::span<const double>(logits), seen, draw));
    }
    return tokens;
  }
  // The tokens that come up at all, in 2,000 draws.
  [[nodiscard]] std::set<text::Token> drawable(const Sampling& sampling, const std::vector<double>& logits,
                                               const Tokens& seen = {}) {
    const Tokens tokens = draws(sampling, logits, 2000, seen);
    return {tokens.begin(), tokens.end()};
  }

  Pool pool_{1};
  kernels::Executor executor_{.pool = pool_};
};

// Probabilities 1/16, 8/16, 2/16, 4/16, 1/16.
const std::vector<double> kHalving = {0, 3 * M_LN2, M_LN2, 2 * M_LN2, 0};

TEST_F(SamplingTest, GreedyTakesTheLargestLogitAndTheLowestIdAmongEquals) {
  EXPECT_THAT(draws({.temperature = 0}, {1, 5, 5, -7, 4}, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(draws({.temperature = 0, .top_k = 1, .top_p = 0.1, .min_p = 1}, {-3, -2, -2}, 1), ElementsAre(1));
}

TEST_F(SamplingTest, TopKKeepsTheMostProbableAndTheLowestIdsAmongEquals) {
  EXPECT_THAT(drawable({.top_k = 1}, kHalving), ElementsAre(1));
  EXPECT_THAT(drawable({.top_k = 3}, kHalving), ElementsAre(1, 2, 3));
  EXPECT_THAT(drawable({.top_k = 4}, kHalving), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(drawable({.top_k = 5}, kHalving), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(drawable({.top_k = 99}, kHalving), ElementsAre(0, 1, 2, 3, 4));
}

// In order of probability the sums are 8/16, 12/16, 14/16, 15/16, 1.
TEST_F(SamplingTest, TopPKeepsTheFewestThatReachTheSum) {
  EXPECT_THAT(drawable({.top_p = 0.01}, kHalving), ElementsAre(1));
  EXPECT_THAT(drawable({.top_p = 0.49}, kHalving), ElementsAre(1));
  EXPECT_THAT(drawable({.top_p = 0.51}, kHalving), ElementsAre(1, 3));
  EXPECT_THAT(drawable({.top_p = 0.8}, kHalving), ElementsAre(1, 2, 3));
  EXPECT_THAT(drawable({.top_p = 0.9}, kHalving), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(drawable({.top_p = 0.99}, kHalving), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(SamplingTest, TopPStopsWhereTheSumIsReachedExactly) {
  EXPECT_THAT(drawable({.top_p = 0.5}, {2, 2, 2, 2}), ElementsAre(0, 1));
}

// The largest is 8/16: a quarter of it is 2/16.
TEST_F(SamplingTest, MinPIsMeasuredAgainstTheLargest) {
  EXPECT_THAT(drawable({.min_p = 0.24}, kHalving), ElementsAre(1, 2, 3));
  EXPECT_THAT(drawable({.min_p = 0.26}, kHalving), ElementsAre(1, 3));
  EXPECT_THAT(drawable({.min_p = 1}, {1, 2, 2, 0}), ElementsAre(1, 2));
  EXPECT_THAT(drawable({.min_p = 0}, kHalving), ElementsAre(0, 1, 2, 3, 4));
}

// top-k alone would keep 1, 3, 2; top-p counts the dropped ones in its whole, so 0.51 is still two tokens' worth.
TEST_F(SamplingTest, TheStrictestFilterDecides) {
  EXPECT_THAT(drawable({.top_k = 3, .top_p = 0.51}, kHalving), ElementsAre(1, 3));
  EXPECT_THAT(drawable({.top_k = 1, .top_p = 0.9}, kHalving), ElementsAre(1));
  EXPECT_THAT(drawable({.top_k = 4, .top_p = 0.99, .min_p = 0.24}, kHalving), ElementsAre(1, 2, 3));
}

// 2 / 2 and -1 * 2 against an unseen 1.5: the order turns from 0, 2, 1 to 2, 0, 1.
TEST_F(SamplingTest, RepetitionPenaltyDividesPositiveAndMultipliesNegativeLogits) {
  const Sampling greedy{.temperature = 0, .repetition_penalty = 2};
  EXPECT_THAT(draws(greedy, {2, -1, 1.5}, 1), ElementsAre(0));
  EXPECT_THAT(draws(greedy, {2, -1, 1.5}, 1, {0}), ElementsAre(2));
  EXPECT_THAT(draws(greedy, {-2, -1, -3}, 1), ElementsAre(1));
  EXPECT_THAT(draws(greedy, {-2, -1.1, -3}, 1, {1}), ElementsAre(0));
}

// Twice over, 4 would become 1 and lose to 1.5.
TEST_F(SamplingTest, ATokenSeenOftenIsPenalisedOnce) {
  EXPECT_THAT(draws({.temperature = 0, .repetition_penalty = 2}, {4, 1.5}, 1, {0, 0, 0}), ElementsAre(0));
}

// exp(2 / 0.5) / (1 + exp(2 / 0.5)) = 0.98201; at temperature 2, exp(1) / (1 + exp(1)) = 0.73106.
TEST_F(SamplingTest, TemperatureSharpensAndFlattens) {
  constexpr std::size_t kDraws = 100'000;
  const auto share = [&](double temperature) {
    const Tokens tokens = draws({.temperature = temperature}, {0, 2}, kDraws);
    return static_cast<double>(std::count(tokens.begin(), tokens.end(), 1U)) / kDraws;
  };
  EXPECT_NEAR(share(0.5), 0.98201, 4 * std::sqrt(0.98201 * 0.01799 / kDraws));
  EXPECT_NEAR(share(2.0), 0.73106, 4 * std::sqrt(0.73106 * 0.26894 / kDraws));
}

TEST_F(SamplingTest, TheSmallestTemperatureIsGreedyWithoutOverflow) {
  EXPECT_THAT(drawable({.temperature = 1e-308}, {1e30, -1e30, 1.1e30}), ElementsAre(2));
  EXPECT_THAT(drawable({.repetition_penalty = 1e-308}, {1e30, 1e30, 1}, {0}), ElementsAre(0));
}

TEST_F(SamplingTest, DrawsFollowTheProbabilities) {
  constexpr std::size_t kDraws = 100'000;
  constexpr std::array<double, 5> kProbs = {1 / 16.0, 8 / 16.0, 2 / 16.0, 4 / 16.0, 1 / 16.0};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Tokens tokens = draws({.seed = seed}, kHalving, kDraws);
    for (std::size_t token = 0; token < kProbs.size(); ++token) {
      const double p = kProbs[token];
      const auto count = std::count(tokens.begin(), tokens.end(), token);
      EXPECT_NEAR(static_cast<double>(count) / kDraws, p, 4 * std::sqrt(p * (1 - p) / kDraws)) << token;
    }
  }
}

// Kept are 8/16 and 4/16: renormalised 2/3 and 1/3.
TEST_F(SamplingTest, WhatIsKeptIsRenormalised) {
  constexpr std::size_t kDraws = 100'000;
  const Tokens tokens = draws({.top_k = 2}, kHalving, kDraws);
  const double share = static_cast<double>(std::count(tokens.begin(), tokens.end(), 1U)) / kDraws;
  EXPECT_NEAR(share, 2.0 / 3.0, 4 * std::sqrt(2.0 / 9.0 / kDraws));
}

// Three equal tokens: below 1/3 the first, below 2/3 the second, else the third.
TEST_F(SamplingTest, ADrawIsAFunctionOfSeedAndNumber) {
  const random::Stream stream = random::stream(7, "sampling");
  Sampler sampler({.seed = 7});
  const std::vector<double> logits = {1, 1, 1};
  for (const std::uint64_t draw : {std::uint64_t{1} << 40U, std::uint64_t{5}, std::uint64_t{0}, std::uint64_t{5}}) {
    const double u =
        random::uniform(stream, {static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32U), 0, 0});
    const text::Token expected = u * 3 < 1 ? 0 : u * 3 < 2 ? 1 : 2;
    EXPECT_EQ(sampler.next_token(executor_, std::span<const double>(logits), {}, draw), expected) << draw;
  }
  EXPECT_NE(draws({.seed = 7}, logits, 50), draws({.seed = 8}, logits, 50));
}

// The definition, with everything ranked.
text::Token plain_next_token(const kernels::Executor& executor, const Sampling& sampling, std::vector<double> l,
                             const Tokens& seen, std::uint64_t draw) {
  for (const text::Token token : std::set<text::Token>(seen.begin(), seen.end())) {
    l[token] = l[token] > 0 ? l[token] / sampling.repetition_penalty : l[token] * sampling.repetition_penalty;
  }
  const double largest = *std::max_element(l.begin(), l.end());
  for (double& w : l) w = (w - largest) / sampling.temperature;
  kernels::evaluate(executor, kernels::Function::exponential, l.data(), l.data(), l.size());
  Tokens ranking(l.size());
  std::iota(ranking.begin(), ranking.end(), 0U);
  std::stable_sort(ranking.begin(), ranking.end(), [&](text::Token a, text::Token b) { return l[a] > l[b]; });
  const double total = std::accumulate(l.begin(), l.end(), 0.0);
  std::vector<double> kept(l.size());
  double reached = 0;
  for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
    const double w = l[ranking[rank]];
    const bool in_top_k = sampling.top_k == 0 || rank < sampling.top_k;
    const bool in_top_p = sampling.top_p == 1 || reached < sampling.top_p * total;
    if (in_top_k && in_top_p && w >= sampling.min_p) kept[ranking[rank]] = w;
    reached += w;
  }
  const double target =
      random::uniform(random::stream(sampling.seed, "sampling"), {static_cast<std::uint32_t>(draw), 0, 0, 0}) *
      std::accumulate(kept.begin(), kept.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if ((sum += kept[i]) > target) return static_cast<text::Token>(i);
  }
  ADD_FAILURE() << "nothing was drawn";
  return 0;
}

// Logits are eighths, so that many are equal.
TEST_F(SamplingTest, EveryDrawEqualsTheDefinition) {
  const random::Stream stream = random::stream(11, "cases");
  const std::array<std::size_t, 7> vocabularies = {1, 2, 65, 66, 300, 1000, 5000};
  const std::array<double, 5> top_ps = {1, 0.05, 0.5, 0.95, 0.9999};
  const std::array<double, 4> min_ps = {0, 0.01, 0.2, 1};
  for (std::uint32_t n = 0, cases = static_cast<std::uint32_t>(kernels::testing::random_cases(2000)); n < cases; ++n) {
    const auto choose = [&](std::uint32_t which, std::size_t among) {
      return static_cast<std::size_t>(random::below(stream, {n, which, 0, 0}, among));
    };
    const std::size_t vocabulary = vocabularies[choose(0, 7)];
    const Sampling sampling{.temperature = 0.3 * static_cast<double>(1 + choose(1, 10)),
                            .top_k = choose(2, 2) * choose(3, vocabulary + 5),
                            .top_p = top_ps[choose(4, 5)],
                            .min_p = min_ps[choose(5, 4)],
                            .repetition_penalty = 0.5 + 0.5 * static_cast<double>(choose(6, 3)),
                            .seed = n};
    std::vector<double> logits(vocabulary);
    for (std::size_t i = 0; i < vocabulary; ++i) {
      logits[i] = static_cast<double>(random::below(stream, {n, 9, static_cast<std::uint32_t>(i), 0}, 81)) / 8 - 5;
    }
    const Tokens seen = {static_cast<text::Token>(choose(7, vocabulary)),
                         static_cast<text::Token>(choose(8, vocabulary))};
    Sampler sampler(sampling);
    ASSERT_EQ(sampler.next_token(executor_, std::span<const double>(logits), seen, n),
              plain_next_token(executor_, sampling, logits, seen, n))
        << "case " << n;
  }
}

TEST_F(SamplingTest, ThreadsAndBodiesDoNotMatter) {
  std::vector<float> logits(5000);
  for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 7919 % 5003) / 700.0F;
  const auto tokens_with = [&](unsigned threads, kernels::Bodies bodies) {
    Pool pool(threads);
    Sampler sampler({.temperature = 0.9, .top_k = 900, .top_p = 0.95});
    Tokens tokens;
    for (std::uint64_t draw = 0; draw < 50; ++draw) {
      tokens.push_back(sampler.next_token({.pool = pool, .bodies = bodies}, std::span<const float>(logits), {}, draw));
    }
    return tokens;
  };
  const Tokens alone = tokens_with(1, kernels::Bodies::reference);
  EXPECT_GT(std::set<text::Token>(alone.begin(), alone.end()).size(), 10U);
  for (const unsigned threads : {1U, 2U, 3U, 8U}) EXPECT_EQ(tokens_with(threads, kernels::Bodies::fast), alone);
}

TEST_F(SamplingTest, ALogitThatIsNotFiniteIsNamed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
    for (const double temperature : {0.0, 1.0}) {
      const Error error = error_of([&] { (void)draws({.temperature = temperature}, {1, 2, bad, bad}, 1); });
      EXPECT_EQ(error.kind(), ErrorKind::numeric);
      EXPECT_THAT(error.message(), HasSubstr("token 2"));
    }
  }
}

TEST_F(SamplingTest, NothingToDrawFromAndForeignTokensAreRefused) {
  EXPECT_EQ(error_of([&] { (void)draws({}, {}, 1); }).kind(), ErrorKind::usage);
  const Error error = error_of([&] { (void)draws({.repetition_penalty = 2}, {1, 2}, 1, {2}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.message(), HasSubstr("token 2"));
}

TEST_F(SamplingTest, SettingsOutsideTheirDomainAreRefusedByName) {
  const double nan = std::nan("");
  const auto key_of = [](const Sampling& sampling) {
    const Error error = error_of([&] { check(sampling); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.place().key;
  };
  for (const double bad : {-0.1, nan, HUGE_VAL}) EXPECT_EQ(key_of({.temperature = bad}), "temperature");
  for (const double bad : {0.0, 1.1, nan}) EXPECT_EQ(key_of({.top_p = bad}), "top-p");
  for (const double bad : {-0.1, 1.1, nan}) EXPECT_EQ(key_of({.min_p = bad}), "min-p");
  for (const double bad : {0.0, -1.0, nan, HUGE_VAL})
    EXPECT_EQ(key_of({.repetition_penalty = bad}), "repetition-penalty");
  EXPECT_THROW(Sampler({.top_p = 2}), Error);
  EXPECT_NO_THROW(check({.temperature = 0, .top_k = 3, .top_p = 1, .min_p = 1, .repetition_penalty = 0.5}));
}

}  // namespace
}  // namespace dikkat::generate
