#include "dikkat/kernels/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dikkat/base/error.h"
#include "dikkat/kernels/lanes_testing.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

Rows laid_out(const std::vector<std::size_t>& lengths, std::size_t context = 256) {
  Rows rows;
  rows.lay_out(lengths, context);
  return rows;
}

// What a pooling makes of keys and values, forward and backward.
template <class T>
struct Pooled {
  std::vector<T> pattern, out, d_key_values, d_scores, d_query;
  bool operator==(const Pooled&) const = default;
};

template <class T>
struct Inputs {
  std::vector<T> key_values, query, d_out, d_query;
};
template <class T>
Inputs<T> inputs_of(std::mt19937_64& draw, const PoolingShape& shape, double spread = 2) {
  const std::size_t columns = shape.columns();
  return {random_values<T>(draw, shape.rows->count() * 2 * columns, spread), random_values<T>(draw, columns, spread),
          random_values<T>(draw, shape.rows->samples() * columns), random_values<T>(draw, columns)};
}

template <class T>
Pooled<T> pooled(const Executor& executor, const PoolingShape& shape, const Inputs<T>& in) {
  Pooled<T> result;
  result.pattern.resize(shape.rows->count() * shape.heads);
  result.out.resize(shape.rows->samples() * shape.columns());
  result.d_key_values.resize(in.key_values.size());
  result.d_scores.resize(result.pattern.size());
  result.d_query = in.d_query;
  pooling_forward<T>(executor, shape,
                     {.key_values = in.key_values.data(),
                      .query = in.query.data(),
                      .pattern = result.pattern.data(),
                      .out = result.out.data()});
  pooling_backward<T>(executor, shape,
                      {.key_values = in.key_values.data(),
                       .query = in.query.data(),
                       .pattern = result.pattern.data(),
                       .out = result.out.data(),
                       .d_out = in.d_out.data(),
                       .d_key_values = result.d_key_values.data(),
                       .d_scores = result.d_scores.data()});
  pooling_query_gradient<T>(executor, shape, {in.key_values.data(), result.d_scores.data(), result.d_query.data()},
                            shape.rows->chunks);
  return result;
}

template <class T>
class Pooling : public ::testing::Test {
 protected:
  Pool pool_{1};
  Executor check_{pool_, Bodies::check};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Pooling, Numbers);

// One head of width 1, query 1, keys ln 1, ln 3: weights 1/4, 3/4; values 8 and 4 give 2 + 3 = 5.
TYPED_TEST(Pooling, KnownSample) {
  const Rows rows = laid_out({2});
  for (const RowSum sum : {RowSum::chain, RowSum::compensated}) {
    const PoolingShape shape{.sum = sum, .rows = &rows};
    const Inputs<TypeParam> in{{0, 8, static_cast<TypeParam>(std::log(3.0)), 4}, {1}, {1}, {0}};
    const auto result = pooled(this->check_, shape, in);
    EXPECT_NEAR(result.pattern[0], 0.25, 1e-7);
    EXPECT_NEAR(result.pattern[1], 0.75, 1e-7);
    EXPECT_NEAR(result.out[0], 5.0, 1e-6);
    // da = (8, 4), delta = 5, ds = (0.25 * 3, 0.75 * -1); dq = sum of ds k = -0.75 ln 3; dk = ds; dv = a.
    EXPECT_NEAR(result.d_scores[0], 0.75, 1e-6);
    EXPECT_NEAR(result.d_scores[1], -0.75, 1e-6);
    EXPECT_NEAR(result.d_query[0], -0.75 * std::log(3.0), 1e-6);
    EXPECT_NEAR(result.d_key_values[0], 0.75, 1e-6);
    EXPECT_NEAR(result.d_key_values[1], 0.25, 1e-6);
    EXPECT_NEAR(result.d_key_values[2], -0.75, 1e-6);
    EXPECT_NEAR(result.d_key_values[3], 0.75, 1e-6);
  }
}

TYPED_TEST(Pooling, OneRowIsItsValue) {
  const Rows rows = laid_out({1, 1});
  const PoolingShape shape{.heads = 2, .rows = &rows};
  const Inputs<TypeParam> in{{9, 9, 1, 2, -9, 7, 3, 4}, {5, -5}, {1, 1, 1, 1}, {0, 0}};
  const auto result = pooled(this->check_, shape, in);
  EXPECT_EQ(result.pattern, (std::vector<TypeParam>{1, 1, 1, 1}));
  EXPECT_EQ(result.out, (std::vector<TypeParam>{1, 2, 3, 4}));
  EXPECT_EQ(result.d_scores, (std::vector<TypeParam>{0, 0, 0, 0}));
}

