#include "dikkat/kernels/logistic_loss.h"

#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/base/testing.h"
#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

template <class T>
struct LogisticLosses {
  std::vector<T> loss, d_logits;
};

template <class T>
LogisticLosses<T> run_logistic(const Executor& executor, const std::vector<T>& logits,
                               const std::vector<std::int32_t>& targets, double scale = 1) {
  LogisticLosses<T> r = {std::vector<T>(targets.size()), logits};
  logistic_loss_forward(executor, logits.data(), targets.data(), r.loss.data(), targets.size());
  logistic_loss_backward(executor, r.d_logits.data(), targets.data(), r.d_logits.data(), targets.size(), scale);
  return r;
}

template <class T>
class LogisticLoss : public ::testing::Test {
 protected:
  static constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
  Pool pool{1};
  Executor executor{pool};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LogisticLoss, Numbers);

// log(1 + e^-2) = 0.12692801104297252 and 2 more on the wrong side; sigma(2) = 0.88079707797788243.
TYPED_TEST(LogisticLoss, KnownLogits) {
  const auto r = run_logistic<TypeParam>(this->executor, {0, 0, 2, 2, -2, -2}, {0, 1, 1, 0, 0, 1}, 0.5);
  const double losses[] = {std::log(2.0),      std::log(2.0),       0.12692801104297252,
                           2.1269280110429727, 0.12692801104297252, 2.1269280110429727};
  const double gradients[] = {
      0.5, -0.5, -0.11920292202211757, 0.88079707797788243, 0.11920292202211757, -0.88079707797788243};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(static_cast<double>(r.loss[i]), losses[i], 4 * this->kEpsilon) << i;
    EXPECT_NEAR(static_cast<double>(r.d_logits[i]), 0.5 * gradients[i], 2 * this->kEpsilon) << i;
  }
}

// What a softmax over the logits 0 and z says.
TYPED_TEST(LogisticLoss, IsTheCrossEntropyOfTwoClasses) {
  for (const double z : {-30.0, -3.5, -0.25, 0.0, 1.0, 12.0}) {
    for (const std::int32_t target : {0, 1}) {
      const auto r = run_logistic<TypeParam>(this->executor, {static_cast<TypeParam>(z)}, {target});
      const TypeParam two[] = {0, static_cast<TypeParam>(z)};
      TypeParam loss, max, sum, d[2];
      cross_entropy_forward(this->executor, two, &target, &loss, &max, &sum, 1, 2);
      cross_entropy_backward(this->executor, two, &target, &max, &sum, d, 1, 2, 1.0);
      EXPECT_NEAR(static_cast<double>(r.loss[0]), static_cast<double>(loss), 64 * this->kEpsilon) << z;
      EXPECT_NEAR(static_cast<double>(r.d_logits[0]), static_cast<double>(d[1]), 4 * this->kEpsilon) << z;
    }
  }
}

// p - y would be nothing but rounding here: 1 - 1 at z = 40 in double.
TYPED_TEST(LogisticLoss, ASureAnswerKeepsItsSmallGradient) {
  const auto r = run_logistic<TypeParam>(this->executor, {40, -40}, {1, 0});
  const double tail = 4.2483542552915889e-18;  // e^-40
  EXPECT_NEAR(static_cast<double>(r.d_logits[0]) / -tail, 1, 8 * this->kEpsilon);
  EXPECT_NEAR(static_cast<double>(r.d_logits[1]) / tail, 1, 8 * this->kEpsilon);
}

TYPED_TEST(LogisticLoss, HugeMissIsFiniteAndCertaintyIsFree) {
  constexpr TypeParam infinite = std::numeric_limits<TypeParam>::infinity();
  const auto r = run_logistic<TypeParam>(this->executor, {10000, -10000, 10000, infinite, -infinite}, {0, 1, 1, 1, 0});
  EXPECT_EQ(r.loss, (std::vector<TypeParam>{10000, 10000, 0, 0, 0}));
  EXPECT_EQ(r.d_logits, (std::vector<TypeParam>{1, -1, 0, 0, 0}));
}

TYPED_TEST(LogisticLoss, WhatIsNoNumberStaysNone) {
  const auto r = run_logistic<TypeParam>(this->executor, {std::numeric_limits<TypeParam>::quiet_NaN()}, {1});
  EXPECT_TRUE(std::isnan(r.loss[0]));
  EXPECT_TRUE(std::isnan(r.d_logits[0]));
}

TYPED_TEST(LogisticLoss, SampleWithoutTargetHasNoLossAndNoGradient) {
  const auto r = run_logistic<TypeParam>(this->executor, {3, 3}, {kNoTarget, 0});
  EXPECT_EQ(r.loss[0], 0);
  EXPECT_EQ(r.d_logits[0], 0);
  EXPECT_NE(r.d_logits[1], 0);
  EXPECT_TRUE(run_logistic<TypeParam>(this->executor, {}, {}).loss.empty());
}

TYPED_TEST(LogisticLoss, TargetOfNoClassIsRefused) {
  for (const std::int32_t target : {2, -2, std::numeric_limits<std::int32_t>::max()}) {
    const Error error = dikkat::testing::error_of([&] {
      (void)run_logistic<TypeParam>(this->executor, {0, 1}, {0, target});
    });
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_EQ(error.message(), "logistic_loss: target of no class; got " + std::to_string(target) +
                                   " for sample 1, expected 0, 1 or -1");
  }
}

TYPED_TEST(LogisticLoss, InstructionSetsAreEqualToTheBit) {
  std::mt19937_64 draw(1);
  const auto logits = testing::random_values<TypeParam>(draw, 500, 60);
  std::vector<std::int32_t> targets(500);
  for (auto& target : targets) target = static_cast<std::int32_t>(draw() % 3) - 1;
  for (const auto set : testing::instruction_sets()) {
    const auto expected = run_logistic(this->executor, logits, targets, 1.0 / 7);
    const auto seen = run_logistic(Executor{this->pool, Bodies::fast, set}, logits, targets, 1.0 / 7);
    EXPECT_EQ(seen.loss, expected.loss);
    EXPECT_EQ(seen.d_logits, expected.d_logits);
  }
}

}  // namespace
}  // namespace dikkat::kernels
