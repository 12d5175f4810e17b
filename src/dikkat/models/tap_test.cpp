// The tap on whole models: every path is shown with its shape, looking changes no bit, writing back changes no bit,
// writing something else changes the output; dropout stands exactly where the house says.
#include "dikkat/nn/tap.h"

#include <cmath>
#include <functional>
#include <map>

#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"

namespace dikkat::models {
namespace {

using testing::Pass;

// Keeps a copy of every activation.
class Recorder final : public nn::Tap {
 public:
  bool wants(std::string_view) const override { return true; }
  void see(std::string_view path, Tensor& activation) override {
    paths.emplace_back(path);
    kept[std::string(path)] = activation.clone();
  }

  std::vector<std::string> paths;
  std::map<std::string, Tensor> kept;
};

// Hands one path (empty: all of them) to `change`.
class Changer final : public nn::Tap {
 public:
  Changer(std::string path, std::function<void(Tensor&)> change) : path_(std::move(path)), change_(std::move(change)) {}
  bool wants(std::string_view path) const override { return path_.empty() || path == path_; }
  void see(std::string_view, Tensor& activation) override { change_(activation); }

 private:
  std::string path_;
  std::function<void(Tensor&)> change_;
};

void write_back(Tensor& activation) {
  const Tensor copy = activation.clone();
  activation.fill(std::nan(""));
  activation.assign(copy);
}

// An uneven change, so that no norm can undo it.
void disturb(Tensor& activation) {
  const Tensor copy = activation.clone();
  with_number(copy.dtype(), [&]<class T>() {
    std::size_t i = 0;
    for (T& value : copy.span<T>()) value += static_cast<T>(0.25 * static_cast<double>(i++ % 3));
  });
  activation.assign(copy);
}

class ModelTapTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  ModelTapTest() { testing::spread(model_, executor_, 2); }