TYPED_TEST(Pooling, EqualKeysShareEqually) {
  const Rows rows = laid_out({4});
  const PoolingShape shape{.width = 1, .rows = &rows};
  const Inputs<TypeParam> in{{7, 1, 7, 2, 7, 3, 7, 6}, {3}, {1}, {0}};
  const auto result = pooled(this->check_, shape, in);
  EXPECT_EQ(result.pattern, (std::vector<TypeParam>(4, TypeParam{0.25})));
  EXPECT_EQ(result.out, (std::vector<TypeParam>{3}));
}

TYPED_TEST(Pooling, SampleWithoutRowsIsZero) {
  const Rows rows = laid_out({0, 2, 0});
  const PoolingShape shape{.rows = &rows};
  const Inputs<TypeParam> in{{0, 4, 0, 6}, {1}, {1, 1, 1}, {0}};
  EXPECT_EQ(pooled(this->check_, shape, in).out, (std::vector<TypeParam>{0, 5, 0}));
}

// 1, 1e100, 1, -1e100 is the example of Neumaier's paper that Kahan's sum fails: 2, and 0 for a plain sum.
TEST(PoolingSum, CompensatedKeepsWhatAChainLoses) {
  Pool pool(1);
  const Rows rows = laid_out({4});
  const std::vector<double> pattern = {1, 1, 1, 1};
  const std::vector<double> key_values = {0, 1, 0, 1e100, 0, 1, 0, -1e100};
  double out = -1;
  pooling_mix<double>(Executor{pool}, {.sum = RowSum::compensated, .rows = &rows}, pattern.data(), key_values.data(),
                      &out);
  EXPECT_EQ(out, 2.0);
  pooling_mix<double>(Executor{pool}, {.sum = RowSum::chain, .rows = &rows}, pattern.data(), key_values.data(), &out);
  EXPECT_EQ(out, 0.0);
}

// Twice the largest number is infinite, and infinity minus infinity is no compensation.
TEST(PoolingSum, OverflowStaysInfinite) {
  Pool pool(1);
  const Rows rows = laid_out({2});
  const double large = std::numeric_limits<double>::max();
  const std::vector<double> pattern = {1, 1}, key_values = {0, large, 0, large};
  double out = 0;
  pooling_mix<double>(Executor{pool}, {.rows = &rows}, pattern.data(), key_values.data(), &out);
  EXPECT_EQ(out, std::numeric_limits<double>::infinity());
}

template <class T>
std::size_t outputs_changed_by_order(RowSum sum, std::size_t cases) {
  Pool pool(1);
  std::mt19937_64 draw(11);
  constexpr std::size_t kSamples = 8, kRows = 12, kColumns = 4;
  const Rows rows = laid_out(std::vector<std::size_t>(kSamples, kRows));
  const PoolingShape shape{.heads = 2, .width = 2, .scale = std::sqrt(0.5), .sum = sum, .rows = &rows};
  std::size_t changed = 0;
  for (std::size_t i = 0; i < cases; ++i) {
    const Inputs<T> in = inputs_of<T>(draw, shape);
    Inputs<T> shuffled = in;
    for (std::size_t b = 0; b < kSamples; ++b) {
      std::vector<std::size_t> order(kRows);
      std::iota(order.begin(), order.end(), 0U);
      std::shuffle(order.begin(), order.end(), draw);
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto from = in.key_values.begin() + static_cast<std::ptrdiff_t>((b * kRows + order[r]) * 2 * kColumns);
        std::copy(from, from + 2 * kColumns,
                  shuffled.key_values.begin() + static_cast<std::ptrdiff_t>((b * kRows + r) * 2 * kColumns));
      }
    }
    const auto a = pooled(Executor{pool}, shape, in).out;
    const auto b = pooled(Executor{pool}, shape, shuffled).out;
    for (std::size_t c = 0; c < a.size(); ++c) changed += a[c] != b[c] ? 1 : 0;
  }
  return changed;
}

TYPED_TEST(Pooling, CompensatedSumsDoNotDependOnTheOrderOfRowsButChainsDo) {
  EXPECT_EQ(outputs_changed_by_order<TypeParam>(RowSum::compensated, testing::random_cases(500)), 0U);
  EXPECT_GT(outputs_changed_by_order<TypeParam>(RowSum::chain, 20), 0U);
}

