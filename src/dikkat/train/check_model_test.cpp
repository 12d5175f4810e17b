#include "dikkat/train/check_model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <list>
#include <vector>

#include "dikkat/base/parallel.h"
#include "dikkat/random/streams.h"

namespace dikkat::train {
namespace {

using ::testing::HasSubstr;
using Gradients = nn::ParameterStore::Gradients;

constexpr double kLong = 600;  // more seconds than any of it takes

models::Config small_model() {
  return {.vocabulary = 11, .context = 12, .width = 16, .layers = 2, .heads = 2, .dropout = 0.1};
}

std::vector<text::Token> tokens_of(std::size_t vocabulary) {
  std::vector<text::Token> tokens;
  const random::Stream stream = random::stream(3, "test text");
  for (std::uint32_t i = 0; i < 200; ++i) {
    tokens.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, vocabulary)));
  }
  return tokens;
}

// Ten series of one to eight steps, two channels; a class of `classes` or a number each.
data::CodedSeries series_of(std::size_t classes) {
  data::CodedSeries series;
  series.channels = 2;
  const random::Stream stream = random::stream(4, "test series");
  for (std::uint32_t s = 0; s < 10; ++s) {
    for (std::uint32_t i = 0; i < 2 * (1 + s % 8); ++i) {
      series.values.push_back(2 * random::uniform(stream, {s, i, 0, 0}) - 1);
    }
    series.first_step.push_back(series.values.size() / 2);
    series.classes.push_back(classes == 0 ? -1 : static_cast<std::int32_t>(s % classes));
    if (classes == 0) series.numbers.push_back(s < 5 ? -1.5 : 0.5);
  }
  return series;
}

models::Config series_model(models::Task task, std::size_t outputs) {
  models::Config config;
  config.task = task;
  config.channels = 2;
  config.outputs = outputs;
  config.context = 8;
  config.width = 12;
  config.layers = 1;
  config.heads = 2;
  config.direction = models::Direction::bidirectional;
  return config;
}

class CheckModel : public ::testing::Test {
 protected:
  std::unique_ptr<Probe> probe(const models::Config& model, DType dtype) {
    texts_.push_back(tokens_of(model.vocabulary));
    return text_probe({.model = model, .dtype = dtype, .seed = 1, .samples = 2, .length = 8}, texts_.back(), executor_);
  }
  std::unique_ptr<Probe> probe(const models::Config& model, DType dtype, const data::CodedSeries& series) {
    const std::vector<std::size_t> rows{0, 1, 2, 4, 5, 6, 8, 9};
    return series_probe({.model = model, .dtype = dtype, .seed = 1, .samples = 6, .length = 8}, series, rows,
                        executor_);
  }
  Pool pool_{1};
  kernels::Executor executor_{.pool = pool_};
  std::list<std::vector<text::Token>> texts_;  // of the probes, which only look at them
};

