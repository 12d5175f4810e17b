// Modules own parameters of known paths and shapes and do what their headers state.
#include <gtest/gtest.h>

#include <cstring>

#include "dikkat/base/parallel.h"
#include "dikkat/nn/block.h"
#include "dikkat/nn/tap.h"

namespace dikkat::nn {
namespace {

class ModulesTest : public ::testing::Test {
 protected:
  std::vector<std::string> parameters() {
    std::vector<std::string> all;
    for (const auto& parameter : store_.in_creation_order()) {
      all.push_back(parameter->path() + parameter->shape().text());
    }
    return all;
  }
  Context context() {
    rows_.lay_out(std::vector<std::size_t>{3}, 3);
    return {.executor = {pool_}, .memory = heap(), .rows = &rows_};
  }
  static bool same_bits(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() && std::memcmp(a.clone().raw(), b.clone().raw(), a.bytes()) == 0;
  }

  Pool pool_{1};
  kernels::Rows rows_;
  ParameterStore store_;
};

Block::Options block_options(Placement placement, Residuals residuals) {
  return {.norm = {.kind = kernels::Norm::layer, .bias = Bias::kept},
          .attention = {.width = 6,
                        .heads = 4,
                        .kv_heads = 2,
                        .head_width = 3,
                        .bias = Bias::kept,
                        .projection = normal(0.5),
                        .output = normal(0.5)},
          .mlp = {.width = 6, .inner = 5, .kind = kernels::Activation::swiglu, .up = normal(0.5), .down = normal(0.5)},
          .placement = placement,
          .residuals = residuals};
}

TEST_F(ModulesTest, ABlockHasTheseParameters) {
  const Block block(store_, "blocks.0", 0, block_options(Placement::pre, Residuals::on));
  EXPECT_EQ(parameters(), (std::vector<std::string>{
                              "blocks.0.norm1.gain(6)", "blocks.0.norm1.bias(6)", "blocks.0.attention.qkv.weight(6,24)",
                              "blocks.0.attention.qkv.bias(24)", "blocks.0.attention.output.weight(12,6)",
                              "blocks.0.attention.output.bias(6)", "blocks.0.norm2.gain(6)", "blocks.0.norm2.bias(6)",
                              "blocks.0.mlp.up.weight(6,10)", "blocks.0.mlp.down.weight(5,6)"}));
}

TEST_F(ModulesTest, NormsHaveGainAndBiasOnlyWhereTheyUseThem) {
  const Norm rms(store_, "rms", 4, {.kind = kernels::Norm::rms, .bias = Bias::kept});
  const Norm layer(store_, "layer", 4, {.kind = kernels::Norm::layer});
  const Norm none(store_, "none", 4, {.kind = std::nullopt, .bias = Bias::kept});
  EXPECT_EQ(parameters(), (std::vector<std::string>{"rms.gain(4)", "layer.gain(4)"}));
  Context c = context();
  const Tensor x = Tensor::zeros({3, 4}, DType::f64);
  EXPECT_EQ(none.forward(c, {x}).value.raw(), x.raw());
}

// With weights of zero each sublayer adds nothing: pre-norm with residuals is the identity, without them zero.
TEST_F(ModulesTest, ResidualsCarryTheInput) {
  const auto position = make_position(PositionKind::none, store_, {});
  const Block with(store_, "with", 0, block_options(Placement::pre, Residuals::on));
  const Block without(store_, "without", 1, block_options(Placement::pre, Residuals::off));
  store_.allocate(DType::f64, ParameterStore::Gradients::none);
  Context c = context();
  const Tensor x = Tensor::empty({3, 6}, DType::f64);
  for (std::size_t i = 0; i < 18; ++i) x.data<double>()[i] = static_cast<double>(i * i % 7) - 3.0;
  EXPECT_TRUE(same_bits(with.forward(c, *position, {x}).value, x));
  EXPECT_TRUE(same_bits(without.forward(c, *position, {x}).value, Tensor::zeros({3, 6}, DType::f64)));
}

// Post-norm leaves every row normalised: with gains of one and biases of zero its mean is zero and its power one.
TEST_F(ModulesTest, PostNormEndsInItsNorm) {
  const auto position = make_position(PositionKind::none, store_, {});
  const Block block(store_, "post", 0, block_options(Placement::post, Residuals::on));
  store_.allocate(DType::f64, ParameterStore::Gradients::none);
  store_.initialise({pool_}, 1);
  Context c = context();
  const Tensor x = Tensor::empty({3, 6}, DType::f64);
  for (std::size_t i = 0; i < 18; ++i) x.data<double>()[i] = static_cast<double>(i * i % 7) - 3.0;
  const Tensor y = block.forward(c, *position, {x}).value;
  for (std::size_t r = 0; r < 3; ++r) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      sum += y.data<double>()[r * 6 + i];
      squares += y.data<double>()[r * 6 + i] * y.data<double>()[r * 6 + i];
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(squares / 6, 1, 1e-4);
  }
}

TEST_F(ModulesTest, TheTapIsAskedBeforeItIsShown) {
  class Picky final : public Tap {
   public:
    bool wants(std::string_view path) const override { return path == "m.mlp.post"; }
    void see(std::string_view path, Tensor& activation) override {
      seen.emplace_back(std::string(path) + activation.shape().text());
    }
    std::vector<std::string> seen;
  } tap;
  const Mlp mlp(store_, "m.mlp", {.width = 6, .inner = 5, .kind = kernels::Activation::swiglu});
  store_.allocate(DType::f64, ParameterStore::Gradients::none);
  Context c = context();
  c.tap = &tap;
  (void)mlp.forward(c, {Tensor::zeros({3, 6}, DType::f64)});
  EXPECT_EQ(tap.seen, (std::vector<std::string>{"m.mlp.post(3,5)"}));
}

}  // namespace
}  // namespace dikkat::nn
