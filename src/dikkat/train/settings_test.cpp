#include "dikkat/train/settings.h"

#include <cmath>
#include <limits>

#include "dikkat/base/testing.h"

namespace dikkat::train {
namespace {

using ::dikkat::testing::error_of;
using kernels::Activation;
using models::OutputKind;
using models::PositionKind;
using optim::ScheduleKind;

TEST(Presets, AreFive) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"kucuk", "shakespeare-cpu", "shakespeare", "gpt2", "series"}));
}

TEST(Presets, AreLegalOnceTheDataSettlesTheRest) {
  for (const Preset& preset : presets()) {
    models::Config model = preset.model;
    EXPECT_EQ(model.vocabulary, 0U) << preset.name;
    if (model.task == models::Task::next_token) {
      model.vocabulary = 65;
    } else {
      EXPECT_EQ(model.context, 0U) << preset.name;
      model.channels = 3;
      model.outputs = 5;
      model.context = 24;
    }
    EXPECT_NO_THROW(models::check(model)) << preset.name;
    EXPECT_NO_THROW(check(preset.settings, model)) << preset.name;
  }
}

// The book's model and its training: 27,678 parameters over 30 characters.
TEST(Presets, KucukIsTheBooks) {
  models::Config model = preset_named("kucuk").model;
  model.vocabulary = 30;
  EXPECT_EQ(models::parameter_count(model), 27678U);
  EXPECT_EQ(model.layers, 2U);
  EXPECT_EQ(model.heads, 4U);
  EXPECT_EQ(model.width, 32U);
  EXPECT_EQ(model.context, 16U);
  EXPECT_EQ(model.activation, Activation::relu);
  EXPECT_EQ(model.output, OutputKind::free);
  EXPECT_TRUE(model.output_bias && model.mlp_bias && model.norm_bias && !model.attention_bias);
  EXPECT_EQ(model.position, PositionKind::learned);
  EXPECT_EQ(model.placement, models::Placement::pre);
  EXPECT_EQ(model.init, models::InitKind::book);
  EXPECT_EQ(model.dropout, 0.0);

  const Settings& settings = preset_named("kucuk").settings;
  EXPECT_EQ(settings.batch, 2U);
  EXPECT_EQ(settings.steps, 150U);
  EXPECT_EQ(settings.optimizer, OptimizerKind::adam);
  EXPECT_EQ(settings.learning_rate, 0.01);
  EXPECT_EQ(settings.schedule, ScheduleKind::constant);
  EXPECT_EQ(settings.warmup, 0U);
  EXPECT_EQ(settings.weight_decay, 0.0);
  EXPECT_EQ(settings.clip, 0.0);
  EXPECT_EQ(settings.beta1, 0.9);
  EXPECT_EQ(settings.beta2, 0.999);
}

// 65 characters: 804,096 parameters, counted by hand in models/config_test.cpp.
TEST(Presets, ShakespeareCpuIsASmallGpt2) {
  models::Config model = preset_named("shakespeare-cpu").model;
  model.vocabulary = 65;
  EXPECT_EQ(models::parameter_count(model), 804096U);
  EXPECT_EQ(model.layers, 4U);
  EXPECT_EQ(model.heads, 4U);
  EXPECT_EQ(model.width, 128U);
  EXPECT_EQ(model.context, 64U);
  EXPECT_EQ(model.activation, Activation::gelu);
  EXPECT_EQ(model.output, OutputKind::tied);
  EXPECT_FALSE(model.output_bias || model.mlp_bias || model.norm_bias || model.attention_bias);
  EXPECT_EQ(model.dropout, 0.0);
  EXPECT_EQ(model.attention_dropout, 0.0);

  const Settings& settings = preset_named("shakespeare-cpu").settings;
  EXPECT_EQ(settings.batch, 12U);
  EXPECT_EQ(settings.steps, 2000U);
  EXPECT_EQ(settings.optimizer, OptimizerKind::adamw);
  EXPECT_EQ(settings.learning_rate, 1e-3);
  EXPECT_EQ(settings.final_learning_rate, 1e-4);
  EXPECT_EQ(settings.schedule, ScheduleKind::cosine);
  EXPECT_EQ(settings.warmup, 100U);
  EXPECT_EQ(settings.beta1, 0.9);
  EXPECT_EQ(settings.beta2, 0.99);
  EXPECT_EQ(settings.weight_decay, 0.1);
  EXPECT_EQ(settings.clip, 1.0);
}

TEST(Presets, ShakespeareIsTheLargerOne) {
  const Preset& preset = preset_named("shakespeare");
  EXPECT_EQ(preset.model.layers, 6U);
  EXPECT_EQ(preset.model.heads, 6U);
  EXPECT_EQ(preset.model.width, 384U);
  EXPECT_EQ(preset.model.context, 256U);
  EXPECT_EQ(preset.model.dropout, 0.2);
  EXPECT_EQ(preset.settings.batch, 64U);
  EXPECT_EQ(preset.settings.steps, 5000U);
}

TEST(Presets, Gpt2IsTheSmallestPublished) {
  models::Config model = preset_named("gpt2").model;
  model.vocabulary = 50257;
  EXPECT_EQ(models::parameter_count(model), 124439808U);
  EXPECT_EQ(model.activation, Activation::gelu_tanh);
}

