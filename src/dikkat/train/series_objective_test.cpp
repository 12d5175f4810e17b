#include "dikkat/train/series_objective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"
#include "dikkat/train/series_evaluator.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {
namespace {

using models::testing::same_bits;

std::vector<std::size_t> counted(std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

TEST(EpochOrder, ShowsEverySeriesOnceAnEpoch) {
  EpochOrder order({2, 3, 5, 7, 11}, 1);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<std::size_t> seen;
    for (std::uint64_t i = 0; i < 5; ++i) seen.push_back(order.at(5 * epoch + i));
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::size_t>{2, 3, 5, 7, 11}));
  }
}

TEST(EpochOrder, AnEpochsOrderDoesNotHangOnWhatWasAskedBefore) {
  EpochOrder straight(counted(20), 1);
  EpochOrder jumping(counted(20), 1);
  std::vector<std::size_t> expected;
  for (std::uint64_t i = 0; i < 60; ++i) expected.push_back(straight.at(i));
  for (std::uint64_t i = 60; i-- > 0;) EXPECT_EQ(jumping.at(i), expected[i]) << i;
}

TEST(EpochOrder, ChangesWithEpochAndSeed) {
  const auto epoch_of = [](std::uint64_t seed, std::uint64_t epoch) {
    EpochOrder order(counted(20), seed);
    std::vector<std::size_t> seen;
    for (std::uint64_t i = 0; i < 20; ++i) seen.push_back(order.at(20 * epoch + i));
    return seen;
  };
  EXPECT_NE(epoch_of(1, 0), epoch_of(1, 1));
  EXPECT_NE(epoch_of(1, 0), epoch_of(2, 0));
}

// Twelve series of two channels and of unequal lengths; the class of three is the length modulo 3.
data::CodedSeries some_series() {
  data::CodedSeries series;
  series.channels = 2;
  const random::Stream stream = random::stream(4, "test series");
  for (std::uint32_t s = 0; s < 12; ++s) {
    const std::size_t length = 3 + s % 5;
    for (std::uint32_t i = 0; i < 2 * length; ++i) series.values.push_back(random::uniform(stream, {s, i, 0, 0}) - 0.5);
    series.first_step.push_back(series.first_step.back() + length);
    series.classes.push_back(static_cast<std::int32_t>(length % 3));
    series.numbers.push_back(0.25 * static_cast<double>(length) - 1);
  }
  return series;
}

models::Config config_of(models::Task task, models::PoolingKind pooling) {
  return {.task = task,
          .channels = 2,
          .outputs = task == models::Task::regress ? std::size_t{1} : std::size_t{3},
          .context = 200,
          .width = 8,
          .layers = 1,
          .heads = 2,
          .direction = models::Direction::bidirectional,
          .pooling = pooling,
          .output_bias = true,
          .dropout = 0.1};
}

struct Trained {
  std::vector<double> losses;
  models::SeriesModel model;
};

Trained trained(models::Task task, models::PoolingKind pooling, std::size_t micro_batch, unsigned threads) {
  Pool pool(threads);
  const kernels::Executor executor{pool};
  const data::CodedSeries series = some_series();
  Trained run{.losses = {}, .model = {config_of(task, pooling), DType::f32, nn::ParameterStore::Gradients::kept}};
  run.model.initialise(executor, 3);
  const Settings settings{.seed = 3, .steps = 6, .batch = 8, .micro_batch = micro_batch, .warmup = 1};
  SeriesObjective objective(run.model, series, counted(12), settings.batch, settings.seed);
  optim::Optimizer optimizer(run.model.parameters(), optimizer_settings(settings));
  Stepper stepper(objective, optimizer, settings, executor);
  const StopRequest never;
  for (std::uint64_t t = 1; t <= settings.steps; ++t) {
    const Measured measured = stepper.measure(t, never);
    stepper.update(t, measured);
    run.losses.push_back(measured.loss_nats);
  }
  return run;
}

void expect_equal(const Trained& a, const Trained& b) {
  EXPECT_EQ(a.losses, b.losses);
  for (const nn::Parameter* parameter : a.model.parameters().in_path_order()) {
    EXPECT_TRUE(same_bits(parameter->value(), b.model.parameters().find(parameter->path())->value()))
        << parameter->path();
  }
}

// At a context of 200 a chunk is one sample, so any micro-batch is whole chunks.
TEST(SeriesObjective, MicroBatchesAndThreadsChangeNoBit) {
  for (const auto task : {models::Task::classify, models::Task::regress}) {
    for (const auto pooling : {models::PoolingKind::mean, models::PoolingKind::last, models::PoolingKind::class_token,
                               models::PoolingKind::attention_query}) {
      SCOPED_TRACE(std::string(text_of(task)) + " " + std::string(text_of(pooling)));
      const Trained whole = trained(task, pooling, 8, 1);
      expect_equal(trained(task, pooling, 3, 1), whole);
      expect_equal(trained(task, pooling, 0, 3), whole);
      EXPECT_LT(whole.losses.back(), whole.losses.front() + 0.5);
    }
  }
}

TEST(SeriesEvaluator, ASeriesComesOutTheSameAloneAndAmongOthers) {
  Pool pool(2);
  const kernels::Executor executor{pool};
  const data::CodedSeries series = some_series();
  const Trained run = trained(models::Task::classify, models::PoolingKind::class_token, 8, 1);
  SeriesEvaluator evaluator(run.model, executor);
  const StopRequest never;
  const std::vector<std::size_t> all = counted(12);
  const SeriesOutputs together = *evaluator.outputs(series, all, never);
  for (std::size_t s = 0; s < 12; ++s) {
    const std::vector<std::size_t> one{s};
    const SeriesOutputs alone = *evaluator.outputs(series, one, never);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(alone.values[k], together.values[3 * s + k]) << s;
    EXPECT_EQ(alone.losses[0], together.losses[s]);
  }
}

}  // namespace
}  // namespace dikkat::train
