#include "dikkat/kernels/activation.h"

#include <cmath>
#include <limits>

#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu};

template <class T>
class ActivationOf : public ::testing::Test {
 protected:
  Pool pool{1};
  Executor check{pool, Bodies::check};

  std::vector<T> forward(Activation activation, std::vector<T> x) {
    activation_forward(check, activation, x.data(), x.data(), 1, x.size());
    return x;
  }
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ActivationOf, Numbers);

// The header's formulas as they stand, by libm.
double formula(Activation activation, double x) {
  const double pi = std::acos(-1.0);
  switch (activation) {
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::gelu: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh: return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x / (1 + std::exp(-x));
    case Activation::swiglu: break;  // of two columns: SwigluMultipliesUpByTheGate
  }
  return 0;
}

TYPED_TEST(ActivationOf, EqualsItsFormula) {
  // The formula's own cancellation below zero is some units of epsilon of 1, times |x|.
  const double tolerance = 8 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  std::mt19937_64 draw(1);
  for (const auto activation : kActivations) {
    const auto x = random_values<TypeParam>(draw, 1000, 9);
    const auto y = this->forward(activation, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<double>(x[i]);
      EXPECT_NEAR(static_cast<double>(y[i]), formula(activation, at), tolerance * std::max(1.0, std::fabs(at)));
    }
  }
}

// gelu(1) = 0.5 (1 + erf(sqrt(1/2))) is the normal distribution function at 1; silu(1) = e / (1 + e).
TYPED_TEST(ActivationOf, KnownValues) {
  EXPECT_NEAR(static_cast<double>(this->forward(Activation::gelu, {1})[0]), 0.841344746068543, 1e-7);
  EXPECT_NEAR(static_cast<double>(this->forward(Activation::gelu_tanh, {1})[0]), 0.841191990608276, 1e-7);
  EXPECT_NEAR(static_cast<double>(this->forward(Activation::silu, {1})[0]), 0.731058578630005, 1e-7);
}

TYPED_TEST(ActivationOf, ZeroStaysZero) {
  for (const auto activation : kActivations) EXPECT_EQ(this->forward(activation, {0})[0], 0);
}

TYPED_TEST(ActivationOf, LargeValuesPassAndLargeNegativeOnesVanish) {
  for (const auto activation : kActivations) {
    const auto y = this->forward(activation, {1000, -1000});
    EXPECT_EQ(y[0], 1000);
    EXPECT_EQ(y[1], 0);
  }
}

TYPED_TEST(ActivationOf, ReluHasNoSlopeAtZeroAndBelow) {
  const std::vector<TypeParam> x = {-1, 0, 2}, dy = {5, 6, 7};
  std::vector<TypeParam> dx = {1, 1, 1};
  activation_backward(this->check, Activation::relu, x.data(), dy.data(), dx.data(), 1, 3, Store::add);
  EXPECT_EQ(dx, (std::vector<TypeParam>{1, 1, 8}));
}

TYPED_TEST(ActivationOf, EmptyIsNothing) {
  TypeParam untouched = 3;
  activation_forward(this->check, Activation::gelu, &untouched, &untouched, 0, 3);
  activation_backward(this->check, Activation::gelu, &untouched, &untouched, &untouched, 3, 0, Store::add);
  activation_forward(this->check, Activation::swiglu, &untouched, &untouched, 4, 0);
  activation_backward(this->check, Activation::swiglu, &untouched, &untouched, &untouched, 0, 4, Store::add);
  EXPECT_EQ(untouched, 3);
}

// silu(gate) up, by hand: gate 0 shuts, a large gate passes itself.
TYPED_TEST(ActivationOf, SwigluMultipliesUpByTheGate) {
  const std::vector<TypeParam> x = {0, 1000, 3, 5};
  std::vector<TypeParam> y(2);
  activation_forward(this->check, Activation::swiglu, x.data(), y.data(), 1, 2);
  EXPECT_EQ(y, (std::vector<TypeParam>{0, 5000}));
}

// Central differences in double: the step's cube against rounding gives some 1e-9 here.
constexpr double kGradientStep = 1e-5, kGradientTolerance = 1e-8;

