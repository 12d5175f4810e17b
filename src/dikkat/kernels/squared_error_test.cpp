#include "dikkat/kernels/squared_error.h"

#include <cmath>
#include <limits>

#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

template <class T>
struct SquaredErrors {
  std::vector<T> loss, d_outputs;
};

template <class T>
SquaredErrors<T> run_squared(const Executor& executor, const std::vector<T>& outputs,
                             const std::vector<double>& targets, double scale = 1) {
  SquaredErrors<T> r = {std::vector<T>(targets.size()), outputs};
  squared_error_forward(executor, outputs.data(), targets.data(), r.loss.data(), targets.size());
  squared_error_backward(executor, r.d_outputs.data(), targets.data(), r.d_outputs.data(), targets.size(), scale);
  return r;
}

template <class T>
class SquaredError : public ::testing::Test {
 protected:
  Pool pool{1};
  Executor executor{pool};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SquaredError, Numbers);

// Misses of 0, 1.5, -2 and 3: squares 0, 2.25, 4, 9; gradients 2 d / 4.
TYPED_TEST(SquaredError, KnownMisses) {
  const auto r = run_squared<TypeParam>(this->executor, {1, 2, -1, 3}, {1, 0.5, 1, 0}, 0.25);
  EXPECT_EQ(r.loss, (std::vector<TypeParam>{0, 2.25, 4, 9}));
  EXPECT_EQ(r.d_outputs, (std::vector<TypeParam>{0, 0.75, -1, 1.5}));
}

// 0.1 is no binary fraction: the target is rounded to the number of the outputs, so an exact hit costs nothing.
TYPED_TEST(SquaredError, TargetsAreRoundedToTheNumber) {
  const auto r = run_squared<TypeParam>(this->executor, {static_cast<TypeParam>(0.1)}, {0.1});
  EXPECT_EQ(r.loss[0], 0);
  EXPECT_EQ(r.d_outputs[0], 0);
}

TYPED_TEST(SquaredError, WhatIsNoNumberStaysNoneAndNothingIsNothing) {
  EXPECT_TRUE(
      std::isnan(run_squared<TypeParam>(this->executor, {std::numeric_limits<TypeParam>::quiet_NaN()}, {1}).loss[0]));
  EXPECT_TRUE(run_squared<TypeParam>(this->executor, {}, {}).loss.empty());
}

TYPED_TEST(SquaredError, InstructionSetsAreEqualToTheBit) {
  std::mt19937_64 draw(1);
  const auto outputs = testing::random_values<TypeParam>(draw, 500, 6);
  const auto targets = testing::random_values<double>(draw, 500, 6);
  for (const auto set : testing::instruction_sets()) {
    const auto expected = run_squared(this->executor, outputs, targets, 1.0 / 7);
    const auto seen = run_squared(Executor{this->pool, Bodies::fast, set}, outputs, targets, 1.0 / 7);
    EXPECT_EQ(seen.loss, expected.loss);
    EXPECT_EQ(seen.d_outputs, expected.d_outputs);
  }
}

}  // namespace
}  // namespace dikkat::kernels
