#include "dikkat/kernels/cross_entropy.h"

#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

template <class T>
struct Losses {
  std::vector<T> loss, max, sum, d_logits;
};

template <class T>
Losses<T> run(const Executor& executor, const std::vector<T>& logits, const std::vector<std::int32_t>& targets,
              double scale = 1) {
  const std::size_t rows = targets.size();
  const std::size_t vocabulary = rows == 0 ? 0 : logits.size() / rows;
  Losses<T> r = {std::vector<T>(rows), std::vector<T>(rows), std::vector<T>(rows), logits};
  cross_entropy_forward(executor, logits.data(), targets.data(), r.loss.data(), r.max.data(), r.sum.data(), rows,
                        vocabulary);
  cross_entropy_backward(executor, r.d_logits.data(), targets.data(), r.max.data(), r.sum.data(), r.d_logits.data(),
                         rows, vocabulary, scale);
  return r;
}

template <class T>
class CrossEntropy : public ::testing::Test {
 protected:
  Pool pool{1};
  Executor check{pool, Bodies::check};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CrossEntropy, Numbers);

// All logits equal: every answer costs log V, whatever the logits are.
TYPED_TEST(CrossEntropy, UniformRowCostsLogOfTheVocabulary) {
  const double tolerance = 4 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  const auto r = run<TypeParam>(this->check, {0, 0, 0, 0, 0, 7, 7, 7, 7, 7}, {0, 4});
  EXPECT_NEAR(static_cast<double>(r.loss[0]), std::log(5.0), tolerance);
  EXPECT_NEAR(static_cast<double>(r.loss[1]), std::log(5.0), 8 * tolerance);
}

// By hand: log(e^2 + e^1 + e^0.1) - 2 = -log 0.65900114; gradient softmax less one at the target, times 1/2.
TYPED_TEST(CrossEntropy, KnownRow) {
  const auto r = run<TypeParam>(this->check, {2, 1, static_cast<TypeParam>(0.1)}, {0}, 0.5);
  EXPECT_NEAR(static_cast<double>(r.loss[0]), 0.41703002, 0x1p-22);  // a float's last place at log Z + m = 2.4
  EXPECT_NEAR(static_cast<double>(r.d_logits[0]), (0.65900114 - 1) / 2, 1e-7);
  EXPECT_NEAR(static_cast<double>(r.d_logits[1]), 0.24243297 / 2, 1e-7);
  EXPECT_NEAR(static_cast<double>(r.d_logits[2]), 0.09856589 / 2, 1e-7);
}