  static const Config& config() { return testing::menu()[GetParam()].config; }
  Pass pass(Mode mode, nn::Tap* tap) const {
    Context context = testing::context_of(executor_, batch_, mode);
    context.tap = tap;
    return testing::pass_over(model_, context, batch_);
  }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
  LanguageModel model_{config(), DType::f32, nn::ParameterStore::Gradients::kept};
  data::Batch batch_ = testing::batch_of(config(), {9, 17, 4});
};

TEST_P(ModelTapTest, ShowsEveryPathInOrderWithItsShape) {
  Recorder recorder;
  (void)pass(Mode::evaluation, &recorder);
  const Config& c = config();
  const std::size_t rows = 30;
  const std::size_t f = c.mlp_width_or_default();
  const std::size_t d = c.head_width_or_default();
  const std::size_t g = c.kv_heads_or_default();
  const std::vector<std::pair<std::string, Shape>> of_block = {
      {"residual_pre", {rows, c.width}},
      {"attention.q", {rows, c.heads, d}},
      {"attention.k", {rows, g, d}},
      {"attention.v", {rows, g, d}},
      {"attention.pattern", {rows, c.heads, 17}},
      {"attention.mixed", {rows, c.heads * d}},
      {"attention.out", {rows, c.width}},
      {"residual_mid", {rows, c.width}},
      {"mlp.pre", {rows, c.activation == Activation::swiglu ? 2 * f : f}},
      {"mlp.post", {rows, f}},
      {"mlp.out", {rows, c.width}},
      {"residual_post", {rows, c.width}}};
  std::vector<std::pair<std::string, Shape>> expected = {{"embedding", {rows, c.width}}};
  for (std::size_t l = 0; l < c.layers; ++l) {
    for (const auto& [name, shape] : of_block) expected.emplace_back("blocks." + std::to_string(l) + "." + name, shape);
  }
  expected.emplace_back("final_norm", Shape{rows, c.width});
  expected.emplace_back("logits", Shape{rows, c.vocabulary});

  ASSERT_EQ(recorder.paths.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(recorder.paths[i], expected[i].first);
    EXPECT_EQ(recorder.kept[recorder.paths[i]].shape().text(), expected[i].second.text()) << recorder.paths[i];
  }
}

TEST_P(ModelTapTest, LookingAndWritingBackChangeNoBit) {
  for (const Mode mode : {Mode::evaluation, Mode::training}) {
    const Pass expected = pass(mode, nullptr);
    Recorder recorder;
    EXPECT_EQ(testing::difference(pass(mode, &recorder), expected), "");
    EXPECT_TRUE(testing::same_bits(recorder.kept["logits"], expected.logits));
    Changer all("", write_back);
    EXPECT_EQ(testing::difference(pass(mode, &all), expected), "") << "all at once";
    for (const std::string& path : recorder.paths) {
      Changer one(path, write_back);
      EXPECT_EQ(testing::difference(pass(mode, &one), expected), "") << path;
    }
  }
}

TEST_P(ModelTapTest, ReplacingAnyActivationChangesTheOutput) {
  Recorder recorder;
  const Pass plain = pass(Mode::evaluation, &recorder);
  for (const std::string& path : recorder.paths) {
    Changer one(path, disturb);
    EXPECT_FALSE(testing::same_bits(pass(Mode::evaluation, &one).logits, plain.logits)) << path;
  }
}

TEST_P(ModelTapTest, PatternRowsSumToOneOverTheVisibleKeys) {
  Recorder recorder;
  (void)pass(Mode::training, &recorder);
  const Tensor pattern = recorder.kept["blocks.0.attention.pattern"];
  const kernels::Mask mask{config().direction, config().window};
  for (std::size_t r = 0; r < 30; ++r) {
    const std::size_t b = batch_.rows.sample[r];
    const auto seen = mask.visible(batch_.rows.position[r], batch_.lengths[b]);
    for (std::size_t h = 0; h < config().heads; ++h) {
      double sum = 0;
      for (std::size_t j = 0; j < 17; ++j) {
        const float weight = pattern.data<float>()[(r * config().heads + h) * 17 + j];
        const bool visible = j >= seen.begin && j < seen.end;
        EXPECT_EQ(weight > 0, visible) << "row " << r << " key " << j;
        sum += static_cast<double>(weight);
      }
      EXPECT_NEAR(sum, 1.0, 1e-6);
    }
  }
}

// y is x with entries either dropped or multiplied by 1 / (1 - rate); returns how many were kept.
std::size_t kept_of(const Tensor& x, const Tensor& y, double rate, const std::string& what) {
  const auto factor = static_cast<float>(1.0 / (1.0 - rate));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < x.count(); ++i) {
    const float in = x.data<float>()[i];
    const float out = y.data<float>()[i];
    const bool dropped = out == 0.0F;
    EXPECT_TRUE(dropped || out == in * factor) << what << " entry " << i;
    if (!dropped) ++kept;
  }
  return kept;
}

void expect_share(std::size_t kept, std::size_t of, double rate, const std::string& what) {
  const double deviation = std::sqrt(rate * (1 - rate) * static_cast<double>(of));
  EXPECT_NEAR(static_cast<double>(kept), (1 - rate) * static_cast<double>(of), 4 * deviation) << what;
  EXPECT_LT(kept, of) << what;
}

