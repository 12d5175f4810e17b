#include "dikkat/kernels/optimizer_step.h"

#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

template <class T>
class OptimizerStep : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OptimizerStep, Numbers);

template <class T>
struct State {
  std::vector<T> w, gradient, m, v;

  State(std::mt19937_64& source, std::size_t n)
      : w(random_values<T>(source, n)),
        gradient(random_values<T>(source, n)),
        m(random_values<T>(source, n)),
        v(random_values<T>(source, n)) {
    for (T& value : v) value = std::abs(value);
  }
  void adam(const Executor& executor, const AdamSettings& settings) {
    adam_step(executor, settings, w.data(), gradient.data(), m.data(), v.data(), w.size());
  }
  void sgd(const Executor& executor, const SgdSettings& settings) {
    sgd_step(executor, settings, w.data(), gradient.data(), m.data(), w.size());
  }
  friend bool operator==(const State&, const State&) = default;
};

// Rate 1/2, momentum 1/4, decay 1/2, gradient 4 halved to 2; all exact:
//   v = 8/4 + 2 = 4;  w = 16 - 16/4 = 12, then 12 - 4/2 = 10.
TYPED_TEST(OptimizerStep, SgdWorkedByHand) {
  Pool pool(1);
  TypeParam w = 16;
  TypeParam velocity = 8;
  const TypeParam gradient = 4;
  const SgdSettings settings{.rate = 0.5, .momentum = 0.25, .decay = 0.5, .gradient_factor = 0.5};
  sgd_step(Executor{pool, Bodies::check}, settings, &w, &gradient, &velocity, 1);
  EXPECT_EQ(velocity, 4);
  EXPECT_EQ(w, 10);
}

// Adam 0.1, betas 0.9 and 0.999, epsilon 0, w = 1, gradients 2 and then -1:
//   t = 1: m = 0.2, v = 0.004; m^ = 2, v^ = 4; w = 1 - 0.1 * 2/2 = 0.9
//   t = 2: m = 0.08, v = 0.004996; m^ = 0.08/0.19, v^ = 0.004996/0.001999; w = 0.9 - 0.1 * m^ / sqrt(v^)
TYPED_TEST(OptimizerStep, AdamTwoStepsWorkedByHand) {
  Pool pool(1);
  TypeParam w = 1;
  TypeParam m = 0;
  TypeParam v = 0;
  AdamSettings settings{.rate = 0.1, .epsilon = 0.0};
  // Some ten roundings a step.
  const double tolerance = 20 * std::numeric_limits<TypeParam>::epsilon();
  TypeParam gradient = 2;
  adam_step(Executor{pool, Bodies::check}, settings, &w, &gradient, &m, &v, 1);
  EXPECT_NEAR(w, 0.9, tolerance);
  gradient = -1;
  settings.step = 2;
  adam_step(Executor{pool, Bodies::check}, settings, &w, &gradient, &m, &v, 1);
  EXPECT_NEAR(m, 0.08, tolerance);
  EXPECT_NEAR(v, 0.004996, tolerance);
  // 0.08 / 0.19 = 0.42105263157894737; sqrt(2.499249624812406) = 1.5808936...
  EXPECT_NEAR(w, 0.9 - 0.1 * 0.42105263157894737 / std::sqrt(0.004996 / 0.001999), tolerance);
}

// A gradient of zero leaves only the decay: 1 - 0.25 * 0.5 of the weight, to the bit.
TYPED_TEST(OptimizerStep, AdamWithoutGradientOnlyDecays) {
  Pool pool(1);
  TypeParam w = 3;
  TypeParam m = 0;
  TypeParam v = 0;
  const TypeParam gradient = 0;
  adam_step(Executor{pool, Bodies::check}, {.rate = 0.25, .decay = 0.5}, &w, &gradient, &m, &v, 1);
  EXPECT_EQ(w, TypeParam{2.625});
}

