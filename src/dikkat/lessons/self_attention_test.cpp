// The mechanism alone: laws of attention on matrices, and PyTorch's MultiheadAttention (self_attention_more.json, made
// by make_self_attention_more.py beside it).
#include "dikkat/lessons/self_attention.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "dikkat/base/testing.h"
#include "dikkat/random/numpy_compatible.h"

namespace dikkat::lessons {
namespace {

class SelfAttentionTest : public ::testing::Test {
 protected:
  Matrix random(std::size_t rows, std::size_t columns, double deviation = 1.0) {
    Matrix matrix(rows, columns);
    generator_.fill_normal(deviation, matrix.values);
    return matrix;
  }
  Projections projections(std::size_t width, std::size_t keys, std::size_t values) {
    return {random(width, keys), random(width, keys), random(width, values)};
  }

  random::NumpyGenerator generator_{std::uint64_t{5}};
  Pool pool_{1};
  kernels::Executor executor_{.pool = pool_, .bodies = kernels::Bodies::check};
};

TEST_F(SelfAttentionTest, SoftmaxOfTheDocumentsLogits) {
  Matrix logits(1, 3);
  logits.values = {2.0, 1.0, 0.1};
  const Matrix weights = softmax(executor_, logits);
  EXPECT_NEAR(weights(0, 0), 0.65900114, 5e-9);
  EXPECT_NEAR(weights(0, 1), 0.24243297, 5e-9);
  EXPECT_NEAR(weights(0, 2), 0.09856589, 5e-9);
}

// By hand: scores of the only query are 1 * 1 / sqrt(1) and 1 * 0; e / (e + 1) of the first value and the rest of the
// second.
TEST_F(SelfAttentionTest, TwoTokensByHand) {
  Matrix x(2, 1);
  x.values = {1.0, 0.0};
  Matrix one(1, 1);
  one.values = {1.0};
  Matrix ten(1, 1);
  ten.values = {10.0};
  const Attended attended = self_attention(executor_, x, {one, one, ten});
  const double share = std::exp(1.0) / (std::exp(1.0) + 1);
  EXPECT_NEAR(attended.weights[0](0, 0), share, 1e-15);
  EXPECT_NEAR(attended.output(0, 0), 10 * share, 1e-14);
  EXPECT_EQ(attended.weights[0](1, 0), 0.5);
  EXPECT_EQ(attended.output(1, 0), 5.0);
}

TEST_F(SelfAttentionTest, ShapesAreThoseOfTheFormula) {
  const Attended attended = self_attention(executor_, random(5, 7), projections(7, 3, 2));
  EXPECT_EQ(attended.queries.columns, 3U);
  EXPECT_EQ(attended.keys.columns, 3U);
  EXPECT_EQ(attended.values.columns, 2U);
  ASSERT_EQ(attended.weights.size(), 1U);
  EXPECT_EQ(attended.weights[0].rows, 5U);
  EXPECT_EQ(attended.weights[0].columns, 5U);
  EXPECT_EQ(attended.output.rows, 5U);
  EXPECT_EQ(attended.output.columns, 2U);
}

TEST_F(SelfAttentionTest, WeightsAreSoftmaxOfTheScores) {
  const Attended attended = self_attention(executor_, random(6, 8), projections(8, 4, 4));
  EXPECT_EQ(softmax(executor_, scores_of(executor_, attended, {})), attended.weights[0]);
}

TEST_F(SelfAttentionTest, EachOfSeveralHeadsIsAnAttentionOfItsOwn) {
  const Matrix x = random(6, 12);
  const Projections whole = projections(12, 12, 12);
  const Attended all = self_attention(executor_, x, whole, {.heads = 3});
  for (std::size_t h = 0; h < 3; ++h) {
    const auto chunk = [&](const Matrix& matrix) {
      Matrix part(12, 4);
      for (std::size_t r = 0; r < 12; ++r) {
        for (std::size_t c = 0; c < 4; ++c) part(r, c) = matrix(r, 4 * h + c);
      }
      return part;
    };
    const Attended one = self_attention(executor_, x, {chunk(whole.query), chunk(whole.key), chunk(whole.value)});
    EXPECT_EQ(one.weights[0], all.weights[h]);
    EXPECT_EQ(softmax(executor_, scores_of(executor_, all, {.heads = 3}, h)), all.weights[h]);
    for (std::size_t r = 0; r < 6; ++r) {
      for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(one.output(r, c), all.heads(r, 4 * h + c));
    }
  }
}

TEST_F(SelfAttentionTest, MaskedWeightsAreExactlyZeroAndTheFirstOutputIsTheFirstValue) {
  const Attended attended = self_attention(executor_, random(6, 8), projections(8, 4, 4),
                                           {.mask = {.direction = kernels::Direction::causal}});
  for (std::size_t r = 0; r < 6; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < 6; ++c) {
      if (c > r) {
        EXPECT_EQ(attended.weights[0](r, c), 0.0);
      } else {
        EXPECT_GT(attended.weights[0](r, c), 0.0);
      }
      sum += attended.weights[0](r, c);
    }
    EXPECT_NEAR(sum, 1.0, 1e-15);
  }
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(attended.output(0, c), attended.values(0, c));
}

TEST_F(SelfAttentionTest, UnequalWidthsOfQueriesAndKeysAreRefused) {
  const Projections wrong{random(8, 4), random(8, 3), random(8, 4)};
  EXPECT_EQ(dikkat::testing::error_of([&] { (void)self_attention(executor_, random(2, 8), wrong); }).kind(),
            ErrorKind::internal);
  EXPECT_EQ(dikkat::testing::error_of([&] {
              (void)self_attention(executor_, random(2, 8), projections(8, 4, 4), {.heads = 3});
            }).kind(),
            ErrorKind::internal);
}

TEST_F(SelfAttentionTest, EntropyOfEqualWeightsIsTheLogarithmOfTheirNumber) {
  Matrix weights(2, 4);
  weights.values = {0.25, 0.25, 0.25, 0.25, 1, 0, 0, 0};
  EXPECT_NEAR(mean_row_entropy(executor_, weights), std::log(4.0) / 2, 1e-15);
}

TEST_F(SelfAttentionTest, DistanceAndRowMaximaByHand) {
  Matrix a(2, 2);
  Matrix b(2, 2);
  a.values = {0.25, 0.75, 0.5, 0.5};
  b.values = {0.75, 0.25, 0.5, 0.25};
  EXPECT_EQ(distance(a, b).largest, 0.5);
  EXPECT_EQ(distance(a, b).mean, 0.3125);
  EXPECT_EQ(row_maxima(a), (std::vector<std::size_t>{1, 0}));
}

TEST_F(SelfAttentionTest, MeansAndRowsByHand) {
  Matrix a(2, 1);
  Matrix b(2, 1);
  a.values = {1, 3};
  b.values = {3, 9};
  EXPECT_EQ(mean_of(std::array{a, b}).values, (std::vector<double>{2, 6}));
  EXPECT_EQ(rows_in_order(a, std::array<std::size_t, 2>{1, 0}).values, (std::vector<double>{3, 1}));
  EXPECT_EQ(side_by_side(std::array{a, b}).values, (std::vector<double>{1, 3, 3, 9}));
}

}  // namespace
}  // namespace dikkat::lessons
