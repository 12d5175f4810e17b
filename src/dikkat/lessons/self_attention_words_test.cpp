#include "dikkat/lessons/self_attention_words.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dikkat/base/testing.h"

namespace dikkat::lessons {
namespace {

using Words = std::vector<std::string>;

TEST(WordsOf, SplitsAtBlanksOfAnyKindAndNumber) {
  EXPECT_EQ(words_of("The cat sat", "it"), (Words{"The", "cat", "sat"}));
  EXPECT_EQ(words_of("  a\tb\r\n\nc  ", "it"), (Words{"a", "b", "c"}));
  EXPECT_EQ(words_of("one", "it"), (Words{"one"}));
  EXPECT_EQ(words_of("", "it"), Words{});
  EXPECT_EQ(words_of(" \t\n ", "it"), Words{});
}

TEST(WordsOf, LeavesStrangeWordsWhole) {
  EXPECT_EQ(words_of("<script>alert(1)</script> \"it's\" \xE2\x80\x8B \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D", "it"),
            (Words{"<script>alert(1)</script>", "\"it's\"", "\xE2\x80\x8B", "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D"}));
}

TEST(WordsOf, RefusesWhatIsNotUtf8ByName) {
  const Error error = dikkat::testing::error_of([] { (void)words_of("a \xE7ok", "the sentence"); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.place().file, "the sentence");
  EXPECT_EQ(error.place().offset, 2U);
}

class WordAttentionTest : public ::testing::Test {
 protected:
  Attended attend(const Words& words, const WordAttention& options = {}) {
    return attention_on_words({.pool = pool_, .bodies = kernels::Bodies::check}, words, options);
  }

  Pool pool_{1};
};

TEST_F(WordAttentionTest, RowsSumToOneInEveryHead) {
  const Attended attended = attend({"a", "b", "c", "d"}, {.heads = 3, .head_width = 5});
  ASSERT_EQ(attended.weights.size(), 3U);
  for (const Matrix& weights : attended.weights) {
    for (std::size_t r = 0; r < 4; ++r) {
      double sum = 0;
      for (const double w : weights.row(r)) sum += w;
      EXPECT_NEAR(sum, 1.0, 1e-15);
    }
  }
}

TEST_F(WordAttentionTest, OneTokenLooksAtItself) {
  EXPECT_EQ(attend({"alone"}).weights[0].values, std::vector<double>{1.0});
}

// Equal words share equally, wherever they stand.
TEST_F(WordAttentionTest, TheSameWordHasTheSameVectorEverywhere) {
  const Attended attended = attend({"the", "cat", "the", "The"});
  const Matrix& w = attended.weights[0];
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(w(r, 0), w(r, 2));
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(w(0, c), w(2, c));
  EXPECT_NE(w(0, 0), w(0, 3));
}

TEST_F(WordAttentionTest, AWordsQueryDependsOnNoOtherWord) {
  const Attended one = attend({"the", "cat"});
  const Attended other = attend({"a", "cat", "sat"});
  for (std::size_t c = 0; c < one.queries.columns; ++c) EXPECT_EQ(one.queries(1, c), other.queries(1, c));
}

TEST_F(WordAttentionTest, SeedsGiveOtherWeights) {
  EXPECT_NE(attend({"a", "b"}, {.seed = 1}).weights, attend({"a", "b"}, {.seed = 2}).weights);
}

TEST_F(WordAttentionTest, VectorsAndProjectionsHaveTheStatedDeviations) {
  const std::size_t width = 64;
  const Attended attended = attend(Words(1, "x"), {.width = width, .heads = 4, .head_width = 16});
  // A query is a sum of 64 products: of variance |x|^2 * 2 / 80, and |x|^2 is 64 +- 11.
  double squares = 0;
  for (const double q : attended.queries.values) squares += q * q;
  EXPECT_NEAR(squares / 64, 64.0 * 2 / 80, 1.2);
}

TEST_F(WordAttentionTest, AWindowHidesWhatIsFurther) {
  const Attended attended =
      attend({"a", "b", "c", "d"}, {.mask = {.direction = kernels::Direction::bidirectional, .window = 2}});
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) {
      const bool seen = r <= c + 1 && c <= r + 1;
      EXPECT_EQ(attended.weights[0](r, c) > 0, seen) << r << "," << c;
    }
  }
}

TEST_F(WordAttentionTest, WhatIsTooMuchOrNothingIsRefused) {
  const auto kind = [](const WordAttention& options, std::size_t words) {
    return dikkat::testing::error_of([&] { check(options, words); }).kind();
  };
  EXPECT_EQ(kind({}, 0), ErrorKind::usage);
  EXPECT_EQ(kind({}, 100'000), ErrorKind::limit);
  EXPECT_EQ(kind({.heads = 17, .head_width = 1}, 1024), ErrorKind::limit);
  EXPECT_EQ(kind({.heads = 100, .head_width = 100}, 2), ErrorKind::limit);
  EXPECT_EQ(kind({.width = 0}, 2), ErrorKind::usage);
  EXPECT_EQ(kind({.heads = 0}, 2), ErrorKind::usage);
  EXPECT_EQ(kind({.head_width = ~std::size_t{0}}, 2), ErrorKind::usage);
  EXPECT_NO_THROW(check({.heads = 16, .head_width = 8}, 1024));
}

}  // namespace
}  // namespace dikkat::lessons
