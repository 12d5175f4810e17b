#include "dikkat/train/series_evaluator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dikkat/base/parallel.h"

namespace dikkat::train {
namespace {

TEST(ClassOf, OneLogitSpeaksForTheSecondClassAboveZero) {
  const auto of = [](std::vector<double> outputs) { return class_of(outputs); };
  EXPECT_EQ(of({0.1}), 1U);
  EXPECT_EQ(of({0.0}), 0U);
  EXPECT_EQ(of({-3.0}), 0U);
  EXPECT_EQ(of({1.0, 4.0, 4.0}), 1U);  // the first of equals
}

TEST(ClassProbabilities, AreTheLogisticFunctionOrSoftmax) {
  Pool pool(1);
  const kernels::Executor executor{pool};
  const std::vector<double> one{2.0};
  const auto two = class_probabilities(executor, one);
  EXPECT_NEAR(two[1], 0.8807970779778823, 1e-15);  // 1 / (1 + e^-2)
  EXPECT_NEAR(two[0], 0.11920292202211755, 1e-15);
  const std::vector<double> logits{std::log(1.0), std::log(2.0), std::log(5.0)};
  const auto three = class_probabilities(executor, logits);
  EXPECT_NEAR(three[0], 0.125, 1e-15);
  EXPECT_NEAR(three[1], 0.25, 1e-15);
  EXPECT_NEAR(three[2], 0.625, 1e-15);
  const std::vector<double> far{-800.0};
  EXPECT_EQ(class_probabilities(executor, far)[0], 1.0);
}

// Ten series of three classes: a 4 (3 right, 1 said c), b 4 (2 right, 2 said a), c 2 (1 right, 1 said b).
TEST(ClassScores, AreCountedFromTheConfusion) {
  SeriesOutputs outputs{.outputs = 3, .values = {}, .losses = std::vector<double>(10, 0.5)};
  outputs.losses[0] = 1.5;
  const std::vector<std::int32_t> truth{0, 0, 0, 0, 1, 1, 1, 1, 2, 2};
  const std::vector<std::size_t> said{0, 0, 0, 2, 1, 1, 0, 0, 2, 1};
  for (const std::size_t c : said) {
    for (std::size_t k = 0; k < 3; ++k) outputs.values.push_back(k == c ? 1 : 0);
  }
  const ClassScores scores = class_scores(outputs, truth, 3);
  EXPECT_EQ(scores.confusion, (std::vector<std::vector<std::size_t>>{{3, 0, 1}, {2, 2, 0}, {0, 1, 1}}));
  EXPECT_EQ(scores.right, 6U);
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.6);
  EXPECT_DOUBLE_EQ(scores.loss_nats, 0.6);
  // F1: a 2*3/(4+5), b 2*2/(4+3), c 2*1/(2+2)
  EXPECT_DOUBLE_EQ(scores.macro_f1, (6.0 / 9 + 4.0 / 7 + 2.0 / 4) / 3);
  EXPECT_EQ(scores.most_frequent, 0U);
  EXPECT_DOUBLE_EQ(scores.most_frequent_share, 0.4);
}

TEST(ClassScores, AClassThatIsNeitherThereNorSaidDoesNotCount) {
  const SeriesOutputs outputs{.outputs = 3, .values = {1, 0, 0, 0, 1, 0}, .losses = {0, 0}};
  const std::vector<std::int32_t> truth{0, 1};
  EXPECT_DOUBLE_EQ(class_scores(outputs, truth, 3).macro_f1, 1.0);
}

// Labels 10, 14, 18 of mean 14 and deviation 4 in training: standardised -1, 0, 1; said -0.5, 0, 2.
TEST(NumberScores, AreInTheLabelsUnit) {
  data::SeriesCoding coding;
  coding.target = data::SeriesTarget::number;
  coding.target_mean = 14;
  coding.target_deviation = 4;
  const SeriesOutputs outputs{.outputs = 1, .values = {-0.5, 0, 2}, .losses = {0.25, 0, 1}};
  const std::vector<double> numbers{-1, 0, 1};
  const NumberScores scores = number_scores(outputs, numbers, coding);
  EXPECT_DOUBLE_EQ(scores.loss, 1.25 / 3);
  EXPECT_DOUBLE_EQ(scores.root_mean_square_error, 4 * std::sqrt(1.25 / 3));
  EXPECT_DOUBLE_EQ(scores.mean_absolute_error, 4 * 0.5);
  EXPECT_DOUBLE_EQ(scores.error_of_the_mean, 4 * std::sqrt(2.0 / 3));
  EXPECT_DOUBLE_EQ(scores.r2, 1 - 1.25 / 2);
}

}  // namespace
}  // namespace dikkat::train