TEST(ActivationGradient, EqualsFiniteDifferences) {
  Pool pool(1);
  const Executor executor{pool};
  std::mt19937_64 draw(2);
  for (const auto activation : kActivations) {
    for (const double x : random_values<double>(draw, 50, 5)) {
      const double around[] = {x + kGradientStep, x - kGradientStep};
      double y[2], dx = 0;
      const double dy = 1.5;
      activation_forward(executor, activation, around, y, 1, 2);
      activation_backward(executor, activation, &x, &dy, &dx, 1, 1, Store::assign);
      EXPECT_NEAR(dx, dy * (y[0] - y[1]) / (2 * kGradientStep), kGradientTolerance);
    }
  }
}

TEST(ActivationGradient, OfSwigluEqualsFiniteDifferences) {
  Pool pool(1);
  const Executor executor{pool};
  std::mt19937_64 draw(3);
  constexpr std::size_t kRows = 3, kWidth = 7;
  auto x = random_values<double>(draw, kRows * 2 * kWidth, 4);
  const auto dy = random_values<double>(draw, kRows * kWidth);
  std::vector<double> dx(x.size()), y(dy.size());
  activation_backward(executor, Activation::swiglu, x.data(), dy.data(), dx.data(), kRows, kWidth, Store::assign);
  const auto loss = [&] {
    activation_forward(executor, Activation::swiglu, x.data(), y.data(), kRows, kWidth);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
    return sum;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double kept = x[i];
    x[i] = kept + kGradientStep;
    const double above = loss();
    x[i] = kept - kGradientStep;
    const double below = loss();
    x[i] = kept;
    EXPECT_NEAR(dx[i], (above - below) / (2 * kGradientStep), kGradientTolerance);
  }
}

TYPED_TEST(ActivationOf, FastEqualsPlainToTheBit) {
  Pool two(2);
  std::mt19937_64 draw(4);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t rows = testing::random_size(draw, 20);
    const std::size_t width = testing::random_size(draw, 200);
    const double spread = draw() % 4 == 0 ? 200.0 : 4.0;
    const auto x = random_values<TypeParam>(draw, rows * 2 * width, spread);
    const auto dy = random_values<TypeParam>(draw, rows * 2 * width);
    auto dx = random_values<TypeParam>(draw, rows * 2 * width);
    std::vector<TypeParam> y(x.size());
    const Store store = draw() % 2 == 0 ? Store::add : Store::assign;
    for (const auto set : testing::instruction_sets()) {
      const Executor both{two, Bodies::check, set};
      for (const auto activation : kActivations) {
        activation_forward(both, activation, x.data(), y.data(), 1, x.size());
        activation_backward(both, activation, x.data(), dy.data(), dx.data(), 1, x.size(), store);
      }
      activation_forward(both, Activation::swiglu, x.data(), y.data(), rows, width);
      activation_backward(both, Activation::swiglu, x.data(), dy.data(), dx.data(), rows, width, store);
    }
  }
}

TYPED_TEST(ActivationOf, ThreadsDoNotMatter) {
  std::mt19937_64 draw(5);
  constexpr std::size_t kRows = 101, kWidth = 499;
  const auto x = random_values<TypeParam>(draw, kRows * 2 * kWidth, 4);
  const auto dy = random_values<TypeParam>(draw, x.size());
  std::vector<std::vector<TypeParam>> seen;
  for (const unsigned threads : {1U, 2U, 3U}) {
    Pool several(threads);
    const Executor executor{several};
    std::vector<TypeParam> all;
    const auto keep = [&](const std::vector<TypeParam>& v) { all.insert(all.end(), v.begin(), v.end()); };
    std::vector<TypeParam> y(x.size()), dx(x.size());
    for (const auto activation : kActivations) {
      activation_forward(executor, activation, x.data(), y.data(), 1, x.size());
      activation_backward(executor, activation, x.data(), dy.data(), dx.data(), 1, x.size(), Store::assign);
      keep(y);
      keep(dx);
    }
    activation_forward(executor, Activation::swiglu, x.data(), y.data(), kRows, kWidth);
    activation_backward(executor, Activation::swiglu, x.data(), dy.data(), dx.data(), kRows, kWidth, Store::assign);
    keep(y);
    keep(dx);
    seen.push_back(all);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

// A fault upstream must reach the loss, where the guard looks.
TEST(Activation, ReluPassesNanOn) {
  Pool pool(1);
  for (const auto set : testing::instruction_sets()) {
    const std::vector<float> x(20, std::numeric_limits<float>::quiet_NaN());
    std::vector<float> y(20);
    activation_forward(Executor{pool, Bodies::check, set}, Activation::relu, x.data(), y.data(), 1, x.size());
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace dikkat::kernels
