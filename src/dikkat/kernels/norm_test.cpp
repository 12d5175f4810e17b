#include "dikkat/kernels/norm.h"

#include <cmath>
#include <limits>

#include "dikkat/kernels/elementwise.h"
#include "dikkat/kernels/lanes_testing.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

// One norm with everything it reads and writes; `parameters` says which of gain and bias there are.
template <class T>
struct Case {
  NormShape shape;
  bool has_gain = true, has_bias = true;
  std::vector<std::size_t> chunks = {0};
  std::vector<T> x, gain, bias, dy;
  std::vector<T> y, mean, rstd, dx, d_gain, d_bias;

  explicit Case(const NormShape& s) : shape(s) {
    chunks.push_back(s.rows);
    resize(s.rows * s.columns);
  }
  Case(const NormShape& s, std::mt19937_64& draw, double spread = 2.0) : Case(s) {
    x = random_values<T>(draw, x.size(), spread);
    gain = random_values<T>(draw, gain.size());
    bias = random_values<T>(draw, bias.size());
    dy = random_values<T>(draw, dy.size());
  }
  void resize(std::size_t size) {
    for (auto* matrix : {&x, &dy, &y, &dx}) matrix->resize(size);
    for (auto* row : {&gain, &bias, &d_gain, &d_bias}) row->resize(shape.columns);
    for (auto* column : {&mean, &rstd}) column->resize(shape.rows);
  }
  void forward(const Executor& executor) {
    norm_forward<T>(executor, shape,
                    {.x = x.data(),
                     .gain = has_gain ? gain.data() : nullptr,
                     .bias = has_bias ? bias.data() : nullptr,
                     .y = y.data(),
                     .mean = shape.norm == Norm::layer ? mean.data() : nullptr,
                     .rstd = rstd.data()});
  }
  void backward(const Executor& executor, Store store = Store::assign) {
    const T* const means = shape.norm == Norm::layer ? mean.data() : nullptr;
    norm_backward<T>(executor, shape,
                     {.x = x.data(),
                      .gain = has_gain ? gain.data() : nullptr,
                      .mean = means,
                      .rstd = rstd.data(),
                      .dy = dy.data(),
                      .dx = dx.data()},
                     store);
    const std::span<const std::size_t> rows(chunks);
    if (has_gain)
      norm_gain_gradient<T>(executor, shape, {x.data(), means, rstd.data(), dy.data(), d_gain.data()}, rows);
    if (has_bias) column_sums<T>(executor, dy.data(), rows, d_bias.data(), shape.columns);
  }
};

template <class T>
Case<T> bare(Norm norm, std::size_t rows, std::vector<T> x) {
  Case<T> c({.norm = norm, .rows = rows, .columns = x.size() / rows});
  c.has_gain = c.has_bias = false;
  c.x = std::move(x);
  return c;
}

template <class T>
class NormOf : public ::testing::Test {
 protected:
  Pool pool{1};
  Executor check{pool, Bodies::check};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NormOf, Numbers);

// Worked out with fifty digits from the formula; the middle row's deviations are 0, 1, -1, 0.
TEST(Norm, LayerGolden) {
  Pool pool(1);
  constexpr double kTolerance = 1e-12;
  auto c = bare<double>(Norm::layer, 3, {2, 4, 6, 8, 100, 101, 99, 100, -3, 0, 0, 3});
  c.forward(Executor{pool, Bodies::check});
  const double expected[] = {-1.3416394448610998,
                             -0.4472131482870333,
                             0.4472131482870333,
                             1.3416394448610998,
                             0,
                             1.4141994204496,
                             -1.4141994204496,
                             0,
                             -1.4142119910273114,
                             0,
                             0,
                             1.4142119910273114};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(c.y[i], expected[i], kTolerance) << i;
}

// 3, 4: mean square 12.5.
TEST(Norm, RmsGolden) {
  Pool pool(1);
  auto c = bare<double>(Norm::rms, 1, {3, 4});
  c.shape.epsilon = 0;
  c.forward(Executor{pool, Bodies::check});
  EXPECT_NEAR(c.y[0], 3 / std::sqrt(12.5), 1e-15);
  EXPECT_NEAR(c.y[1], 4 / std::sqrt(12.5), 1e-15);
}

TYPED_TEST(NormOf, GainAndBiasScaleAndShift) {
  using T = TypeParam;
  auto c = bare<T>(Norm::layer, 1, {-1, 1});
  c.shape.epsilon = 0;  // xhat is -1, 1
  c.gain = {2, 3};
  c.bias = {10, 20};
  c.forward(this->check);
  EXPECT_EQ(c.y, (std::vector<T>{-1, 1}));
  c.has_gain = true;
  c.forward(this->check);
  EXPECT_EQ(c.y, (std::vector<T>{-2, 3}));
  c.has_bias = true;
  c.forward(this->check);
  EXPECT_EQ(c.y, (std::vector<T>{8, 23}));
  c.has_gain = false;
  c.forward(this->check);
  EXPECT_EQ(c.y, (std::vector<T>{9, 21}));
}

