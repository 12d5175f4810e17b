// Laws of the law of bits on models of series, each for float and double over every pooling; gradients against
// differences; a model worked out by hand; the tap.
#include "dikkat/models/series_model.h"

#include <cmath>
#include <map>
#include <tuple>

#include "dikkat/base/error.h"
#include "dikkat/base/parallel.h"
#include "dikkat/base/testing.h"
#include "dikkat/models/series_testing.h"
#include "dikkat/nn/tap.h"

namespace dikkat::models {
namespace {

using ::dikkat::testing::error_of;
using testing::Pass;
using testing::SeriesBatch;
using Gradients = nn::ParameterStore::Gradients;

class SeriesLawTest : public ::testing::TestWithParam<std::tuple<std::size_t, DType>> {
 protected:
  SeriesLawTest() { testing::spread(model_, executor_, 1); }

  static const Config& config() { return testing::series_menu()[std::get<0>(GetParam())].config; }
  static DType dtype() { return std::get<1>(GetParam()); }
  // Lengths from 1 to the whole context.
  static std::vector<std::size_t> seven() { return {17, 3, 16, 1, 17, 8, 2}; }
  static SeriesBatch series(const std::vector<std::size_t>& lengths, std::size_t first = 0) {
    return testing::series_of(config(), dtype(), lengths, first);
  }
  Pass pass(const SeriesBatch& batch, Mode mode, const kernels::Executor& executor) const {
    return testing::pass_over(model_, testing::context_of(executor, batch, mode), batch);
  }
  Pass pass(const SeriesBatch& batch, Mode mode) const { return pass(batch, mode, executor_); }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
  SeriesModel model_{config(), dtype(), Gradients::kept};
};

TEST_P(SeriesLawTest, BatchOfSevenEqualsSevenBatchesOfOne) {
  for (const Mode mode : {Mode::evaluation, Mode::training}) {
    const Pass together = pass(series(seven()), mode);
    for (std::size_t b = 0; b < 7; ++b) {
      const Pass alone = pass(series({seven()[b]}, b), mode);
      EXPECT_TRUE(testing::same_bits(together.logits.slice(0, b, b + 1), alone.logits)) << "sample " << b;
      EXPECT_TRUE(testing::same_bits(together.losses.slice(0, b, b + 1), alone.losses)) << "sample " << b;
    }
  }
}

TEST_P(SeriesLawTest, ThreadsBodiesAndInstructionSetsAreEqual) {
  const SeriesBatch batch = series(seven());
  const Pass expected = pass(batch, Mode::training);
  for (const unsigned threads : {2U, 3U}) {
    Pool pool(threads);
    EXPECT_EQ(testing::difference(pass(batch, Mode::training, {pool}), expected), "") << threads << " threads";
  }
  EXPECT_EQ(testing::difference(pass(batch, Mode::training, {pool_, kernels::Bodies::reference}), expected), "");
  EXPECT_EQ(testing::difference(pass(batch, Mode::training, {pool_, kernels::Bodies::check}), expected), "");
  for (const auto set : {kernels::InstructionSet::avx2, kernels::InstructionSet::avx512}) {
    if (!kernels::supports(set)) continue;
    kernels::Executor executor{pool_};
    executor.instructions = set;
    EXPECT_EQ(testing::difference(pass(batch, Mode::training, executor), expected), "") << kernels::name_of(set);
  }
}

// 15 samples of the context make a chunk (14 with a class token), so these two batches are two chunks.
TEST_P(SeriesLawTest, BatchesOfWholeChunksAddUpToTheBigBatch) {
  const std::size_t chunk = kernels::samples_per_chunk(config().context + testing::extra_rows_of(config()));
  const std::vector<std::size_t> all(2 * chunk, 4);
  const SeriesBatch batch = series(all);
  const Pass expected = pass(batch, Mode::training);
  Pass sum;
  model_.parameters().zero_gradients();
  for (const std::size_t first : {std::size_t{0}, chunk}) {
    const SeriesBatch half = series(std::vector<std::size_t>(chunk, 4), first);
    testing::add_pass(model_, testing::context_of(executor_, half, Mode::training), half, testing::scale_of(batch),
                      sum);
  }
  testing::take_gradients(model_, executor_, sum);
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_TRUE(testing::same_bits(sum.gradients[i].second, expected.gradients[i].second))
        << expected.gradients[i].first;
  }
}

TEST_P(SeriesLawTest, ChangingAReadingReachesItsOwnSampleOnly) {
  const SeriesBatch batch = series({12, 9});
  const Tensor before = pass(batch, Mode::evaluation).logits;
  with_number(dtype(), [&]<class T>() { batch.values.template data<T>()[11 * config().channels] += T{1}; });
  const Tensor after = pass(batch, Mode::evaluation).logits;
  EXPECT_FALSE(testing::same_bits(before.slice(0, 0, 1), after.slice(0, 0, 1)));
  EXPECT_TRUE(testing::same_bits(before.slice(0, 1, 2), after.slice(0, 1, 2)));
}

// Dropout acts in training only, and hangs on the seed and the step alone.
TEST_P(SeriesLawTest, DropoutIsAFunctionOfSeedAndStepAndOffInEvaluation) {
  const SeriesBatch batch = series(seven());
  Config without = config();
  without.dropout = without.attention_dropout = 0;
  const SeriesModel plain(without, dtype(), Gradients::kept);
  testing::spread(plain, executor_, 1);
  Context context = testing::context_of(executor_, batch, Mode::training);
  const Pass rate_zero = testing::pass_over(plain, context, batch);
  EXPECT_EQ(testing::difference(pass(batch, Mode::evaluation), rate_zero), "");
  const Pass first = testing::pass_over(model_, context, batch);
  const std::string with_dropout = config().dropout > 0 ? "logits" : "";
  EXPECT_EQ(testing::difference(first, rate_zero), with_dropout);
  context.step = 6;
  EXPECT_EQ(testing::difference(testing::pass_over(model_, context, batch), first), with_dropout);
  context.step = 5;
  context.seed = 4;
  EXPECT_EQ(testing::difference(testing::pass_over(model_, context, batch), first), with_dropout);
  context.seed = 3;
  EXPECT_EQ(testing::difference(testing::pass_over(model_, context, batch), first), "");
}

// Two passes may be on their tapes at once: what one holds for its backward is not the other's.
TEST_P(SeriesLawTest, TwoRecordedPassesDoNotDisturbEachOther) {
  const SeriesBatch batches[] = {series(std::vector<std::size_t>(20, 3)), series({5}, 20)};
  const double scale = 1.0 / 21;
  Pass expected;
  model_.parameters().zero_gradients();
  for (const SeriesBatch& batch : batches) {
    testing::add_pass(model_, testing::context_of(executor_, batch, Mode::training), batch, scale, expected);
  }
  testing::take_gradients(model_, executor_, expected);

  Pass seen;
  model_.parameters().zero_gradients();
  Tape tapes[2];
  for (std::size_t i = 0; i < 2; ++i) {
    Context context = testing::context_of(executor_, batches[i], Mode::training);
    context.tape = &tapes[i];
    const Variable outputs = model_.forward(context, batches[i].values);
    (void)testing::loss_of(config(), context, outputs, batches[i], scale);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    Context context = testing::context_of(executor_, batches[i], Mode::training);
    context.tape = &tapes[i];
    tapes[i].backward(context);
  }
  testing::take_gradients(model_, executor_, seen);
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_TRUE(testing::same_bits(seen.gradients[i].second, expected.gradients[i].second))
        << expected.gradients[i].first;
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, SeriesLawTest,
                         ::testing::Combine(::testing::Range(std::size_t{0}, testing::series_menu().size()),
                                            ::testing::Values(DType::f32, DType::f64)),
                         [](const auto& instance) {
                           return testing::series_menu()[std::get<0>(instance.param)].name + "_" +
                                  std::string(name_of(std::get<1>(instance.param)));
                         });

class SeriesGradientTest : public ::testing::TestWithParam<std::size_t> {};

// Every parameter of the model with dropout, over samples of unequal lengths, against central differences.
TEST_P(SeriesGradientTest, EveryParameterAgreesWithDifferences) {
  const Config& config = testing::series_menu()[GetParam()].config;
  const SeriesModel model(config, DType::f64, Gradients::kept);
  Pool pool(1);
  testing::spread(model, {pool}, 1);
  const SeriesBatch batch = testing::series_of(config, DType::f64, {4, 1, 7});
  Context context = testing::context_of({pool}, batch, Mode::training);
  const Pass pass = testing::pass_over(model, context, batch);
  const auto loss = [&] {
    const Variable outputs = model.forward(context, batch.values);
    double sum = 0;
    const Tensor losses = testing::loss_of(config, context, outputs, batch, 1.0);
    for (const double one : losses.span<double>()) sum += one / 3;
    return sum;
  };
  for (const auto& [path, gradient] : pass.gradients) {
    double* value = model.parameters().find(path)->value().data<double>();
    double largest = 0;
    for (const double g : gradient.span<double>()) largest = std::max(largest, std::abs(g));
    EXPECT_GT(largest, 0) << path;
    for (std::size_t i = 0; i < gradient.count(); ++i) {
      const double here = value[i];
      value[i] = here + 1e-5;
      const double above = loss();
      value[i] = here - 1e-5;
      const double below = loss();
      value[i] = here;
      ASSERT_NEAR(gradient.data<double>()[i], (above - below) / 2e-5, 1e-6 * std::max(largest, 1e-3))
          << path << " entry " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, SeriesGradientTest, ::testing::Range(std::size_t{0}, testing::series_menu().size()),
                         [](const auto& instance) { return testing::series_menu()[instance.param].name; });

// Samples longer than a chunk are cut, and those after them are chunks of their own: batches of one add up.
TEST(SeriesModel, GradientsOfLongSamplesAddUp) {
  for (const PoolingKind pooling :
       {PoolingKind::mean, PoolingKind::last, PoolingKind::attention_query, PoolingKind::class_token}) {
    Config config = testing::series_menu()[0].config;
    config.context = 600;
    config.pooling = pooling;
    const SeriesModel model(config, DType::f32, Gradients::kept);
    Pool pool(1);
    testing::spread(model, {pool}, 1);
    const std::vector<std::size_t> lengths = {600, 3, 257, 1, 256, 255, 2};
    const SeriesBatch batch = testing::series_of(config, DType::f32, lengths);
    const Pass expected = testing::pass_over(model, testing::context_of({pool}, batch, Mode::training), batch);
    Pass sum;
    model.parameters().zero_gradients();
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const SeriesBatch alone = testing::series_of(config, DType::f32, {lengths[b]}, b);
      testing::add_pass(model, testing::context_of({pool}, alone, Mode::training), alone, 1.0 / 7, sum);
    }
    testing::take_gradients(model, {pool}, sum);
    for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
      EXPECT_TRUE(testing::same_bits(sum.gradients[i].second, expected.gradients[i].second))
          << expected.gradients[i].first;
    }
  }
}

// One channel, one head: keys are the readings, values twice the readings, query 1. Readings 0 and ln 3 are weighed
// 1/4 and 3/4, so 3/2 ln 3 is pooled; times 4 and plus 1 is 6 ln 3 + 1.
TEST(SeriesModel, AttentionQueryByHand) {
  const Config config{.task = Task::classify,
                      .channels = 1,
                      .outputs = 1,
                      .context = 2,
                      .width = 1,
                      .layers = 0,
                      .heads = 1,
                      .norm = NormKind::none,
                      .position = PositionKind::none,
                      .input = InputKind::raw,
                      .pooling = PoolingKind::attention_query,
                      .output_bias = true};
  const SeriesModel model(config, DType::f64, Gradients::kept);
  const std::map<std::string, std::vector<double>> values = {
      {"pooling.key_value.weight", {1, 2}}, {"pooling.query", {1}}, {"output.weight", {4}}, {"output.bias", {1}}};
  for (const auto& [path, numbers] : values) {
    std::copy(numbers.begin(), numbers.end(), model.parameters().find(path)->value().data<double>());
  }
  EXPECT_EQ(model.parameters().count(), 5U);
  Pool pool(1);
  SeriesBatch batch = testing::series_of(config, DType::f64, {2});
  batch.values.assign(Tensor::of<double>({2, 1}, std::vector<double>{0, std::log(3.0)}));
  Context context = testing::context_of({pool}, batch, Mode::evaluation);
  EXPECT_NEAR(model.forward(context, batch.values).value.data<double>()[0], 6 * std::log(3.0) + 1, 1e-14);
}

// Without position the pooled sums do not hang on the order of the steps, to the bit.
TEST(SeriesModel, OrderWithoutPositionChangesNothing) {
  const Config& config = testing::series_menu()[2].config;
  const SeriesModel model(config, DType::f32, Gradients::none);
  Pool pool(1);
  testing::spread(model, {pool}, 1);
  const SeriesBatch batch = testing::series_of(config, DType::f32, std::vector<std::size_t>(40, 17));
  const SeriesBatch turned = testing::series_of(config, DType::f32, std::vector<std::size_t>(40, 17));
  for (std::size_t r = 0; r < batch.rows.count(); ++r) {
    const std::size_t from = batch.rows.first_row[r / 17] + (r % 17 * 5 + 3) % 17;
    turned.values.slice(0, r, r + 1).assign(batch.values.slice(0, from, from + 1));
  }
  Context context = testing::context_of({pool}, batch, Mode::evaluation);
  EXPECT_TRUE(
      testing::same_bits(model.forward(context, batch.values).value, model.forward(context, turned.values).value));
}

// A new model knows nothing: ln 2 nats for two classes, ln K for K, whatever the pooling.
TEST(SeriesModel, StartsNearAUniformGuess) {
  for (const PoolingKind pooling :
       {PoolingKind::mean, PoolingKind::last, PoolingKind::attention_query, PoolingKind::class_token}) {
    for (const std::size_t outputs : {1U, 3U}) {
      Config config = testing::series_menu()[0].config;
      config.pooling = pooling;
      config.outputs = outputs;
      const SeriesModel model(config, DType::f32, Gradients::kept);
      Pool pool(1);
      model.initialise({pool}, 1);
      const SeriesBatch batch = testing::series_of(config, DType::f32, {17, 17, 17, 17, 17, 17});
      const Pass pass = testing::pass_over(model, testing::context_of({pool}, batch, Mode::evaluation), batch);
      double loss = 0;
      for (const float one : pass.losses.span<float>()) loss += one / 6.0;
      EXPECT_NEAR(loss, std::log(outputs == 1 ? 2.0 : 3.0), 0.1);
    }
  }
}

class Replacer final : public nn::Tap {
 public:
  bool wants(std::string_view) const override { return true; }
  void see(std::string_view path, Tensor& activation) override {
    kept[std::string(path)] = activation.clone();
    const Tensor copy = activation.clone();
    activation.fill(std::nan(""));
    activation.assign(copy);
  }
  std::map<std::string, Tensor> kept;
};

class SeriesTapTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SeriesTapTest, ShowsEveryPathAndWritingBackChangesNoBit) {
  const Config& config = testing::series_menu()[GetParam()].config;
  const SeriesModel model(config, DType::f32, Gradients::kept);
  Pool pool(1);
  testing::spread(model, {pool}, 1);
  const SeriesBatch batch = testing::series_of(config, DType::f32, {9, 17, 4});
  Context context = testing::context_of({pool}, batch, Mode::training);
  const Pass expected = testing::pass_over(model, context, batch);
  Replacer recorder;
  context.tap = &recorder;
  EXPECT_EQ(testing::difference(testing::pass_over(model, context, batch), expected), "");