TEST(Presets, AMisspeltNameIsRefusedWithTheNearest) {
  const Error error = error_of([] { (void)preset_named("shakespear"); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.message(), "preset: no preset is called 'shakespear'");
  EXPECT_EQ(error.place().hint, "did you mean shakespeare?");
  EXPECT_EQ(error_of([] { (void)preset_named("resnet"); }).place().hint,
            "choose one of kucuk, shakespeare-cpu, shakespeare, gpt2, series");
  EXPECT_LT(error_of([] { (void)preset_named(std::string(130000, 'n')); }).message().size(), 150U);
}

// Context 64: four samples a chunk; 16: sixteen; 256 and more: one.
TEST(SettingsCheck, MicroBatchesAreWholeChunks) {
  models::Config model = preset_named("shakespeare-cpu").model;
  Settings settings{.batch = 48};
  for (const std::size_t legal : {0U, 4U, 8U, 12U, 48U, 50U}) {
    settings.micro_batch = legal;
    EXPECT_NO_THROW(check(settings, model)) << legal;
  }
  settings.micro_batch = 6;
  const Error error = error_of([&] { check(settings, model); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().key, "micro-batch");
  EXPECT_EQ(error.message(), "micro-batch: 6 is not a whole number of gradient chunks (4 samples of context 64 each)");
  EXPECT_EQ(error.place().hint, "give 4 or 8");
  settings.micro_batch = 3;
  EXPECT_EQ(error_of([&] { check(settings, model); }).place().hint, "give 4");
  model.context = 16;
  settings.micro_batch = 20;
  EXPECT_EQ(error_of([&] { check(settings, model); }).place().hint, "give 16 or 32");
  model.context = 256;
  EXPECT_NO_THROW(check(settings, model));
  model.context = 1000;
  settings.micro_batch = 1;
  EXPECT_NO_THROW(check(settings, model));
}

TEST(SettingsCheck, NumbersOutsideTheirRangeAreRefusedByName) {
  const models::Config model = preset_named("kucuk").model;
  const auto key_of = [&](const Settings& settings) { return error_of([&] { check(settings, model); }).place().key; };
  const double nan = std::nan("");
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(key_of({.steps = 0}), "steps");
  EXPECT_EQ(key_of({.steps = std::uint64_t{1} << 32U}), "steps");
  EXPECT_EQ(key_of({.batch = 0}), "batch");
  EXPECT_EQ(key_of({.batch = (std::size_t{1} << 24U) + 1}), "batch");
  for (const double rate : {0.0, -1e-3, nan, infinite}) {
    EXPECT_EQ(key_of({.learning_rate = rate}), "learning-rate") << rate;
  }
  for (const double rate : {-1e-4, nan, infinite}) {
    EXPECT_EQ(key_of({.final_learning_rate = rate}), "final-learning-rate") << rate;
  }
  EXPECT_EQ(key_of({.steps = 50, .warmup = 51}), "warmup");
  EXPECT_EQ(key_of({.decay_share = 1.1}), "decay-share");
  for (const double beta : {-0.1, 1.0, nan}) {
    EXPECT_EQ(key_of({.momentum = beta}), "momentum") << beta;
    EXPECT_EQ(key_of({.beta1 = beta}), "beta1") << beta;
    EXPECT_EQ(key_of({.beta2 = beta}), "beta2") << beta;
  }
  for (const double value : {-1.0, nan, infinite}) {
    EXPECT_EQ(key_of({.weight_decay = value}), "weight-decay") << value;
    EXPECT_EQ(key_of({.clip = value}), "clip") << value;
    EXPECT_EQ(key_of({.epsilon = value}), "epsilon") << value;
  }
  EXPECT_EQ(key_of({.epsilon = 0.0}), "epsilon");
  EXPECT_NO_THROW(
      check(Settings{.steps = 50, .warmup = 50, .decay_share = 1.0, .weight_decay = 0.0, .clip = 0.0}, model));
}

TEST(ConductCheck, AtLeastTwoCheckpointsAreKept) {
  EXPECT_NO_THROW(check(Conduct{}));
  EXPECT_EQ(error_of([] { check(Conduct{.keep = 1}); }).place().key, "keep");
}

// 256 rows are four samples of 64, one of 200, one of 1,000 and sixteen of 16; 1,024 rows four samples of 256.
TEST(SamplesAtATime, AreWholeChunksOfSomeHundredRows) {
  const Settings open{.batch = 64};
  EXPECT_EQ(samples_at_a_time(open, 64, 1'000'000), 4U);
  EXPECT_EQ(samples_at_a_time(open, 200, 1'000'000), 1U);
  EXPECT_EQ(samples_at_a_time(open, 1000, 1'000'000), 1U);
  EXPECT_EQ(samples_at_a_time(open, 16, 1'000'000), 16U);
  EXPECT_EQ(samples_at_a_time(open, 256, 10'000'000), 4U);
  EXPECT_EQ(samples_at_a_time(open, 1000, 10'000'000), 1U);
  EXPECT_EQ(samples_at_a_time({.batch = 2}, 16, 1'000), 2U);
  EXPECT_EQ(samples_at_a_time({.batch = 12, .micro_batch = 8}, 64, 1'000), 8U);
  EXPECT_EQ(samples_at_a_time({.batch = 12, .micro_batch = 20}, 64, 1'000), 12U);
}

}  // namespace
}  // namespace dikkat::train