// Without residuals and norms the stream itself is what was dropped: after the embedding, after attention, after the
// MLP, each by a draw of its own, and nowhere else.
TEST(ModelDropout, ActsAtTheBooksThreePlaces) {
  const Config config{.vocabulary = 13,
                      .context = 64,
                      .width = 32,
                      .layers = 2,
                      .heads = 4,
                      .norm = NormKind::none,
                      .position = PositionKind::learned,
                      .attention_bias = true,
                      .mlp_bias = true,
                      .residuals = Residuals::off,
                      .dropout = 0.2};
  const LanguageModel model(config, DType::f32, nn::ParameterStore::Gradients::kept);
  Pool pool(1);
  testing::spread(model, {pool}, 4);
  const data::Batch batch = testing::batch_of(config, {64, 64});
  Recorder recorder;
  Context context = testing::context_of({pool}, batch, Mode::training);
  context.tap = &recorder;
  (void)testing::pass_over(model, context, batch);
  auto& kept = recorder.kept;

  const std::size_t count = 128 * 32;
  const std::vector<std::pair<std::string, std::string>> places = {{"embedding", "blocks.0.residual_pre"},
                                                                   {"blocks.0.attention.out", "blocks.0.residual_mid"},
                                                                   {"blocks.0.mlp.out", "blocks.0.residual_post"},
                                                                   {"blocks.1.attention.out", "blocks.1.residual_mid"},
                                                                   {"blocks.1.mlp.out", "blocks.1.residual_post"}};
  std::vector<std::vector<bool>> masks;
  for (const auto& [before, after] : places) {
    expect_share(kept_of(kept[before], kept[after], 0.2, after), count, 0.2, after);
    masks.emplace_back();
    for (const float value : kept[after].span<float>()) masks.back().push_back(value != 0.0F);
  }
  for (std::size_t a = 0; a < masks.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {  // independent draws agree in 0.8^2 + 0.2^2 = 0.68 of the places
      std::size_t agree = 0;
      for (std::size_t i = 0; i < count; ++i) agree += masks[a][i] == masks[b][i] ? 1 : 0;
      EXPECT_NEAR(static_cast<double>(agree), 0.68 * count, 4 * std::sqrt(0.68 * 0.32 * count)) << places[a].second;
    }
  }
  EXPECT_TRUE(testing::same_bits(kept["blocks.0.residual_post"], kept["blocks.1.residual_pre"]));
  EXPECT_TRUE(testing::same_bits(kept["blocks.1.residual_post"], kept["final_norm"]));
}

// With dropout on attention weights alone, the map that is shown is the one before the draw, and the mixture is of
// dropped weights: over one-hot values it is the dropped map itself.
TEST(ModelDropout, ActsOnAttentionWeightsIfAsked) {
  const Config config{.vocabulary = 13,
                      .context = 16,
                      .width = 16,
                      .layers = 1,
                      .heads = 1,
                      .norm = NormKind::none,
                      .position = PositionKind::none,
                      .direction = Direction::bidirectional,
                      .attention_dropout = 0.3};
  const LanguageModel model(config, DType::f32, nn::ParameterStore::Gradients::kept);
  Pool pool(1);
  testing::spread(model, {pool}, 4);
  const std::vector<std::size_t> lengths(20, 16);
  const data::Batch batch = testing::batch_of(config, lengths);

  class OneHotValues final : public nn::Tap {
   public:
    bool wants(std::string_view path) const override { return path.starts_with("blocks.0.attention."); }
    void see(std::string_view path, Tensor& activation) override {
      if (path.ends_with(".v")) {
        const Tensor eye = Tensor::zeros(activation.shape(), DType::f32);
        for (std::size_t r = 0; r < eye.shape()[0]; ++r) eye.data<float>()[r * 16 + r % 16] = 1.0F;
        activation.assign(eye);
      }
      if (path.ends_with(".pattern")) pattern = activation.clone();
      if (path.ends_with(".mixed")) mixed = activation.clone();
    }
    Tensor pattern, mixed;
  } tap;
  Context context = testing::context_of({pool}, batch, Mode::training);
  context.tap = &tap;
  (void)testing::pass_over(model, context, batch);
  const std::size_t count = 20 * 16 * 16;
  expect_share(kept_of(tap.pattern, tap.mixed, 0.3, "pattern"), count, 0.3, "pattern");
}

INSTANTIATE_TEST_SUITE_P(Menu, ModelTapTest, ::testing::Range(std::size_t{0}, testing::menu().size()),
                         [](const auto& instance) { return testing::menu()[instance.param].name; });

}  // namespace
}  // namespace dikkat::models