TYPED_TEST(CrossEntropy, GradientRowsSumToZero) {
  std::mt19937_64 draw(1);
  const auto r = run(this->check, random_values<TypeParam>(draw, 4 * 65, 5), {0, 64, 17, 3});
  for (std::size_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (std::size_t v = 0; v < 65; ++v) sum += static_cast<double>(r.d_logits[row * 65 + v]);
    EXPECT_NEAR(sum, 0, 8 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
  }
}

TYPED_TEST(CrossEntropy, RowWithoutTargetHasNoLossAndNoGradient) {
  const auto r = run<TypeParam>(this->check, {1, 2, 3, 4}, {kNoTarget, 1});
  EXPECT_EQ(r.loss[0], 0);
  EXPECT_EQ(r.d_logits[0], 0);
  EXPECT_EQ(r.d_logits[1], 0);
  EXPECT_NE(r.d_logits[2], 0);
}

TYPED_TEST(CrossEntropy, CertainAnswerCostsNothingAndHugeMissIsFinite) {
  const auto r = run<TypeParam>(this->check, {10000, 0, 10000, 0}, {0, 1});
  EXPECT_EQ(r.loss[0], 0);
  EXPECT_EQ(r.d_logits[0], 0);
  EXPECT_EQ(r.loss[1], 10000);
  EXPECT_EQ(r.d_logits[2], 1);
  EXPECT_EQ(r.d_logits[3], -1);
}

TYPED_TEST(CrossEntropy, ImpossibleAnswersHaveNoWeight) {
  constexpr TypeParam none = -std::numeric_limits<TypeParam>::infinity();
  const auto r = run<TypeParam>(this->check, {none, 3, none}, {1});
  EXPECT_EQ(r.loss[0], 0);
  EXPECT_EQ(r.d_logits, (std::vector<TypeParam>{0, 0, 0}));
}

TYPED_TEST(CrossEntropy, VocabularyOfOneIsCertain) {
  const auto r = run<TypeParam>(this->check, {-5}, {0});
  EXPECT_EQ(r.loss[0], 0);
  EXPECT_EQ(r.d_logits[0], 0);
}

// Both zeros are the largest; the saved maximum has one sign on every path (check compares bytes).
TYPED_TEST(CrossEntropy, SignOfAZeroMaximumIsSettled) {
  std::vector<TypeParam> logits(40, TypeParam{-0.0});
  logits[0] = 0;
  EXPECT_FALSE(std::signbit(run<TypeParam>(this->check, logits, {0}).max[0]));
}

TYPED_TEST(CrossEntropy, NoRowsIsNothing) { EXPECT_TRUE(run<TypeParam>(this->check, {}, {}).loss.empty()); }

TYPED_TEST(CrossEntropy, TargetOutsideIsRefused) {
  for (const std::int32_t target : {2, -2, std::numeric_limits<std::int32_t>::max()}) {
    try {
      (void)run<TypeParam>(this->check, {1, 2}, {target});
      ADD_FAILURE() << target;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::internal);
    }
  }
}

// Central differences in double: the step's cube against rounding gives some 1e-10 here.
TEST(CrossEntropyGradient, EqualsFiniteDifferences) {
  constexpr double kStep = 1e-5, kTolerance = 1e-9, kScale = 0.25;
  Pool pool(1);
  const Executor executor{pool};
  std::mt19937_64 draw(2);
  auto logits = random_values<double>(draw, 3 * 19, 3);
  const std::vector<std::int32_t> targets = {0, kNoTarget, 18};
  const auto gradient = run(executor, logits, targets, kScale).d_logits;
  const auto loss = [&] {
    const auto r = run(executor, logits, targets);
    return kScale * (r.loss[0] + r.loss[1] + r.loss[2]);
  };
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double kept = logits[i];
    logits[i] = kept + kStep;
    const double above = loss();
    logits[i] = kept - kStep;
    const double below = loss();
    logits[i] = kept;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), kTolerance);
  }
}

TYPED_TEST(CrossEntropy, FastEqualsPlainToTheBit) {
  Pool two(2);
  std::mt19937_64 draw(3);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t rows = testing::random_size(draw, 20);
    const std::size_t vocabulary = 1 + testing::random_size(draw, 300);
    const auto logits = random_values<TypeParam>(draw, rows * vocabulary, draw() % 4 == 0 ? 200.0 : 4.0);
    std::vector<std::int32_t> targets(rows);
    for (auto& target : targets) target = static_cast<std::int32_t>(draw() % (vocabulary + 1)) - 1;
    for (const auto set : testing::instruction_sets()) {
      (void)run(Executor{two, Bodies::check, set}, logits, targets, 1.0 / 7);
    }
  }
}

TYPED_TEST(CrossEntropy, ThreadsDoNotMatter) {
  std::mt19937_64 draw(4);
  const auto logits = random_values<TypeParam>(draw, 211 * 257, 5);
  std::vector<std::int32_t> targets(211);
  for (auto& target : targets) target = static_cast<std::int32_t>(draw() % 257);
  std::vector<Losses<TypeParam>> seen;
  for (const unsigned threads : {1U, 2U, 3U}) {
    Pool several(threads);
    seen.push_back(run(Executor{several}, logits, targets, 0.1));
  }
  for (const std::size_t other : {1U, 2U}) {
    EXPECT_EQ(seen[0].loss, seen[other].loss);
    EXPECT_EQ(seen[0].d_logits, seen[other].d_logits);
  }
}

}  // namespace
}  // namespace dikkat::kernels
