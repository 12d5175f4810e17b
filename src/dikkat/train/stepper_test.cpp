// Whole training steps: micro-batches equal the big batch, threads and bodies do not matter, nothing is allocated.
#include "dikkat/train/stepper.h"

#include <cmath>

#include "dikkat/base/allocations_testing.h"
#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"
#include "dikkat/train/language_objective.h"

namespace dikkat::train {
namespace {

using models::Config;
using models::LanguageModel;
using models::testing::same_bits;
using Gradients = nn::ParameterStore::Gradients;

// Two samples a chunk (256 / 100), a tied output, dropout everywhere, attention tiles that do not fit evenly.
Config config_of(std::size_t context = 100) {
  return {.vocabulary = 29,
          .context = context,
          .width = 24,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .attention_bias = true,
          .dropout = 0.2,
          .attention_dropout = 0.1};
}

Settings settings_of(std::size_t batch, std::size_t micro_batch) {
  return {.seed = 7, .steps = 20, .batch = batch, .micro_batch = micro_batch, .warmup = 2};
}

std::vector<text::Token> tokens_of(std::size_t count, std::size_t vocabulary) {
  std::vector<text::Token> tokens;
  const random::Stream stream = random::stream(2, "test text");
  for (std::uint32_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, vocabulary)));
  }
  return tokens;
}

struct Options {
  Config config = config_of();
  DType dtype = DType::f32;
  Settings settings = settings_of(12, 0);  // as the caches like it
  unsigned threads = 1;
  kernels::Bodies bodies = kernels::Bodies::fast;
};

// A model in training on windows of random tokens.
class Training {
 public:
  explicit Training(const Options& options) : Training(options, tokens_of(2000, options.config.vocabulary)) {}
  Training(const Options& options, std::vector<text::Token> tokens)
      : pool_(options.threads),
        executor_{pool_, options.bodies},
        model_(options.config, options.dtype, Gradients::kept),
        tokens_(std::move(tokens)),
        source_(tokens_, options.config.context, options.settings.seed),
        objective_(model_, source_),
        optimizer_(model_.parameters(), optimizer_settings(options.settings)),
        stepper_(objective_, optimizer_, options.settings, executor_) {
    model_.initialise(executor_, options.settings.seed);
  }

  Measured measure(std::uint64_t t) { return stepper_.measure(t, never_); }
  Measured step(std::uint64_t t) {
    const Measured measured = measure(t);
    stepper_.update(t, measured);
    return measured;
  }
  Training& steps(std::uint64_t count) {
    for (std::uint64_t t = 1; t <= count; ++t) (void)step(t);
    return *this;
  }
  [[nodiscard]] const LanguageModel& model() const { return model_; }
  [[nodiscard]] Stepper& stepper() { return stepper_; }

 private:
  Pool pool_;
  kernels::Executor executor_;
  LanguageModel model_;
  std::vector<text::Token> tokens_;
  WindowSource source_;
  LanguageObjective objective_;
  optim::Optimizer optimizer_;
  StopRequest never_;
  Stepper stepper_;
};

void expect_equal(const LanguageModel& a, const LanguageModel& b, const std::string& what) {
  for (const nn::Parameter* parameter : a.parameters().in_path_order()) {
    const nn::Parameter* other = b.parameters().find(parameter->path());
    EXPECT_TRUE(same_bits(parameter->gradient(), other->gradient())) << what << ": gradient of " << parameter->path();
    EXPECT_TRUE(same_bits(parameter->value(), other->value())) << what << ": " << parameter->path();
  }
}

class StepperLawTest : public ::testing::TestWithParam<DType> {};

// 12 samples as 2, 3 and 6 micro-batches of 6, 4 and 2; and 11 as five of 2 and a last one of 1.
TEST_P(StepperLawTest, MicroBatchesEqualTheBigBatch) {
  for (const auto& [batch, micro_batches] :
       std::vector<std::pair<std::size_t, std::vector<std::size_t>>>{{12, {6, 4, 2}}, {11, {8, 2}}}) {
    Training whole({.dtype = GetParam(), .settings = settings_of(batch, batch)});
    const Measured expected = whole.step(1);
    (void)whole.step(2);
    for (const std::size_t micro : micro_batches) {
      Training parts({.dtype = GetParam(), .settings = settings_of(batch, micro)});
      const Measured measured = parts.step(1);
      EXPECT_EQ(parts.stepper().micro_batches(), (batch + micro - 1) / micro);
      EXPECT_EQ(measured.loss_nats, expected.loss_nats);
      EXPECT_EQ(measured.gradient_norm, expected.gradient_norm);
      EXPECT_EQ(measured.tokens, batch * 100);
      (void)parts.step(2);
      expect_equal(parts.model(), whole.model(), std::to_string(micro) + " of " + std::to_string(batch));
    }
  }
}