  const std::size_t rows = 30 + 3 * model.extra_rows();
  EXPECT_EQ(recorder.kept.at("embedding").shape(), (Shape{rows, config.width}));
  EXPECT_EQ(recorder.kept.at("final_norm").shape(), (Shape{rows, config.width}));
  EXPECT_EQ(recorder.kept.at("outputs").shape(), (Shape{3, config.outputs}));
  EXPECT_EQ(recorder.kept.contains("blocks.0.attention.pattern"), config.layers > 0);
  const bool by_query = config.pooling == PoolingKind::attention_query;
  const std::size_t pooled = by_query ? config.heads * config.head_width : config.width;
  EXPECT_EQ(recorder.kept.at("pooled").shape(), (Shape{3, pooled}));
  ASSERT_EQ(recorder.kept.contains("pooling.pattern"), by_query);
  if (by_query) {
    const Tensor& pattern = recorder.kept.at("pooling.pattern");
    ASSERT_EQ(pattern.shape(), (Shape{30, config.heads}));
    double sum = 0;
    const Tensor second = pattern.slice(0, 9, 26);
    for (const float weight : second.span<float>()) sum += weight;
    EXPECT_NEAR(sum, static_cast<double>(config.heads), 1e-5);  // over the second sample's steps
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, SeriesTapTest, ::testing::Range(std::size_t{0}, testing::series_menu().size()),
                         [](const auto& instance) { return testing::series_menu()[instance.param].name; });

// Raw input is the stream itself; a tap that writes into the stream leaves the caller's series alone.
TEST(SeriesModel, ATapNeverWritesIntoTheSeries) {
  class Eraser final : public nn::Tap {
   public:
    bool wants(std::string_view path) const override { return path == "embedding"; }
    void see(std::string_view, Tensor& activation) override { activation.fill(0.0); }
  } eraser;
  const Config& config = testing::series_menu()[2].config;
  const SeriesModel model(config, DType::f32, Gradients::none);
  Pool pool(1);
  testing::spread(model, {pool}, 1);
  const SeriesBatch batch = testing::series_of(config, DType::f32, {5});
  const Tensor before = batch.values.clone();
  Context context = testing::context_of({pool}, batch, Mode::evaluation);
  const Tensor untouched = model.forward(context, batch.values).value;
  context.tap = &eraser;
  EXPECT_FALSE(testing::same_bits(model.forward(context, batch.values).value, untouched));
  EXPECT_TRUE(testing::same_bits(batch.values, before));
}

TEST(SeriesModel, WhatDoesNotFitIsRefused) {
  const Config& config = testing::series_menu()[0].config;
  const SeriesModel model(config, DType::f32, Gradients::none);
  Pool pool(1);
  const SeriesBatch batch = testing::series_of(config, DType::f32, {5, 2});
  Context context = testing::context_of({pool}, batch, Mode::evaluation);
  EXPECT_EQ(error_of([&] {
              (void)model.forward(context, Tensor::zeros({7, 3}, DType::f32));
            }).message(),
            "series model: values has shape (7,3); expected (7,2)");
  const SeriesBatch empty = testing::series_of(config, DType::f32, {5, 0, 2});
  Context of_empty = testing::context_of({pool}, empty, Mode::evaluation);
  EXPECT_EQ(error_of([&] { (void)model.forward(of_empty, empty.values); }).message(),
            "series model: sample 1 has no steps");
}

TEST(SeriesModel, TextAndSeriesHaveTheirOwnModels) {
  const Error text = error_of([] { (void)SeriesModel(testing::menu()[0].config, DType::f32, Gradients::none); });
  EXPECT_EQ(text.kind(), ErrorKind::usage);
  EXPECT_EQ(text.place().key, "task");
  EXPECT_EQ(text.message(), "task: a model of series learns a class or a number; got next-token");
  const Error series =
      error_of([] { (void)LanguageModel(testing::series_menu()[0].config, DType::f32, Gradients::none); });
  EXPECT_EQ(series.kind(), ErrorKind::usage);
  EXPECT_EQ(series.message(), "task: a model of text learns the next token; got classify");
}

}  // namespace
}  // namespace dikkat::models
