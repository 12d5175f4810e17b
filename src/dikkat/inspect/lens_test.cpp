#include "dikkat/inspect/lens.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/inspect/intervention_testing.h"
#include "dikkat/inspect/windows.h"

namespace dikkat::inspect {
namespace {

namespace make = models::testing;
using testing::Twins;

class LensTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const models::Config& config() { return make::menu()[GetParam()].config; }

  Twins twins_{config()};
  Passes passes_{twins_.model, twins_.executor};
  std::vector<text::Token> text_ = testing::random_text(config(), 15);
};

TEST_P(LensTest, TheLastPointIsTheModelsOwnOutput) {
  const std::vector<LensReading> readings = lens(passes_, text_);
  EXPECT_EQ(readings.size(), 1 + 2 * config().layers);
  EXPECT_TRUE(make::same_bits(readings.back().logits, passes_.logits(text_, nullptr)));
}

// A model that ends after block l, made of the same weights, says what the lens reads there; and with nothing from its
// last MLP, what it reads before that MLP.
TEST_P(LensTest, APointIsAModelThatEndsThere) {
  const std::vector<LensReading> readings = lens(passes_, text_);
  for (std::size_t l = 0; l < config().layers; ++l) {
    models::Config shorter = config();
    shorter.layers = l + 1;
    const models::LanguageModel model(shorter, DType::f32, nn::ParameterStore::Gradients::none);
    Twins::copy(twins_.model, model);
    Passes passes(model, twins_.executor);
    EXPECT_EQ(readings[2 + 2 * l].point.path, "blocks." + std::to_string(l) + ".residual_post");
    EXPECT_TRUE(make::same_bits(readings[2 + 2 * l].logits, passes.logits(text_, nullptr))) << l;
    if (config().placement == models::Placement::post || config().residuals == models::Residuals::off) continue;
    for (const char* name : {".mlp.down.weight", ".mlp.down.bias"}) {
      const nn::Parameter* parameter = model.parameters().find("blocks." + std::to_string(l) + name);
      if (parameter != nullptr) parameter->value().fill(0);
    }
    const Tensor expected = passes.logits(text_, nullptr);
    const Tensor& read = readings[1 + 2 * l].logits;
    for (std::size_t i = 0; i < expected.count(); ++i) {
      EXPECT_EQ(read.data<float>()[i], expected.data<float>()[i]) << l;
    }
  }
}

TEST_P(LensTest, RowsSayTopRankProbabilityAndLoss) {
  const std::vector<LensReading> readings = lens(passes_, text_);
  const std::size_t v = config().vocabulary;
  for (const LensReading& reading : readings) {
    ASSERT_EQ(reading.rows.size(), 15U);
    for (std::size_t r = 0; r < 15; ++r) {
      const float* logits = reading.logits.data<float>() + r * v;
      double sum = 0;
      for (std::size_t i = 0; i < v; ++i) sum += std::exp(static_cast<double>(logits[i]));
      const LensRow& row = reading.rows[r];
      EXPECT_EQ(logits[row.top], *std::max_element(logits, logits + v));
      EXPECT_NEAR(row.top_probability, std::exp(static_cast<double>(logits[row.top])) / sum, 1e-12);
      if (r == 14) {
        EXPECT_EQ(row.rank, 0U);
        EXPECT_EQ(row.loss_nats, 0.0);
        continue;
      }
      const text::Token next = text_[r + 1];
      EXPECT_EQ(row.rank, 1 + std::count_if(logits, logits + v, [&](float x) { return x > logits[next]; }));
      EXPECT_NEAR(row.probability, std::exp(static_cast<double>(logits[next])) / sum, 1e-12);
      EXPECT_NEAR(row.loss_nats, -std::log(row.probability), 2e-6 * std::max(1.0, row.loss_nats));
    }
  }
}

TEST_P(LensTest, LossesOverWindowsAreThoseOfTheRows) {
  const std::vector<text::Token> text = testing::random_text(config(), 700);
  const std::vector<std::size_t> starts = windows_over(text, 8, 70, 1);
  const std::vector<std::vector<double>> losses = lens_losses(passes_, text, starts, 8);
  data::Batch batch;
  fill(text, starts, 8, batch);
  EXPECT_EQ(losses.back(), passes_.losses(batch, nullptr));
  const std::span<const text::Token> whole = text;
  for (const std::size_t w : {std::size_t{0}, std::size_t{69}}) {
    const std::vector<LensReading> readings = lens(passes_, whole.subspan(starts[w], 9));
    for (std::size_t p = 0; p < readings.size(); ++p) {
      double sum = 0;
      for (std::size_t r = 0; r < 8; ++r) sum += readings[p].rows[r].loss_nats;
      // A bidirectional model sees a ninth token there, which the window does not hold.
      if (config().direction == models::Direction::causal) {
        EXPECT_NEAR(losses[p][w], sum / 8, 1e-12);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, LensTest, ::testing::Range(std::size_t{0}, make::menu().size()),
                         [](const auto& instance) { return make::menu()[instance.param].name; });

TEST(Lens, OneTokenHasNothingThatFollows) {
  const Twins twins(make::menu()[0].config);
  Passes passes(twins.model, twins.executor);
  const std::vector<text::Token> one = {4};
  const std::vector<LensReading> readings = lens(passes, one);
  EXPECT_EQ(readings.front().rows.size(), 1U);
  EXPECT_EQ(readings.front().rows.front().rank, 0U);
  EXPECT_THROW((void)lens(passes, {}), Error);
  EXPECT_THROW((void)lens(passes, std::vector<text::Token>(18, 1)), Error);
}

}  // namespace
}  // namespace dikkat::inspect