// The same with a free output and no dropout, and samples that are cut into chunks themselves.
TEST_P(StepperLawTest, LongSamplesAccumulateAlike) {
  Config config = config_of(300);
  config.layers = 1;
  config.output = models::OutputKind::free;
  config.dropout = config.attention_dropout = 0;
  Training whole({.config = config, .dtype = GetParam(), .settings = settings_of(6, 6)});
  whole.steps(2);
  for (const std::size_t micro : {1U, 2U, 3U}) {
    Training parts({.config = config, .dtype = GetParam(), .settings = settings_of(6, micro)});
    expect_equal(parts.steps(2).model(), whole.model(), std::to_string(micro));
  }
}

// Two samples a chunk: 2 and 11 samples in pieces are cut inside chunks and between them, 8 on 3 threads are one piece.
TEST_P(StepperLawTest, ThreadsDoNotMatter) {
  for (const std::size_t micro : {0U, 8U, 11U}) {
    Training one({.dtype = GetParam(), .settings = settings_of(11, micro)});
    one.steps(3);
    for (const unsigned threads : {2U, 3U, 5U, 8U}) {
      Training many({.dtype = GetParam(), .settings = settings_of(11, micro), .threads = threads});
      expect_equal(many.steps(3).model(), one.model(), std::to_string(threads) + " threads");
    }
  }
}

// By hand: 12 on 8 threads leave a quarter idle (2, 2, 2, 2, 1, 1, 1, 1), 4 on 3 a third, 4 on 8 a half.
TEST(Stepper, MicroBatchesAreCutWhereThatSharesTheWorkOutEvenly) {
  EXPECT_EQ(pieces_of(12, 1), 1U);
  EXPECT_EQ(pieces_of(2, 2), 2U);
  EXPECT_EQ(pieces_of(12, 8), 8U);
  EXPECT_EQ(pieces_of(4, 3), 1U);
  EXPECT_EQ(pieces_of(4, 8), 1U);
  EXPECT_EQ(pieces_of(1000, 70), kMostPieces);
}

TEST_P(StepperLawTest, BodiesDoNotMatter) {
  Training fast({.dtype = GetParam()});
  fast.steps(2);
  for (const auto bodies : {kernels::Bodies::reference, kernels::Bodies::check}) {
    Training other({.dtype = GetParam(), .threads = 2, .bodies = bodies});  // in pieces
    expect_equal(other.steps(2).model(), fast.model(), "bodies");
  }
}

