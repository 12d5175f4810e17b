#include "dikkat/kernels/softmax.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "dikkat/kernels/lanes_testing.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

template <class T>
std::vector<T> softmax(std::vector<T> x, std::size_t rows, Bodies bodies = Bodies::check) {
  Pool pool(1);
  std::vector<T> y(x.size());
  softmax_forward(Executor{pool, bodies}, x.data(), y.data(), rows, x.size() / rows);
  return y;
}

template <class T>
class Softmax : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Softmax, Numbers);

// By hand: e^2, e^1, e^0.1 over their sum.
TYPED_TEST(Softmax, KnownRow) {
  const auto y = softmax<TypeParam>({2.0, TypeParam{1.0}, static_cast<TypeParam>(0.1)}, 1);
  EXPECT_NEAR(y[0], 0.65900114, 5e-8);
  EXPECT_NEAR(y[1], 0.24243297, 5e-8);
  EXPECT_NEAR(y[2], 0.09856589, 5e-8);
}

// Z is 16 chains of at most 63 additions and a tree: at most some 33 epsilon off, and so is the sum.
TYPED_TEST(Softmax, RowsSumToOne) {
  std::mt19937_64 draw(1);
  for (const std::size_t columns : {1U, 2U, 15U, 64U, 1000U}) {
    const auto y = softmax(random_values<TypeParam>(draw, 7 * columns, 20), 7);
    for (std::size_t r = 0; r < 7; ++r) {
      long double sum = 0;
      for (std::size_t c = 0; c < columns; ++c) sum += y[r * columns + c];
      EXPECT_NEAR(static_cast<double>(sum), 1.0, 33.0 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()));
    }
  }
}

TYPED_TEST(Softmax, AddingAPowerOfTwoChangesNothing) {
  EXPECT_EQ(softmax<TypeParam>({1, 2, 3, 4}, 1), softmax<TypeParam>({1025, 1026, 1027, 1028}, 1));
}

TYPED_TEST(Softmax, EqualEntriesShareEqually) {
  for (const TypeParam value : {TypeParam{0}, TypeParam{-7}, std::numeric_limits<TypeParam>::max()}) {
    EXPECT_EQ(softmax<TypeParam>({value, value, value, value}, 1), (std::vector<TypeParam>(4, TypeParam{0.25})));
  }
}

TYPED_TEST(Softmax, WidthOneIsOne) { EXPECT_EQ(softmax<TypeParam>({-3, 8}, 2), (std::vector<TypeParam>{1, 1})); }

TYPED_TEST(Softmax, HugeGapsSaturate) {
  constexpr TypeParam big = std::numeric_limits<TypeParam>::max();
  EXPECT_EQ(softmax<TypeParam>({big, -big, 0}, 1), (std::vector<TypeParam>{1, 0, 0}));
}

TYPED_TEST(Softmax, MinusInfinityHasNoWeight) {
  constexpr TypeParam none = -std::numeric_limits<TypeParam>::infinity();
  EXPECT_EQ(softmax<TypeParam>({none, 5, none, 5}, 1), (std::vector<TypeParam>{0, 0.5, 0, 0.5}));
}

TYPED_TEST(Softmax, EmptyIsNothing) {
  Pool pool(1);
  TypeParam untouched = 3;
  softmax_forward(Executor{pool, Bodies::check}, &untouched, &untouched, 5, 0);
  softmax_forward(Executor{pool, Bodies::check}, &untouched, &untouched, 0, 5);
  softmax_backward(Executor{pool, Bodies::check}, &untouched, &untouched, &untouched, 5, 0, Store::add);
  EXPECT_EQ(untouched, 3);
}

// Central differences in double: the step's cube against rounding gives some 1e-10 here.
TEST(SoftmaxGradient, EqualsFiniteDifferences) {
  Pool pool(1);
  const Executor executor{pool};
  std::mt19937_64 draw(2);
  constexpr std::size_t kRows = 3, kColumns = 19;
  constexpr double kStep = 1e-5, kTolerance = 1e-9;
  auto x = random_values<double>(draw, kRows * kColumns, 2);
  const auto weight = random_values<double>(draw, x.size());
  const auto loss = [&](const std::vector<double>& at) {
    std::vector<double> y(at.size());
    softmax_forward(executor, at.data(), y.data(), kRows, kColumns);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += weight[i] * y[i];
    return sum;
  };
  std::vector<double> y(x.size()), dx(x.size());
  softmax_forward(executor, x.data(), y.data(), kRows, kColumns);
  softmax_backward(executor, y.data(), weight.data(), dx.data(), kRows, kColumns, Store::assign);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double kept = x[i];
    x[i] = kept + kStep;
    const double above = loss(x);
    x[i] = kept - kStep;
    const double below = loss(x);
    x[i] = kept;
    EXPECT_NEAR(dx[i], (above - below) / (2 * kStep), kTolerance);
  }
}