// The factor is one rounded product before anything else.
TYPED_TEST(OptimizerStep, GradientFactorEqualsAScaledGradient) {
  Pool pool(1);
  std::mt19937_64 source(1);
  State<TypeParam> a(source, 77);
  State<TypeParam> b = a;
  for (TypeParam& g : b.gradient) g *= static_cast<TypeParam>(0.3);
  a.adam(Executor{pool}, {.gradient_factor = 0.3, .step = 5});
  b.adam(Executor{pool}, {.step = 5});
  EXPECT_EQ(a.w, b.w);
  EXPECT_EQ(a.m, b.m);
  EXPECT_EQ(a.v, b.v);
}

// The bias corrections of late steps against pow. Squaring lets the relative error of beta^t grow like t, but beta^t
// itself shrinks faster: some 50 roundings of 1 - beta^t at worst.
TYPED_TEST(OptimizerStep, BiasCorrectionHoldsAtLateSteps) {
  Pool pool(1);
  for (const std::uint64_t step : {1U, 2U, 3U, 10U, 999U, 12345U, 4000000000U}) {
    TypeParam w = 0;
    TypeParam m = 0;
    TypeParam v = 0;
    const TypeParam gradient = 1;
    adam_step(Executor{pool}, {.rate = 0.5, .epsilon = 0.0, .step = step}, &w, &gradient, &m, &v, 1);
    const auto t = static_cast<double>(step);
    const double mean = 0.1 / (1 - std::pow(0.9, t));
    const double square = 0.001 / (1 - std::pow(0.999, t));
    EXPECT_NEAR(w * std::sqrt(square) / (-0.5 * mean), 1, 50 * std::numeric_limits<TypeParam>::epsilon()) << step;
  }
}

TYPED_TEST(OptimizerStep, StepZeroIsRefused) {
  Pool pool(1);
  std::mt19937_64 source(2);
  State<TypeParam> state(source, 3);
  EXPECT_THROW(state.adam(Executor{pool}, {.step = 0}), Error);
}

TYPED_TEST(OptimizerStep, ThreadsDoNotChangeABit) {
  std::mt19937_64 source(3);
  const State<TypeParam> start(source, 200'003);
  const auto after = [&](unsigned threads) {
    Pool pool(threads);
    State<TypeParam> state = start;
    state.adam(Executor{pool}, {.decay = 0.1, .gradient_factor = 0.7, .step = 3});
    state.sgd(Executor{pool}, {.momentum = 0.9, .decay = 0.1});
    return state;
  };
  const auto one = after(1);
  EXPECT_NE(one, start);
  EXPECT_EQ(one, after(2));
  EXPECT_EQ(one, after(3));
}

// Elements beyond the end are neither read into a result nor written.
TYPED_TEST(OptimizerStep, NothingBeyondTheEndIsTouched) {
  Pool pool(1);
  std::mt19937_64 source(4);
  for (const auto set : testing::instruction_sets()) {
    for (std::size_t n = 0; n < 40; ++n) {
      State<TypeParam> state(source, 64);
      const State<TypeParam> start = state;
      adam_step(Executor{pool, Bodies::fast, set}, {}, state.w.data(), state.gradient.data(), state.m.data(),
                state.v.data(), n);
      for (std::size_t i = n; i < 64; ++i) {
        ASSERT_EQ(state.w[i], start.w[i]);
        ASSERT_EQ(state.m[i], start.m[i]);
        ASSERT_EQ(state.v[i], start.v[i]);
      }
      if (n != 0) {
        ASSERT_NE(state.w[n - 1], start.w[n - 1]);
      }
    }
  }
}

TYPED_TEST(OptimizerStep, FastEqualsPlainToTheBit) {
  Pool pool(2);
  std::mt19937_64 source(5);
  const auto share = [&] { return static_cast<double>(source() % 1000) / 1000; };
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    State<TypeParam> state(source, testing::random_size(source, 700));
    for (const auto set : testing::instruction_sets()) {
      const Executor check{pool, Bodies::check, set};
      state.adam(check, {.rate = share(),
                         .beta1 = share(),
                         .beta2 = share(),
                         .epsilon = 1e-8 * share(),
                         .decay = share(),
                         .gradient_factor = share(),
                         .step = 1 + source() % 100});
      state.sgd(check, {.rate = share(), .momentum = share(), .decay = share(), .gradient_factor = share()});
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
