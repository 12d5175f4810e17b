#include "dikkat/inspect/token_order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dikkat/random/streams.h"

namespace dikkat::inspect {
namespace {

HeadWindows windows_of(std::size_t length, std::vector<text::Token> tokens) {
  return {.length = length, .text = std::move(tokens), .repeated = {}, .periods = {}};
}

// Pairs 12 21 12 21 in one window of five: n = 4, n_12 = n_21 = 2, margins 2: information ln 2.
TEST(TokenOrder, OfAnAlternatingTextIsLnTwo) {
  EXPECT_NEAR(token_order(windows_of(5, {1, 2, 1, 2, 1}), 1, 1).nats, std::log(2.0), 1e-15);
  EXPECT_EQ(token_order(windows_of(4, {3, 3, 3, 3}), 1, 1).nats, 0.0);
  EXPECT_EQ(token_order(windows_of(1, {3, 4}), 1, 1).nats, 0.0);
}

// Pairs 12 13 and, in the other window, 42 43: no pair crosses windows, first and second do not know of each other.
TEST(TokenOrder, KeepsToItsWindows) {
  EXPECT_NEAR(token_order(windows_of(2, {1, 2, 1, 3, 4, 2, 4, 3}), 1, 1).nats, 0, 1e-15);
}

TEST(TokenOrder, IsSeenInAPatternAndNotInDice) {
  std::vector<text::Token> pattern;
  std::vector<text::Token> dice;
  for (std::uint32_t i = 0; i < 600; ++i) {
    pattern.push_back(i % 6);
    dice.push_back(static_cast<text::Token>(random::below(random::stream(1, "dice"), {i, 0, 0, 0}, 6)));
  }
  EXPECT_EQ(token_order(windows_of(20, pattern), 199, 1).p, 1.0 / 200);
  EXPECT_GT(token_order(windows_of(20, dice), 199, 1).p, 0.05);
}

// Of 400 texts of dice about 5 % have p <= 0.05: 20 expected, 9 to 34 hold 99.8 %.
TEST(TokenOrder, HasItsLevel) {
  std::size_t significant = 0;
  for (std::uint32_t k = 0; k < 400; ++k) {
    std::vector<text::Token> dice;
    for (std::uint32_t i = 0; i < 60; ++i) {
      dice.push_back(static_cast<text::Token>(random::below(random::stream(1, "dice"), {i, k, 0, 0}, 4)));
    }
    significant += token_order(windows_of(20, dice), 39, k).p <= 0.05 ? 1U : 0U;
  }
  EXPECT_GE(significant, 9U);
  EXPECT_LE(significant, 34U);
}

}  // namespace
}  // namespace dikkat::inspect