TYPED_TEST(Pooling, FastEqualsPlainToTheBit) {
  Pool pool(2);
  std::mt19937_64 draw(3);
  for (std::size_t i = 0, n = testing::random_cases(1000); i < n; ++i) {
    // Mostly runs of equal lengths, so that vectors of samples, shorter runs and lone samples all come.
    std::vector<std::size_t> lengths;
    for (std::size_t run = 0, runs = draw() % 4; run < runs; ++run) {
      lengths.insert(lengths.end(), draw() % 40, draw() % 30);
    }
    const Rows rows = laid_out(lengths, std::vector<std::size_t>{256, 32, 100}[draw() % 3]);
    const PoolingShape shape{.heads = 1 + draw() % 5,
                             .width = std::vector<std::size_t>{1, 2, 4, 5, 16, 17}[draw() % 6],
                             .scale = 0.3,
                             .sum = draw() % 2 == 0 ? RowSum::chain : RowSum::compensated,
                             .rows = &rows};
    const Inputs<TypeParam> in = inputs_of<TypeParam>(draw, shape, draw() % 4 == 0 ? 20.0 : 1.0);
    const Pooled<TypeParam> expected = pooled(Executor{pool, Bodies::reference}, shape, in);
    for (const auto set : testing::instruction_sets()) {
      ASSERT_EQ(pooled(Executor{pool, Bodies::check, set}, shape, in), expected);
    }
  }
}

TYPED_TEST(Pooling, SamplesTooLongForTheScratchArePooledToo) {
  std::mt19937_64 draw(4);
  const Rows rows = laid_out({3000, 3000}, 3000);
  const PoolingShape shape{.heads = 2, .width = 4, .scale = 0.5, .rows = &rows};
  pooled(this->check_, shape, inputs_of<TypeParam>(draw, shape));
}

TYPED_TEST(Pooling, ThreadsDoNotMatter) {
  std::mt19937_64 draw(5);
  const Rows rows = laid_out(std::vector<std::size_t>(403, 24), 24);
  const PoolingShape shape{.heads = 3, .width = 20, .scale = 0.2, .rows = &rows};
  const Inputs<TypeParam> in = inputs_of<TypeParam>(draw, shape);
  Pool one(1);
  const auto expected = pooled(Executor{one}, shape, in);
  for (const unsigned threads : {2U, 3U, 8U}) {
    Pool pool(threads);
    EXPECT_EQ(pooled(Executor{pool}, shape, in), expected);
  }
}

TYPED_TEST(Pooling, SampleAloneEqualsTheSampleInABatch) {
  std::mt19937_64 draw(6);
  const Rows rows = laid_out(std::vector<std::size_t>(20, 12));
  const PoolingShape shape{.heads = 2, .width = 2, .scale = 0.7, .rows = &rows};
  const Inputs<TypeParam> in = inputs_of<TypeParam>(draw, shape);
  const auto all = pooled(this->check_, shape, in);
  const Rows single = laid_out({12});
  PoolingShape alone = shape;
  alone.rows = &single;
  for (std::size_t b = 0; b < 20; ++b) {
    std::vector<TypeParam> pattern(24), out(4);
    pooling_forward<TypeParam>(this->check_, alone,
                               {.key_values = in.key_values.data() + b * 12 * 8,
                                .query = in.query.data(),
                                .pattern = pattern.data(),
                                .out = out.data()});
    EXPECT_TRUE(std::equal(out.begin(), out.end(), all.out.begin() + static_cast<std::ptrdiff_t>(b * 4)));
  }
}

TYPED_TEST(Pooling, MixOfAnUnchangedPatternEqualsForward) {
  std::mt19937_64 draw(7);
  for (const RowSum sum : {RowSum::chain, RowSum::compensated}) {
    const Rows rows = laid_out({12, 12, 12, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7});
    const PoolingShape shape{.heads = 2, .width = 3, .scale = 0.7, .sum = sum, .rows = &rows};
    const Inputs<TypeParam> in = inputs_of<TypeParam>(draw, shape);
    const auto result = pooled(this->check_, shape, in);
    std::vector<TypeParam> out(result.out.size());
    pooling_mix<TypeParam>(this->check_, shape, result.pattern.data(), in.key_values.data(), out.data());
    EXPECT_EQ(out, result.out);
  }
}

TEST(PoolingShapeTest, RefusesNoHeads) {
  Pool pool(1);
  const Rows rows = laid_out({1});
  double out = 0;
  EXPECT_THROW(pooling_mix<double>(Executor{pool}, {.heads = 0, .rows = &rows}, &out, &out, &out), Error);
}

