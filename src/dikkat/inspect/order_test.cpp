#include "dikkat/inspect/order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dikkat/base/error.h"
#include "dikkat/inspect/intervention_testing.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/models/series_testing.h"

namespace dikkat::inspect {
namespace {

using ::testing::HasSubstr;
namespace make = models::testing;
using models::Config;
using testing::Twins;

std::vector<double> probabilities(const Tensor& logits, std::size_t row) {
  const std::size_t v = logits.shape()[1];
  std::vector<double> p;
  double sum = 0;
  for (std::size_t i = 0; i < v; ++i) {
    p.push_back(std::exp(static_cast<double>(logits.data<float>()[row * v + i])));
    sum += p.back();
  }
  for (double& x : p) x /= sum;
  return p;
}

class OrderTestOfMenu : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const Config& config() { return make::menu()[GetParam()].config; }
};

TEST_P(OrderTestOfMenu, MovesByTheChangeOfTheDistributionAfterTheLastToken) {
  const Twins twins(config());
  const std::vector<text::Token> text = testing::random_text(config(), 900);
  const OrderTest test = order_test(twins.model, twins.executor, text, {.windows = 70, .length = 8, .seed = 3});
  ASSERT_EQ(test.distances.size(), 70U);
  const std::vector<std::size_t> starts = windows_over(text, 8, 70, 3);
  Passes passes(twins.model, twins.executor);
  const std::span<const text::Token> whole = text;
  std::size_t other = 0;
  for (std::size_t w = 0; w < 70; ++w) {
    const std::span<const text::Token> window = whole.subspan(starts[w], 8);
    std::vector<text::Token> moved(window.begin(), window.end());
    const std::vector<std::size_t> order =
        drawn_order(random::stream(3, "order test"), static_cast<std::uint32_t>(w), 7);
    for (std::size_t t = 0; t < 7; ++t) moved[t] = window[order[t]];
    const std::vector<double> p = probabilities(passes.logits(window, nullptr), 7);
    const std::vector<double> q = probabilities(passes.logits(moved, nullptr), 7);
    double distance = 0;
    for (std::size_t i = 0; i < p.size(); ++i) distance += std::abs(p[i] - q[i]) / 2;
    EXPECT_NEAR(test.distances[w], distance, 1e-12);
    const text::Token next = text[starts[w] + 8];
    EXPECT_NEAR(test.loss_changes[w], std::log(p[next]) - std::log(q[next]), 1e-9);
    other += std::max_element(p.begin(), p.end()) - p.begin() != std::max_element(q.begin(), q.end()) - q.begin();
  }
  EXPECT_EQ(test.other_answers, other);
  EXPECT_EQ(test.interval.low, stats::t_interval(test.distances).low);
}

// By its make a model is blind, or it sees the order.
TEST_P(OrderTestOfMenu, BlindModelsMoveByRoundingAlone) {
  for (const models::PositionKind position : {models::PositionKind::none, config().position}) {
    Config now = config();
    now.position = position;
    const Twins twins(now);
    const std::vector<text::Token> text = testing::random_text(now, 900);
    const OrderTest test = order_test(twins.model, twins.executor, text, {.windows = 70, .length = 8, .seed = 3});
    const double largest = *std::max_element(test.distances.begin(), test.distances.end());
    if (blind_to_order(now)) {
      EXPECT_LT(largest, 1e-5);
    } else {
      EXPECT_GT(largest, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, OrderTestOfMenu, ::testing::Range(std::size_t{0}, make::menu().size()),
                         [](const auto& instance) { return make::menu()[instance.param].name; });

data::CodedSeries series_for(const Config& config, std::size_t count) {
  data::CodedSeries series{.channels = config.channels, .values = {}, .classes = {}, .numbers = {}};
  const random::Stream stream = random::stream(8, "test series");
  for (std::uint32_t s = 0; s < count; ++s) {
    const std::size_t length = 5 + s % 12;
    for (std::uint32_t i = 0; i < length * config.channels; ++i) {
      series.values.push_back(4 * random::uniform(stream, {s, i, 0, 0}) - 2);
    }
    series.first_step.push_back(series.first_step.back() + length);
  }
  return series;
}

void spread(const models::SeriesModel& model, const kernels::Executor& executor) {
  model.initialise(executor, 2);
  for (const nn::Parameter* parameter : model.parameters().in_path_order()) {
    const random::Stream stream = random::stream(2, "test spread", parameter->path());
    std::uint32_t i = 0;
    for (double& value : parameter->value().span<double>()) {
      value += 0.8 * random::uniform(stream, {i++, 0, 0, 0}) - 0.4;
    }
  }
}

class SeriesOrderTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const Config& config() { return make::series_menu()[GetParam()].config; }
  OrderTest run(const Config& config, std::span<const std::size_t> kept) {
    const models::SeriesModel model(config, DType::f64, nn::ParameterStore::Gradients::none);
    spread(model, executor_);
    return order_test(model, executor_, series_for(config, 60), kept, 3);
  }
  Pool pool_{1};
  kernels::Executor executor_{pool_};
};

TEST_P(SeriesOrderTest, BlindModelsMoveByRoundingAloneOrNotAtAll) {
  for (const models::PositionKind position : {models::PositionKind::none, config().position}) {
    Config now = config();
    now.position = position;
    const OrderTest test = run(now, {});
    ASSERT_EQ(test.distances.size(), 60U);
    const double largest = *std::max_element(test.distances.begin(), test.distances.end());
    if (exactly_blind(now)) {
      EXPECT_EQ(test.unmoved, 60U);
      EXPECT_EQ(largest, 0.0);
      EXPECT_EQ(test.interval.high, 0.0);
    } else if (blind_to_order(now)) {
      EXPECT_LT(largest, 1e-12);
    } else {
      EXPECT_GT(largest, 1e-4);
    }
  }
}

TEST_P(SeriesOrderTest, ChannelsThatStayAllMoveNothing) {
  std::vector<std::size_t> all(config().channels);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const OrderTest test = run(config(), all);
  EXPECT_EQ(test.unmoved, 60U);
}

INSTANTIATE_TEST_SUITE_P(Menu, SeriesOrderTest, ::testing::Range(std::size_t{0}, make::series_menu().size()),
                         [](const auto& instance) { return make::series_menu()[instance.param].name; });

TEST(SeriesOrder, KeptChannelsTellABlindModelTheOrder) {
  const Config config{.task = models::Task::classify,
                      .channels = 3,
                      .outputs = 1,
                      .context = 17,
                      .width = 3,
                      .layers = 0,
                      .heads = 2,
                      .head_width = 2,
                      .norm = models::NormKind::none,
                      .position = models::PositionKind::none,
                      .input = models::InputKind::raw,
                      .pooling = models::PoolingKind::attention_query};
  ASSERT_TRUE(exactly_blind(config));
  const models::SeriesModel model(config, DType::f64, nn::ParameterStore::Gradients::none);
  Pool pool(1);
  const kernels::Executor executor{pool};
  spread(model, executor);
  const data::CodedSeries series = series_for(config, 40);
  EXPECT_EQ(order_test(model, executor, series, {}, 3).unmoved, 40U);
  const std::vector<std::size_t> kept = {1, 2};
  EXPECT_EQ(order_test(model, executor, series, kept, 3).unmoved, 0U);
  const std::vector<std::size_t> beyond = {3};
  EXPECT_THROW((void)order_test(model, executor, series, beyond, 3), Error);
  data::CodedSeries narrow = series;
  narrow.channels = 1;
  EXPECT_THROW((void)order_test(model, executor, narrow, {}, 3), Error);
}

TEST(Order, RefusesTextsAndWindowsThatAreTooShort) {
  const Twins twins(make::menu()[0].config);
  const std::vector<text::Token> text = testing::random_text(twins.model.config(), 100);
  const std::span<const text::Token> whole = text;
  EXPECT_THROW((void)order_test(twins.model, twins.executor, whole.first(3), {}), Error);
  EXPECT_EQ(order_test(twins.model, twins.executor, whole.first(4), {}).length, 3U);
  EXPECT_EQ(order_test(twins.model, twins.executor, whole, {}).length, 17U);
  EXPECT_THROW((void)order_test(twins.model, twins.executor, whole, {.length = 2}), Error);
  EXPECT_THROW((void)order_test(twins.model, twins.executor, whole, {.length = 18}), Error);
}

}  // namespace
}  // namespace dikkat::inspect