// Mean 0 and variance 1 (less epsilon's share) of what layer norm gives; mean square 1 of what RMS norm gives.
TYPED_TEST(NormOf, RowsAreStandardised) {
  using T = TypeParam;
  std::mt19937_64 draw(1);
  const double tolerance = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const Norm norm : {Norm::layer, Norm::rms}) {
    auto c = bare<T>(norm, 5, random_values<T>(draw, 5 * 127, 3));
    c.shape.epsilon = 0;
    c.forward(this->check);
    for (std::size_t r = 0; r < 5; ++r) {
      double sum = 0, squares = 0;
      for (std::size_t i = r * 127; i < (r + 1) * 127; ++i) {
        sum += static_cast<double>(c.y[i]);
        squares += static_cast<double>(c.y[i]) * static_cast<double>(c.y[i]);
      }
      EXPECT_NEAR(norm == Norm::layer ? sum / 127 : 0, 0, tolerance);
      EXPECT_NEAR(squares / 127, 1, tolerance);
    }
  }
}

TYPED_TEST(NormOf, ConstantRowIsItsBias) {
  using T = TypeParam;
  auto c = bare<T>(Norm::layer, 1, {7, 7, 7, 7, 7});
  c.has_bias = true;
  c.bias = {1, 2, 3, 4, 5};
  c.forward(this->check);
  EXPECT_EQ(c.y, c.bias);
  EXPECT_EQ(c.mean[0], 7);
}

TYPED_TEST(NormOf, ZeroRowIsZeroAndFinite) {
  for (const Norm norm : {Norm::layer, Norm::rms}) {
    auto c = bare<TypeParam>(norm, 1, {0, 0, 0});
    c.dy = {1, 2, 3};
    c.forward(this->check);
    c.backward(this->check);
    EXPECT_EQ(c.y, (std::vector<TypeParam>{0, 0, 0}));
    for (const auto d : c.dx) EXPECT_TRUE(std::isfinite(d));
  }
}

TYPED_TEST(NormOf, WidthOneIsZeroForLayerAndSignForRms) {
  auto layer = bare<TypeParam>(Norm::layer, 2, {5, -9});
  layer.forward(this->check);
  EXPECT_EQ(layer.y, (std::vector<TypeParam>{0, 0}));
  auto rms = bare<TypeParam>(Norm::rms, 2, {4, -8});
  rms.shape.epsilon = 0;
  rms.forward(this->check);
  EXPECT_EQ(rms.y, (std::vector<TypeParam>{1, -1}));
}

// The smallest power that squares to nearly the largest number: no overflow where the formula has none.
TYPED_TEST(NormOf, LargeValuesStayFinite) {
  using T = TypeParam;
  const T large = std::ldexp(T{1}, std::numeric_limits<T>::max_exponent / 2 - 4);
  auto c = bare<T>(Norm::layer, 1, {large, -large, large, -large});
  c.forward(this->check);
  EXPECT_EQ(c.y, (std::vector<T>{1, -1, 1, -1}));
}

TYPED_TEST(NormOf, NoRowsIsNothing) {
  Case<TypeParam> c({.rows = 0, .columns = 3});
  c.d_gain = {1, 2, 3};
  c.forward(this->check);
  c.backward(this->check, Store::add);
  EXPECT_EQ(c.d_gain, (std::vector<TypeParam>{1, 2, 3}));
}

// Two chunks of one row, xhat -1, 1 each: d_gain = 10 + (dy xhat) + (dy xhat).
TYPED_TEST(NormOf, ParameterGradientsAddChunkByChunk) {
  using T = TypeParam;
  Case<T> c({.rows = 2, .columns = 2, .epsilon = 0});
  c.x = {-1, 1, -1, 1};
  c.dy = {1, 2, 4, 8};
  c.gain = {1, 1};
  c.chunks = {0, 1, 2};
  c.d_gain = {10, 10};
  c.d_bias = {20, 20};
  c.forward(this->check);
  c.backward(this->check);
  EXPECT_EQ(c.d_gain, (std::vector<T>{5, 20}));
  EXPECT_EQ(c.d_bias, (std::vector<T>{25, 30}));
}

double weighted(const Case<double>& c) {
  double sum = 0;
  for (std::size_t i = 0; i < c.y.size(); ++i) sum += c.dy[i] * c.y[i];
  return sum;
}

// Central differences in double: the step's cube against rounding gives some 1e-9 here.
void expect_gradient(Case<double>& c, std::vector<double>& values, const std::vector<double>& gradient) {
  Pool pool(1);
  constexpr double kStep = 1e-5, kTolerance = 2e-8;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double kept = values[i];
    values[i] = kept + kStep;
    c.forward(Executor{pool});
    const double above = weighted(c);
    values[i] = kept - kStep;
    c.forward(Executor{pool});
    const double below = weighted(c);
    values[i] = kept;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), kTolerance);
  }
}