// Rows 1, 2 and 3 of the first sample, 10 of the second.
TYPED_TEST(Pooling, MeanAndLastByHand) {
  const Rows rows = laid_out({3, 1, 0});
  const std::vector<TypeParam> x = {1, -1, 2, -2, 6, -9, 10, 20};
  std::vector<TypeParam> y(6, TypeParam{-7});
  mean_pooling_forward(this->check_, rows, x.data(), y.data(), 2);
  EXPECT_EQ(y, (std::vector<TypeParam>{3, -4, 10, 20, 0, 0}));
  last_pooling_forward(this->check_, rows, x.data(), y.data(), 2);
  EXPECT_EQ(y, (std::vector<TypeParam>{6, -9, 10, 20, 0, 0}));

  const std::vector<TypeParam> dy = {3, 6, 5, 7, 9, 9};
  std::vector<TypeParam> dx(8, TypeParam{100});
  mean_pooling_backward(this->check_, rows, dy.data(), dx.data(), 2, Store::add);
  EXPECT_EQ(dx, (std::vector<TypeParam>{101, 102, 101, 102, 101, 102, 105, 107}));
  last_pooling_backward(this->check_, rows, dy.data(), dx.data(), 2, Store::add);
  EXPECT_EQ(dx, (std::vector<TypeParam>{101, 102, 101, 102, 104, 108, 110, 114}));
  last_pooling_backward(this->check_, rows, dy.data(), dx.data(), 2, Store::assign);
  EXPECT_EQ(dx, (std::vector<TypeParam>{0, 0, 0, 0, 3, 6, 5, 7}));
}

TYPED_TEST(Pooling, MeanFastEqualsPlainToTheBit) {
  std::mt19937_64 draw(8);
  for (std::size_t i = 0, n = testing::random_cases(500); i < n; ++i) {
    std::vector<std::size_t> lengths(draw() % 9);
    for (auto& length : lengths) length = draw() % 20;
    const Rows rows = laid_out(lengths);
    const std::size_t columns = testing::random_size(draw, 100);
    const auto x = random_values<TypeParam>(draw, rows.count() * columns);
    auto dx = random_values<TypeParam>(draw, rows.count() * columns);
    std::vector<TypeParam> y(rows.samples() * columns);
    for (const auto set : testing::instruction_sets()) {
      const Executor check{this->pool_, Bodies::check, set};
      mean_pooling_forward(check, rows, x.data(), y.data(), columns);
      mean_pooling_backward(check, rows, y.data(), dx.data(), columns, i % 2 == 0 ? Store::add : Store::assign);
    }
  }
}

template <class L>
class PoolingLanes : public ::testing::Test {};
using LaneNumbers = ::testing::Types<Lanes<float, 8>, Lanes<float, 16>, Lanes<double, 4>>;
TYPED_TEST_SUITE(PoolingLanes, LaneNumbers);

template <class L>
Inputs<L> packed(const std::vector<Inputs<scalar_t<L>>>& models) {
  const auto member = [&](auto which) {
    std::vector<std::vector<scalar_t<L>>> all;
    for (const auto& model : models) all.push_back(model.*which);
    return testing::packed<L>(all);
  };
  using In = Inputs<scalar_t<L>>;
  return {member(&In::key_values), member(&In::query), member(&In::d_out), member(&In::d_query)};
}

TYPED_TEST(PoolingLanes, LaneEqualsSoloRunToTheBit) {
  using T = scalar_t<TypeParam>;
  Pool pool(2);
  std::mt19937_64 draw(9);
  for (std::size_t i = 0, n = testing::random_cases(100); i < n; ++i) {
    const Rows rows = laid_out({12, 12, 12, 12, 12, 12, 12, 12, 12, draw() % 9}, 24);
    const PoolingShape shape{.heads = 1 + draw() % 4,
                             .width = 1 + draw() % 4,
                             .scale = 0.6,
                             .sum = i % 2 == 0 ? RowSum::chain : RowSum::compensated,
                             .rows = &rows};
    std::vector<Inputs<T>> models;
    for (std::size_t l = 0; l < lanes_of<TypeParam>; ++l) models.push_back(inputs_of<T>(draw, shape));
    for (const auto set : testing::instruction_sets()) {
      const Executor executor{pool, Bodies::fast, set};
      const auto together = pooled(executor, shape, packed<TypeParam>(models));
      for (std::size_t l = 0; l < lanes_of<TypeParam>; ++l) {
        const auto solo = pooled(executor, shape, models[l]);
        ASSERT_EQ(testing::lane(together.out, l), solo.out);
        ASSERT_EQ(testing::lane(together.d_key_values, l), solo.d_key_values);
        ASSERT_EQ(testing::lane(together.d_query, l), solo.d_query);
      }
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