TEST_F(CheckModel, FirstLossIsThatOfGuessing) {
  EXPECT_EQ(check_first_loss(2.5, std::log(11.0)).severity, Severity::fine);
  EXPECT_EQ(check_first_loss(3.5, std::log(11.0)).severity, Severity::warning);
  EXPECT_EQ(check_first_loss(1.5, std::log(11.0)).severity, Severity::warning);
  const Finding nothing = check_first_loss(std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_EQ(nothing.severity, Severity::trouble);
  EXPECT_EQ(nothing.kind, ErrorKind::numeric);
  EXPECT_NEAR(probe(small_model(), DType::f32)->loss(Gradients::none), std::log(11.0), 0.2);
}

TEST_F(CheckModel, LossIsTheSameWithAndWithoutGradients) {
  const auto one = probe(small_model(), DType::f64);
  const double loss = one->loss(Gradients::none);
  EXPECT_EQ(one->loss(Gradients::kept), loss);
  EXPECT_EQ(one->loss(Gradients::none), loss);
}

TEST_F(CheckModel, GradientsOfTheMenuAgree) {
  models::Config rotary = small_model();
  rotary.position = models::PositionKind::rotary;
  rotary.norm = models::NormKind::rms;
  rotary.activation = models::Activation::swiglu;
  rotary.kv_heads = 1;
  rotary.attention_dropout = 0.2;
  models::Config relu = small_model();
  relu.activation = models::Activation::relu;
  relu.output = models::OutputKind::free;
  relu.norm_bias = relu.attention_bias = relu.mlp_bias = relu.output_bias = true;
  for (const models::Config& model : {small_model(), rotary, relu}) {
    const Finding finding = check_gradients(*probe(model, DType::f64), 1, kLong);
    EXPECT_EQ(finding.severity, Severity::fine) << finding.where << ": " << finding.what;
  }
}

TEST_F(CheckModel, ModelsOfSeriesAreTriedAlike) {
  const struct {
    models::Task task;
    std::size_t classes;
    std::size_t outputs;
    double ignorance;
  } cases[] = {{models::Task::classify, 2, 1, std::log(2.0)}, {models::Task::classify, 3, 3, std::log(3.0)}};
  for (const auto& c : cases) {
    const auto tried = probe(series_model(c.task, c.outputs), DType::f64, series_of(c.classes));
    EXPECT_EQ(tried->ignorance(), c.ignorance);
    EXPECT_EQ(check_first_loss(tried->loss(Gradients::none), tried->ignorance()).severity, Severity::fine);
    const Finding gradients = check_gradients(*tried, 1, kLong);
    EXPECT_EQ(gradients.severity, Severity::fine) << gradients.where << ": " << gradients.what;
    EXPECT_EQ(check_memorising(*tried, Settings(), executor_, kLong).severity, Severity::fine);
  }
}

TEST_F(CheckModel, ModelsOfNumbersKnowTheirSpread) {
  const auto tried = probe(series_model(models::Task::regress, 1), DType::f64, series_of(0));
  // six of eight series: between all of the one number's and all of the other's squares
  EXPECT_GT(tried->ignorance(), 0.25);
  EXPECT_LT(tried->ignorance(), 2.25);
  EXPECT_NEAR(tried->loss(Gradients::none), tried->ignorance(), 0.1);
  EXPECT_EQ(check_gradients(*tried, 1, kLong).severity, Severity::fine);
}

TEST_F(CheckModel, ALongSeriesIsCut) {
  const data::CodedSeries series = series_of(2);
  const std::vector<std::size_t> rows{7, 9};
  const auto loss_of = [&](std::size_t length) {
    return series_probe({.model = series_model(models::Task::classify, 1),
                         .dtype = DType::f64,
                         .seed = 1,
                         .samples = 2,
                         .length = length},
                        series, rows, executor_)
        ->loss(Gradients::none);
  };
  data::CodedSeries shorter;  // series 7 and 9, one step of each
  shorter.channels = 2;
  for (const std::size_t s : rows) {
    const std::size_t at = series.first_step[s] * 2;
    shorter.values.insert(shorter.values.end(), {series.values[at], series.values[at + 1]});
    shorter.first_step.push_back(shorter.first_step.back() + 1);
    shorter.classes.push_back(series.classes[s]);
  }
  const std::vector<std::size_t> both{0, 1};
  EXPECT_EQ(
      loss_of(1),
      series_probe(
          {.model = series_model(models::Task::classify, 1), .dtype = DType::f64, .seed = 1, .samples = 2, .length = 8},
          shorter, both, executor_)
          ->loss(Gradients::none));
  EXPECT_NE(loss_of(1), loss_of(8));
}

// The loss of a probe with something added that backward knows nothing of.
class LyingProbe final : public Probe {
 public:
  LyingProbe(std::unique_ptr<Probe> honest, std::string path, double share)
      : honest_(std::move(honest)), path_(std::move(path)), share_(share) {}
  const nn::ParameterStore& parameters() const override { return honest_->parameters(); }
  double ignorance() const override { return honest_->ignorance(); }
  double loss(Gradients gradients) override {
    const auto values = parameters().find(path_)->value().span<double>();
    double sum = 0;
    for (const double value : values) sum += value;
    return honest_->loss(gradients) + share_ * sum;
  }

 private:
  std::unique_ptr<Probe> honest_;
  std::string path_;
  double share_;
};

TEST_F(CheckModel, AWrongGradientIsFoundAndNamed) {
  for (const char* path : {"blocks.1.mlp.down.weight", "token_embedding.weight"}) {
    LyingProbe lying(probe(small_model(), DType::f64), path, 1e-4);
    const Finding finding = check_gradients(lying, 1, kLong);
    EXPECT_EQ(finding.severity, Severity::trouble);
    EXPECT_EQ(finding.kind, ErrorKind::internal);
    EXPECT_THAT(finding.where, HasSubstr(path));
  }
}

TEST_F(CheckModel, GradientsThatThereIsNoTimeForAreSaidToBeUnchecked) {
  const Finding finding = check_gradients(*probe(small_model(), DType::f64), 1, 0);
  EXPECT_EQ(finding.severity, Severity::note);
  EXPECT_THAT(finding.what, HasSubstr("0 of"));
}

Settings with_rate(double rate) {
  Settings settings;
  settings.learning_rate = rate;
  return settings;
}

TEST_F(CheckModel, OneBatchIsLearntByHeart) {
  models::Config model = small_model();
  model.dropout = 0;
  const Finding finding = check_memorising(*probe(model, DType::f32), with_rate(3e-3), executor_, kLong);
  EXPECT_EQ(finding.severity, Severity::fine) << finding.what;
}

TEST_F(CheckModel, ARateThatLearnsNothingOrDivergesIsFound) {
  const Finding still = check_memorising(*probe(small_model(), DType::f32), with_rate(1e-9), executor_, kLong);
  EXPECT_EQ(still.severity, Severity::trouble);
  EXPECT_EQ(still.kind, ErrorKind::numeric);
  EXPECT_THAT(still.what, HasSubstr("it does not learn"));
  EXPECT_EQ(check_memorising(*probe(small_model(), DType::f32), with_rate(100), executor_, kLong).severity,
            Severity::trouble);
  const Finding slow = check_memorising(*probe(small_model(), DType::f32), with_rate(1e-4), executor_, kLong);
  EXPECT_EQ(slow.severity, Severity::warning) << slow.what;
  EXPECT_EQ(check_memorising(*probe(small_model(), DType::f32), with_rate(1e-9), executor_, 0).severity,
            Severity::note);
}

}  // namespace
}  // namespace dikkat::train
