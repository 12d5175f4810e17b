#include "dikkat/models/config.h"

#include <cmath>
#include <limits>

#include "dikkat/base/testing.h"
#include "dikkat/models/testing.h"

namespace dikkat::models {
namespace {

using ::dikkat::testing::error_of;

Config small() { return {.vocabulary = 10, .context = 8, .width = 12, .layers = 1, .heads = 4}; }

// The refusal's field, what it says and what it advises.
void expect_refused(const Config& config, const std::string& field, const std::string& what, const std::string& hint) {
  const Error error = error_of([&] { check(config); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().key, field);
  EXPECT_EQ(error.message(), field + ": " + what);
  EXPECT_EQ(error.place().hint, hint);
}

TEST(ConfigCheck, AcceptsEveryModelOfTheMenu) {
  for (const auto& [name, config] : testing::menu()) EXPECT_NO_THROW(check(config)) << name;
  EXPECT_NO_THROW(check(small()));
}

TEST(ConfigCheck, WidthThatHeadsDoNotDivideNamesTheNearest) {
  Config config = small();
  config.width = 10;
  expect_refused(config, "width", "10 is not a multiple of 4 heads",
                 "give width 8 or 12, heads 1, 2 or 5, or a head-width of its own");
  config.width = 3;
  expect_refused(config, "width", "3 is not a multiple of 4 heads",
                 "give width 4, heads 1 or 3, or a head-width of its own");
  config.head_width = 5;
  EXPECT_NO_THROW(check(config));
}

TEST(ConfigCheck, KeyHeadsDivideHeads) {
  Config config = small();
  config.kv_heads = 3;
  expect_refused(config, "kv-heads", "3 does not divide 4 heads", "give 1, 2 or 4");
  config.kv_heads = 8;
  expect_refused(config, "kv-heads", "8 does not divide 4 heads", "give 1 or 4");
  for (const std::size_t legal : {0U, 1U, 2U, 4U}) {
    config.kv_heads = legal;
    EXPECT_NO_THROW(check(config)) << legal;
  }
}

TEST(ConfigCheck, RotaryTurnsPairs) {
  Config config = small();
  config.position = PositionKind::rotary;
  expect_refused(config, "head-width", "rotary positions turn pairs of channels; 3 is odd",
                 "give head-width 2 or 4, or another position");
  config.head_width = 1;
  expect_refused(config, "head-width", "rotary positions turn pairs of channels; 1 is odd",
                 "give head-width 2, or another position");
  config.head_width = 6;
  EXPECT_NO_THROW(check(config));
}

TEST(ConfigCheck, SizesAreAtLeastOneAndNotAbsurd) {
  const std::vector<std::pair<std::string, std::size_t Config::*>> sizes = {{"vocabulary", &Config::vocabulary},
                                                                            {"context", &Config::context},
                                                                            {"width", &Config::width},
                                                                            {"layers", &Config::layers},
                                                                            {"heads", &Config::heads}};
  for (const auto& [field, member] : sizes) {
    Config config = small();
    config.*member = 0;
    expect_refused(config, field, "0 is too small", "give at least 1");
    config.*member = 16777217;
    expect_refused(config, field, "16777217 is too large", "give at most 16777216");
    config.*member = std::numeric_limits<std::size_t>::max();
    expect_refused(config, field, "18446744073709551615 is too large", "give at most 16777216");
  }
  for (const auto member : {&Config::kv_heads, &Config::head_width, &Config::mlp_width, &Config::window}) {
    Config config = small();
    config.*member = 0;
    EXPECT_NO_THROW(check(config));
    config.*member = 16777217;
    EXPECT_THROW(check(config), Error);
  }
}

TEST(ConfigCheck, RatesAreProbabilitiesBelowOne) {
  for (const double rate : {-0.1, 1.0, 2.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Config config = small();
    config.dropout = rate;
    EXPECT_EQ(error_of([&] { check(config); }).place().key, "dropout") << rate;
    config = small();
    config.attention_dropout = rate;
    EXPECT_EQ(error_of([&] { check(config); }).place().key, "attention-dropout") << rate;
  }
  Config config = small();
  config.dropout = 0.999;
  EXPECT_NO_THROW(check(config));
}

TEST(ConfigCheck, EpsilonAndBaseAreFiniteAndPositive) {
  for (const double value : {0.0, -1e-5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Config config = small();
    config.norm_epsilon = value;
    EXPECT_EQ(error_of([&] { check(config); }).place().key, "norm-epsilon") << value;
    config = small();
    config.rotary_base = value;
    EXPECT_EQ(error_of([&] { check(config); }).place().key, "rotary-base") << value;
  }
}

// Each size is legal by itself; together they pass 64 bits.
TEST(ConfigCheck, ProductsOfLegalSizesThatDoNotFitAreRefused) {
  Config config = small();
  config.width = config.heads = config.head_width = config.layers = std::size_t{1} << 24U;
  EXPECT_THROW(check(config), Error);
}

struct Counted {
  const char* name;
  Config config;
  std::size_t by_hand;
};

const std::vector<Counted>& counted() {
  static const std::vector<Counted> all = {
      // The book's: embeddings 30*32 + 16*32 = 1,472; attention 2 * (32*96 + 32*32) = 8,192;
      // MLP 2 * (32*128 + 128 + 128*32 + 32) = 16,704; norms 2 * 4*32 + 2*32 = 320; output 32*30 + 30 = 990.
      {"kucuk",
       {.vocabulary = 30,
        .context = 16,
        .width = 32,
        .layers = 2,
        .heads = 4,
        .activation = Activation::relu,
        .output = OutputKind::free,
        .norm_bias = true,
        .mlp_bias = true,
        .output_bias = true,
        .init = InitKind::book},
       1472 + 8192 + 16704 + 320 + 990},
      // Tied, no biases: embeddings 65*128 + 64*128 = 16,512; four blocks of gains 2*128, attention 128*384 + 128*128
      // and
      // MLP 2 * 128*512: 4 * (256 + 65,536 + 131,072) = 787,456; final gain 128.
      {"shakespeare-cpu",
       {.vocabulary = 65, .context = 64, .width = 128, .layers = 4, .heads = 4},
       16512 + 787456 + 128},
      // Four heads of 6 on two key heads: tokens 11*10 = 110; two blocks of gains 2*10, qkv 10*(4+2+2)*6 + 48,
      // output 24*10 + 10, MLP 10*9 + 9*10: 2 * (20 + 528 + 250 + 180) = 1,956; final gain 10; output 110.
      {"grouped",
       {.vocabulary = 11,
        .context = 6,
        .width = 10,
        .layers = 2,
        .heads = 4,
        .kv_heads = 2,
        .head_width = 6,
        .mlp_width = 9,
        .norm = NormKind::rms,
        .activation = Activation::silu,
        .position = PositionKind::rotary,
        .output = OutputKind::free,
        .norm_bias = true,  // RMS norm has none
        .attention_bias = true},
       110 + 1956 + 10 + 110},
      // Six heads of one channel on one key head, gated MLP, no norm: tokens 11*7 = 77; two blocks of qkv 7*8, output
      // 6*7,
      // up 7*10 + 10, down 5*7 + 7: 2 * (56 + 42 + 80 + 42) = 440.
      {"one key head",
       {.vocabulary = 11,
        .context = 6,
        .width = 7,
        .layers = 2,
        .heads = 6,
        .kv_heads = 1,
        .head_width = 1,
        .mlp_width = 5,
        .norm = NormKind::none,
        .activation = Activation::swiglu,
        .position = PositionKind::alibi,
        .mlp_bias = true},
       77 + 440},
      // Norms after the sublayers, so none at the end: tokens 11*8 = 88; three blocks of norms 2*(8+8), qkv 8*24 + 24,
      // output 8*8 + 8, up 8*64, down 32*8: 3 * (32 + 216 + 72 + 512 + 256) = 3,264; tied, with a bias of 11.
      {"post",
       {.vocabulary = 11,
        .context = 6,
        .width = 8,
        .layers = 3,
        .heads = 4,
        .placement = Placement::post,
        .activation = Activation::swiglu,
        .position = PositionKind::sinusoidal,
        .norm_bias = true,
        .attention_bias = true,
        .output_bias = true},
       88 + 3264 + 11},
  };
  return all;
}

TEST(ParameterCount, EqualsTheHandCountAndTheBuiltModel) {
  for (const auto& [name, config, by_hand] : counted()) {
    EXPECT_EQ(parameter_count(config), by_hand) << name;
    const LanguageModel model(config, DType::f32, nn::ParameterStore::Gradients::none);
    EXPECT_EQ(model.parameters().count(), by_hand) << name;
  }
  EXPECT_EQ(counted()[0].by_hand, 27678U);  // as the book prints it
}

TEST(ParameterCount, EqualsTheBuiltModelOverTheMenu) {
  for (const auto& [name, config] : testing::menu()) {
    const LanguageModel model(config, DType::f32, nn::ParameterStore::Gradients::none);
    EXPECT_EQ(parameter_count(config), model.parameters().count()) << name;
  }
}

// GPT-2's smallest form has 124,439,808 parameters (Radford et al. 2019; the published weights).
TEST(ParameterCount, Gpt2IsAsPublished) {
  const Config gpt2{.vocabulary = 50257,
                    .context = 1024,
                    .width = 768,
                    .layers = 12,
                    .heads = 12,
                    .norm_bias = true,
                    .attention_bias = true,
                    .mlp_bias = true};
  EXPECT_EQ(parameter_count(gpt2), 124439808U);
}

}  // namespace
}  // namespace dikkat::models