INSTANTIATE_TEST_SUITE_P(Numbers, StepperLawTest, ::testing::Values(DType::f32, DType::f64),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST(Stepper, AllocatesNothingAfterWarmUp) {
  for (const unsigned threads : {1U, 2U}) {
    for (const std::size_t micro : {0U, 4U, 8U, 12U}) {
      Training training({.settings = settings_of(12, micro), .threads = threads});
      training.steps(2);
      const std::size_t planned = training.stepper().activation_bytes();
      const std::size_t before = ::dikkat::testing::allocations.load();
      for (std::uint64_t t = 3; t <= 10; ++t) (void)training.step(t);
      EXPECT_EQ(::dikkat::testing::allocations.load() - before, 0U) << threads << " threads, micro-batch " << micro;
      EXPECT_EQ(training.stepper().activation_bytes(), planned);
    }
  }
}

// The counter counts: a vector's memory is one.
TEST(Stepper, AllocationsAreSeen) {
  const std::size_t before = ::dikkat::testing::allocations.load();
  ::operator delete(::operator new(1000));  // a call the compiler may not leave out, as it may a vector
  EXPECT_EQ(::dikkat::testing::allocations.load() - before, 1U);
}

// At the widest moment of 1,200 rows the logits, the MLP's inner layer and the residual stream are there at least; a
// third of the samples needs about a third of the memory.
TEST(Stepper, ReportsItsPlannedMemory) {
  Training whole({.settings = settings_of(12, 12)});
  whole.steps(2);
  EXPECT_GE(whole.stepper().activation_bytes(), 1200U * 4 * (29 + 2 * 96 + 24));
  EXPECT_LE(whole.stepper().activation_bytes(), 1200U * 4 * 2 * 20 * 24 * 2);
  Training parts({.settings = settings_of(12, 4)});
  parts.steps(2);
  EXPECT_LT(parts.stepper().activation_bytes(), whole.stepper().activation_bytes() * 2 / 5);
}

TEST(Stepper, LearnsAShortText) {
  Options options{.settings = {.seed = 1, .steps = 60, .batch = 8, .learning_rate = 3e-3, .warmup = 5}};
  options.config.context = 16;
  options.config.dropout = options.config.attention_dropout = 0;
  std::vector<text::Token> text;  // 0 1 2 ... 28 0 1 ...: the next token follows from the last
  for (std::uint32_t i = 0; i < 300; ++i) text.push_back(i % 29);
  Training training(options, text);
  const double first = training.step(1).loss_nats;
  double last = 0;
  for (std::uint64_t t = 2; t <= 60; ++t) last = training.step(t).loss_nats;
  EXPECT_NEAR(first, std::log(29.0), 0.1);
  EXPECT_LT(last, 0.5 * first);
}

// Windows hang on (seed, step, sample) alone: any part of a step can be drawn by itself.
TEST(WindowSource, AStepsSamplesDoNotDependOnHowTheyAreCut) {
  const auto tokens = tokens_of(2000, 29);
  WindowSource source(tokens, 10, 7);
  data::Batch whole;
  data::Batch part;
  source.fill(3, 0, 6, whole);
  source.fill(9, 0, 2, part);
  source.fill(3, 4, 2, part);
  EXPECT_EQ(std::vector<text::Token>(whole.inputs.begin() + 40, whole.inputs.end()), part.inputs);
  EXPECT_EQ(part.rows.sample.front(), 4U);
  EXPECT_EQ(part.rows.sample.back(), 5U);
}

TEST(Stepper, AStopLeavesTheStepIncomplete) {
  Training training({.settings = settings_of(12, 4)});
  StopRequest stop;
  stop.signal = 15;
  const Measured measured = training.stepper().measure(1, stop);
  EXPECT_FALSE(measured.complete);
}

TEST(Stepper, NamesTheFirstTensorThatIsNotFinite) {
  Training training({});
  EXPECT_TRUE(training.measure(1).finite());
  const Tensor& up = training.model().parameters().find("blocks.1.mlp.up.weight")->value();
  up.data<float>()[5] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(training.measure(2).finite());
  EXPECT_EQ(training.stepper().first_nonfinite(2), "blocks.1.mlp.pre");
}

// Token 0 stands in the last windows of the text only, so that in some steps the first of four pieces has none of them:
// windows with it are infinite from the embedding on, the others once the last block's projection has overflowed.
TEST(Stepper, NamesTheSameTensorOnAnyNumberOfThreads) {
  std::vector<std::vector<std::string>> named;
  for (const unsigned threads : {1U, 4U}) {
    std::vector<text::Token> tokens(2000, 1);
    tokens[1800] = 0;
    Training training({.settings = settings_of(12, 12), .threads = threads}, tokens);
    (void)training.measure(1);
    training.model().parameters().find("token_embedding.weight")->value().slice(0, 0, 1).fill(INFINITY);
    training.model().parameters().find("blocks.1.attention.qkv.weight")->value().fill(3e38);
    named.emplace_back();
    for (std::uint64_t t = 2; t < 20; ++t) {
      (void)training.measure(t);
      named.back().push_back(training.stepper().first_nonfinite(t));
    }
  }
  EXPECT_EQ(named[1], named[0]);
}

TEST(Stepper, UpdatesAtTheSchedulesRate) {
  Training training({});
  const Measured measured = training.measure(1);
  EXPECT_DOUBLE_EQ(training.stepper().update(1, measured), 5e-4);  // step 1 of 2 of warm-up to 1e-3
}

TEST(StepperSettings, ReachTheOptimizerAndTheSchedule) {
  Settings settings;
  EXPECT_EQ(optimizer_settings(settings).rule, optim::Rule::adam);
  EXPECT_EQ(optimizer_settings(settings).decay, 0.1);
  settings.optimizer = OptimizerKind::adam;  // plain Adam has no decoupled decay
  EXPECT_EQ(optimizer_settings(settings).decay, 0.0);
  settings.optimizer = OptimizerKind::sgd;
  EXPECT_EQ(optimizer_settings(settings).rule, optim::Rule::sgd);
  EXPECT_EQ(optimizer_settings(settings).decay, 0.1);
  EXPECT_EQ(schedule_of(settings).steps, 2000U);
  EXPECT_EQ(schedule_of(settings).peak, 1e-3);
  EXPECT_EQ(schedule_of(settings).final, 1e-4);
}

}  // namespace
}  // namespace dikkat::train
