#include "dikkat/train/check_model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

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

data::Batch batch_of(std::size_t samples, std::size_t length, std::size_t vocabulary) {
  std::vector<text::Token> tokens;
  const random::Stream stream = random::stream(3, "test text");
  for (std::uint32_t i = 0; i < 200; ++i) {
    tokens.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, vocabulary)));
  }
  data::Batch batch;
  data::training_batch(tokens, length, random::stream(1, "sampler"), 1, 0, samples, batch);
  return batch;
}

class CheckModel : public ::testing::Test {
 protected:
  std::unique_ptr<Probe> probe(const models::Config& model, DType dtype) {
    return text_probe(model, dtype, 1, batch_of(2, 8, model.vocabulary), executor_);
  }
  Pool pool_{1};
  kernels::Executor executor_{.pool = pool_};
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

// The loss of a probe with something added that backward knows nothing of.
class LyingProbe final : public Probe {
 public:
  LyingProbe(std::unique_ptr<Probe> honest, std::string path, double share)
      : honest_(std::move(honest)), path_(std::move(path)), share_(share) {}
  const nn::ParameterStore& parameters() const override { return honest_->parameters(); }
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
