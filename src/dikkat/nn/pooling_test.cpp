#include "dikkat/nn/pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dikkat/base/parallel.h"
#include "dikkat/nn/tap.h"

namespace dikkat::nn {
namespace {

class PoolingTest : public ::testing::Test {
 protected:
  PoolingTest() { rows_.lay_out(std::vector<std::size_t>{2, 3}, 8); }

  std::unique_ptr<Pooling> make(PoolingKind kind) {
    auto pooling = make_pooling(kind, store_, {.width = 2, .heads = 2, .head_width = 3});
    store_.allocate(DType::f64, ParameterStore::Gradients::none);
    return pooling;
  }
  Context context() { return {.executor = {pool_}, .memory = heap(), .rows = &rows_, .tap = tap_}; }
  std::vector<double> pooled(const Pooling& pooling) {
    Context c = context();
    const Tensor y = pooling.pool(c, pooling.begin(c, {x_})).value;
    return {y.span<double>().begin(), y.span<double>().end()};
  }

  Pool pool_{1};
  kernels::Rows rows_;
  ParameterStore store_;
  Tap* tap_ = nullptr;
  Tensor x_ = Tensor::of<double>({5, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 0, 1});
};

TEST_F(PoolingTest, LastAndMeanHaveNoParameters) {
  const auto last = make(PoolingKind::last);
  const auto mean = make_pooling(PoolingKind::mean, store_, {.width = 2});
  EXPECT_EQ(store_.count(), 0U);
  EXPECT_EQ(last->width(), 2U);
  EXPECT_EQ(mean->width(), 2U);
  EXPECT_EQ(last->extra_rows() + mean->extra_rows(), 0U);
  EXPECT_EQ(pooled(*last), (std::vector<double>{3, 4, 0, 1}));
  EXPECT_EQ(pooled(*mean), (std::vector<double>{2, 3, 4, 5}));
}

TEST_F(PoolingTest, ClassTokenIsPutLastAndReadOut) {
  const auto token = make(PoolingKind::class_token);
  ASSERT_NE(store_.find("pooling.token"), nullptr);
  EXPECT_EQ(token->extra_rows(), 1U);
  EXPECT_EQ(token->width(), 2U);
  double* value = store_.find("pooling.token")->value().data<double>();
  value[0] = 8;
  value[1] = 9;
  x_.slice(0, 1, 2).fill(0.0);
  x_.slice(0, 4, 5).fill(0.0);
  EXPECT_EQ(pooled(*token), (std::vector<double>{8, 9, 8, 9}));
}

class Recorder final : public Tap {
 public:
  bool wants(std::string_view) const override { return true; }
  void see(std::string_view path, Tensor& activation) override {
    seen += std::string(path) + " " + activation.shape().text() + ";";
    weight = activation.data<double>()[0];
  }
  std::string seen;
  double weight = 0;
};

// Keys are zero, so every step of a sample weighs the same: the values' means, by head.
TEST_F(PoolingTest, AttentionQueryWithoutKeysIsTheMeanOfTheValues) {
  const auto query = make(PoolingKind::attention_query);
  const Parameter* map = store_.find("pooling.key_value.weight");
  ASSERT_NE(map, nullptr);
  ASSERT_EQ(map->shape(), (Shape{2, 12}));
  ASSERT_EQ(store_.find("pooling.query")->shape(), (Shape{6}));
  EXPECT_EQ(store_.count(), 30U);
  EXPECT_EQ(query->width(), 6U);
  for (std::size_t column = 6; column < 12; ++column) {
    map->value().data<double>()[column] = static_cast<double>(column - 5);  // values: 1..6 times the first channel
  }
  Recorder recorder;
  tap_ = &recorder;
  const std::vector<double> means = {2, 4, 6, 8, 10, 12, 4, 8, 12, 16, 20, 24};
  EXPECT_THAT(pooled(*query), ::testing::Pointwise(::testing::DoubleEq(), means));
  EXPECT_EQ(recorder.seen, "pooling.pattern (5,2);");
  EXPECT_EQ(recorder.weight, 0.5);
}

}  // namespace
}  // namespace dikkat::nn
