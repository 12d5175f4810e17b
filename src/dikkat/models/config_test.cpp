#include "dikkat/models/config.h"

#include <cmath>
#include <limits>

#include "dikkat/base/testing.h"
#include "dikkat/models/series_testing.h"

namespace dikkat::models {
namespace {

using ::dikkat::testing::error_of;

// The lesson on heads: one learned query a head over the bare channels.
Config lesson_on_heads(std::size_t heads) {
  return {.task = Task::classify,
          .channels = 3,
          .outputs = 1,
          .context = 12,
          .width = 3,
          .layers = 0,
          .heads = heads,
          .head_width = 4 / heads,
          .norm = NormKind::none,
          .position = PositionKind::none,
          .input = InputKind::raw,
          .pooling = PoolingKind::attention_query,
          .output_bias = true};
}

Config small_series() {
  return {.task = Task::classify, .channels = 2, .outputs = 1, .context = 8, .width = 12, .layers = 1, .heads = 4};
}

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

TEST(ConfigCheck, AcceptsEveryModelOfSeries) {
  for (const auto& [name, config] : testing::series_menu()) EXPECT_NO_THROW(check(config)) << name;
  for (const std::size_t heads : {1U, 2U, 4U}) EXPECT_NO_THROW(check(lesson_on_heads(heads)));
}

TEST(ConfigCheck, TextHasNoChannelsAndSeriesNoVocabulary) {
  Config config = small();
  config.channels = 2;
  expect_refused(config, "channels", "2 where a text has none", "give 0");
  config = small();
  config.outputs = 3;
  expect_refused(config, "outputs", "3 where a model of text has one for each token of its vocabulary", "give 0");
  config = small();
  config.layers = 0;
  expect_refused(config, "layers", "0 is too small", "give at least 1");
  config = small_series();
  config.vocabulary = 5;
  expect_refused(config, "vocabulary", "5 where a series has none", "give 0");
}

TEST(ConfigCheck, SeriesHaveChannelsAndOutputs) {
  for (const auto member : {&Config::channels, &Config::outputs}) {
    Config config = small_series();
    config.*member = 0;
    expect_refused(config, member == &Config::channels ? "channels" : "outputs", "0 is too small", "give at least 1");
    config.*member = 16777217;
    EXPECT_THROW(check(config), Error);
  }
  Config config = small_series();
  config.task = Task::regress;
  EXPECT_NO_THROW(check(config));
  config.outputs = 2;
  expect_refused(config, "outputs", "2 is too many: a series has one number to learn", "give 1");
}

TEST(ConfigCheck, RawInputIsAsWideAsTheChannels) {
  Config config = small_series();
  config.input = InputKind::raw;
  expect_refused(config, "width", "12 is not the number of channels, 2, and raw input is not mapped",
                 "give width 2, or input embedded");
  config.channels = 12;
  EXPECT_NO_THROW(check(config));
}

TEST(ConfigCheck, WithoutBlocksHeadsAreThePoolings) {
  Config config = small_series();
  config.layers = 0;
  config.width = 10;
  EXPECT_NO_THROW(check(config));  // the mean asks for no heads
  config.kv_heads = 3;
  EXPECT_NO_THROW(check(config));
  config.pooling = PoolingKind::attention_query;
  expect_refused(config, "width", "10 is not a multiple of 4 heads",
                 "give width 8 or 12, heads 1, 2 or 5, or a head-width of its own");
  config.head_width = 1;
  EXPECT_NO_THROW(check(config));
  for (const PositionKind position : {PositionKind::rotary, PositionKind::alibi}) {
    config.position = position;
    expect_refused(config, "position", std::string(text_of(position)) + " acts in the blocks, and there are none",
                   "give none, learned or sinusoidal, or at least one layer");
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

struct CountedSeries {
  const char* name;
  Config config;
  std::size_t by_hand;
};

const std::vector<CountedSeries>& counted_series() {
  static const std::vector<CountedSeries> all = {
      // Key and value maps 2 * 3*4, queries 4, output 4 + 1, however many heads share them.
      {"one head", lesson_on_heads(1), 24 + 4 + 5},
      {"two heads", lesson_on_heads(2), 24 + 4 + 5},
      {"four heads", lesson_on_heads(4), 24 + 4 + 5},
      // Input 2*12, positions 8*12; a block of gains 2*12, qkv 12*36, output 12*12, MLP 2 * 12*48: 1,752; final gain
      // 12;
      // output 12.
      {"mean", small_series(), 24 + 96 + 1752 + 12 + 12},
      // As mean, and three classes with biases: input 24, positions for the class token too 9*12, block 1,752, gain 12,
      // token 12, output 12*3 + 3.
      {"class token",
       {.task = Task::classify,
        .channels = 2,
        .outputs = 3,
        .context = 8,
        .width = 12,
        .layers = 1,
        .heads = 4,
        .pooling = PoolingKind::class_token,
        .output_bias = true},
       24 + 108 + 1752 + 12 + 12 + 39},
      // Heads of 5 on a width of 7: input 1*7; qkv 7*45, output 15*7, MLP 7*28 + 28*7, no norms, no positions; pooling
      // 7*30 + 15; output 15.
      {"query",
       {.task = Task::regress,
        .channels = 1,
        .outputs = 1,
        .context = 8,
        .width = 7,
        .layers = 1,
        .heads = 3,
        .head_width = 5,
        .norm = NormKind::none,
        .position = PositionKind::none,
        .pooling = PoolingKind::attention_query},
       7 + 315 + 105 + 392 + 225 + 15},
  };
  return all;
}

TEST(ParameterCount, OfSeriesEqualsTheHandCountAndTheBuiltModel) {
  for (const auto& [name, config, by_hand] : counted_series()) {
    EXPECT_EQ(parameter_count(config), by_hand) << name;
    const SeriesModel model(config, DType::f32, nn::ParameterStore::Gradients::none);
    EXPECT_EQ(model.parameters().count(), by_hand) << name;
  }
  EXPECT_EQ(counted_series()[0].by_hand, 33U);  // as the lesson prints it
}

TEST(ParameterCount, OfSeriesEqualsTheBuiltModelOverTheMenu) {
  for (const auto& [name, config] : testing::series_menu()) {
    const SeriesModel model(config, DType::f32, nn::ParameterStore::Gradients::none);
    EXPECT_EQ(parameter_count(config), model.parameters().count()) << name;
  }
}

// The lesson's parameters, by name and shape: neither the joint map of keys and values nor the queries have a bias.
TEST(ParameterCount, TheLessonOnHeadsHasTheseParameters) {
  for (const std::size_t heads : {1U, 2U, 4U}) {
    const SeriesModel model(lesson_on_heads(heads), DType::f64, nn::ParameterStore::Gradients::none);
    std::vector<std::pair<std::string, Shape>> seen;
    for (const nn::Parameter* parameter : model.parameters().in_path_order()) {
      seen.emplace_back(parameter->path(), parameter->shape());
    }
    const std::vector<std::pair<std::string, Shape>> expected = {
        {"output.bias", {1}}, {"output.weight", {4, 1}}, {"pooling.key_value.weight", {3, 8}}, {"pooling.query", {4}}};
    EXPECT_EQ(seen, expected);
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