TYPED_TEST(Softmax, BackwardAddsToWhatStands) {
  Pool pool(1);
  const std::vector<TypeParam> y = {0.5, 0.5}, dy = {1, 0};  // dot 0.5; dx 0.25, -0.25
  std::vector<TypeParam> dx = {10, 20};
  softmax_backward(Executor{pool, Bodies::check}, y.data(), dy.data(), dx.data(), 1, 2, Store::add);
  EXPECT_EQ(dx, (std::vector<TypeParam>{10.25, 19.75}));
}

TYPED_TEST(Softmax, FastEqualsPlainToTheBit) {
  Pool pool(2);
  std::mt19937_64 draw(3);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t rows = testing::random_size(draw, 20);
    const std::size_t columns = testing::random_size(draw, 300);
    const double spread = draw() % 4 == 0 ? 200.0 : 3.0;
    const auto x = random_values<TypeParam>(draw, rows * columns, spread);
    const auto dy = random_values<TypeParam>(draw, rows * columns);
    auto dx = random_values<TypeParam>(draw, rows * columns);
    for (const auto set : testing::instruction_sets()) {
      const Executor check{pool, Bodies::check, set};
      auto y = x;
      softmax_forward(check, y.data(), y.data(), rows, columns);
      softmax_backward(check, y.data(), dy.data(), dx.data(), rows, columns, i % 2 == 0 ? Store::add : Store::assign);
    }
  }
}

TYPED_TEST(Softmax, ThreadsDoNotMatter) {
  std::mt19937_64 draw(4);
  constexpr std::size_t kRows = 211, kColumns = 257;
  const auto x = random_values<TypeParam>(draw, kRows * kColumns, 5);
  const auto dy = random_values<TypeParam>(draw, kRows * kColumns);
  std::vector<std::vector<TypeParam>> seen;
  for (const unsigned threads : {1U, 2U, 3U}) {
    Pool pool(threads);
    std::vector<TypeParam> y(x.size()), dx(x.size());
    softmax_forward(Executor{pool}, x.data(), y.data(), kRows, kColumns);
    softmax_backward(Executor{pool}, y.data(), dy.data(), dx.data(), kRows, kColumns, Store::assign);
    y.insert(y.end(), dx.begin(), dx.end());
    seen.push_back(y);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

template <class L>
class SoftmaxLanes : public ::testing::Test {};
using LaneNumbers = ::testing::Types<Lanes<float, 8>, Lanes<float, 16>, Lanes<double, 4>>;
TYPED_TEST_SUITE(SoftmaxLanes, LaneNumbers);

TYPED_TEST(SoftmaxLanes, LaneEqualsSoloRunToTheBit) {
  using T = scalar_t<TypeParam>;
  Pool pool(2);
  std::mt19937_64 draw(5);
  for (std::size_t i = 0, n = testing::random_cases(200); i < n; ++i) {
    const std::size_t rows = testing::random_size(draw, 20);
    const std::size_t columns = testing::random_size(draw, 100);
    std::vector<std::vector<T>> x, dy;
    for (std::size_t l = 0; l < lanes_of<TypeParam>; ++l) {
      x.push_back(random_values<T>(draw, rows * columns, 8));
      dy.push_back(random_values<T>(draw, rows * columns));
    }
    for (const auto set : testing::instruction_sets()) {
      const Executor executor{pool, Bodies::fast, set};
      auto y = testing::packed<TypeParam>(x);
      auto dx = testing::packed<TypeParam>(dy);
      softmax_forward(executor, y.data(), y.data(), rows, columns);
      softmax_backward(executor, y.data(), dx.data(), dx.data(), rows, columns, Store::assign);
      for (std::size_t l = 0; l < lanes_of<TypeParam>; ++l) {
        std::vector<T> solo_y(rows * columns), solo_dx(rows * columns);
        softmax_forward(executor, x[l].data(), solo_y.data(), rows, columns);
        softmax_backward(executor, solo_y.data(), dy[l].data(), solo_dx.data(), rows, columns, Store::assign);
        ASSERT_EQ(testing::lane(y, l), solo_y);
        ASSERT_EQ(testing::lane(dx, l), solo_dx);
      }
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