TEST(Norm, GradientsEqualFiniteDifferences) {
  Pool pool(1);
  std::mt19937_64 draw(2);
  for (const Norm norm : {Norm::layer, Norm::rms}) {
    for (const bool parameters : {true, false}) {
      Case<double> c({.norm = norm, .rows = 4, .columns = 19}, draw);
      c.has_gain = c.has_bias = parameters;
      c.chunks = {0, 3, 4};
      c.forward(Executor{pool});
      c.backward(Executor{pool});
      expect_gradient(c, c.x, c.dx);
      if (!parameters) continue;
      expect_gradient(c, c.gain, c.d_gain);
      expect_gradient(c, c.bias, c.d_bias);
    }
  }
}

TYPED_TEST(NormOf, FastEqualsPlainToTheBit) {
  Pool two(2);
  std::mt19937_64 draw(3);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    Case<TypeParam> c({.norm = draw() % 2 == 0 ? Norm::layer : Norm::rms,
                       .rows = testing::random_size(draw, 40),
                       .columns = 1 + testing::random_size(draw, 200)},
                      draw);
    c.has_gain = draw() % 4 != 0;
    c.has_bias = draw() % 2 != 0;
    c.chunks = {0};
    while (c.chunks.back() < c.shape.rows) c.chunks.push_back(std::min(c.shape.rows, c.chunks.back() + 1 + draw() % 9));
    for (const auto set : testing::instruction_sets()) {
      c.forward(Executor{two, Bodies::check, set});
      c.backward(Executor{two, Bodies::check, set}, draw() % 2 == 0 ? Store::add : Store::assign);
    }
  }
}

TYPED_TEST(NormOf, ThreadsDoNotMatter) {
  std::vector<Case<TypeParam>> seen;
  for (const unsigned threads : {1U, 2U, 3U}) {
    Pool several(threads);
    std::mt19937_64 draw(4);
    Case<TypeParam> c({.rows = 301, .columns = 333}, draw);
    c.chunks = {0, 256, 301};
    c.forward(Executor{several});
    c.backward(Executor{several});
    seen.push_back(c);
  }
  for (const std::size_t other : {1U, 2U}) {
    EXPECT_EQ(seen[0].y, seen[other].y);
    EXPECT_EQ(seen[0].dx, seen[other].dx);
    EXPECT_EQ(seen[0].d_gain, seen[other].d_gain);
    EXPECT_EQ(seen[0].d_bias, seen[other].d_bias);
  }
}

template <class L>
class NormLanes : public ::testing::Test {};
using LaneNumbers = ::testing::Types<Lanes<float, 8>, Lanes<float, 16>, Lanes<double, 4>>;
TYPED_TEST_SUITE(NormLanes, LaneNumbers);

TYPED_TEST(NormLanes, LaneEqualsSoloRunToTheBit) {
  using L = TypeParam;
  using T = scalar_t<L>;
  Pool pool(2);
  std::mt19937_64 draw(5);
  for (std::size_t i = 0, n = testing::random_cases(200); i < n; ++i) {
    const NormShape shape = {.norm = i % 2 == 0 ? Norm::layer : Norm::rms,
                             .rows = testing::random_size(draw, 20),
                             .columns = 1 + testing::random_size(draw, 100)};
    std::vector<Case<T>> solo;
    std::vector<std::vector<T>> x, gain, bias, dy;
    for (std::size_t l = 0; l < lanes_of<L>; ++l) {
      solo.emplace_back(shape, draw);
      x.push_back(solo[l].x);
      gain.push_back(solo[l].gain);
      bias.push_back(solo[l].bias);
      dy.push_back(solo[l].dy);
    }
    for (const auto set : testing::instruction_sets()) {
      const Executor executor{pool, Bodies::fast, set};
      Case<L> together(shape);
      together.x = testing::packed<L>(x);
      together.gain = testing::packed<L>(gain);
      together.bias = testing::packed<L>(bias);
      together.dy = testing::packed<L>(dy);
      together.d_gain = together.gain;  // something to add to
      together.d_bias = together.bias;
      together.forward(executor);
      together.backward(executor);
      for (std::size_t l = 0; l < lanes_of<L>; ++l) {
        Case<T>& alone = solo[l];
        alone.d_gain = alone.gain;
        alone.d_bias = alone.bias;
        alone.forward(executor);
        alone.backward(executor);
        ASSERT_EQ(testing::lane(together.y, l), alone.y);
        ASSERT_EQ(testing::lane(together.dx, l), alone.dx);
        ASSERT_EQ(testing::lane(together.d_gain, l), alone.d_gain);
        ASSERT_EQ(testing::lane(together.d_bias, l), alone.d_bias);
      }
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
