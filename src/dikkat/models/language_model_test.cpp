// Laws of the law of bits on whole models, each for float and double over the menu: what may not change a single bit.
#include "dikkat/models/language_model.h"

#include <cmath>
#include <tuple>

#include "dikkat/base/error.h"
#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"

namespace dikkat::models {
namespace {

using testing::Pass;
using Gradients = nn::ParameterStore::Gradients;

class ModelLawTest : public ::testing::TestWithParam<std::tuple<std::size_t, DType>> {
 protected:
  ModelLawTest() { testing::spread(model_, executor_, 1); }

  static const Config& config() { return testing::menu()[std::get<0>(GetParam())].config; }
  // Lengths from 1 to the whole context.
  static std::vector<std::size_t> seven() {
    const std::size_t t = config().context;
    return {t, 3, t - 1, 1, t, t / 2, 2};
  }
  Pass pass(const data::Batch& batch, Mode mode, const kernels::Executor& executor) const {
    return testing::pass_over(model_, testing::context_of(executor, batch, mode), batch);
  }
  Pass pass(const data::Batch& batch, Mode mode) const { return pass(batch, mode, executor_); }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
  LanguageModel model_{config(), std::get<1>(GetParam()), Gradients::kept};
};

TEST_P(ModelLawTest, BatchOfSevenEqualsSevenBatchesOfOne) {
  const auto lengths = seven();
  for (const Mode mode : {Mode::evaluation, Mode::training}) {
    const data::Batch batch = testing::batch_of(config(), lengths);
    const Pass together = pass(batch, mode);
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const Pass alone = pass(testing::batch_of(config(), {lengths[b]}, b), mode);
      const auto rows = [&](const Tensor& all) {
        return all.slice(0, batch.rows.first_row[b], batch.rows.first_row[b + 1]);
      };
      EXPECT_TRUE(testing::same_bits(rows(together.logits), alone.logits)) << "sample " << b;
      EXPECT_TRUE(testing::same_bits(rows(together.losses), alone.losses)) << "sample " << b;
    }
  }
}

// A short sample among longer ones is a padded row; where only it has targets, the step's gradients are its own.
TEST_P(ModelLawTest, PaddedSampleHasTheGradientsItHasAlone) {
  const std::size_t t = config().context;
  for (std::size_t which = 0; which < 3; ++which) {
    std::vector<std::size_t> lengths(3, t);
    lengths[which] = 5;
    data::Batch batch = testing::batch_of(config(), lengths);
    for (std::size_t r = 0; r < batch.targets.size(); ++r) {
      if (batch.rows.sample[r] != which) batch.targets[r] = kernels::kNoTarget;
    }
    const Pass together = pass(batch, Mode::training);
    const Pass alone = pass(testing::batch_of(config(), {5}, which), Mode::training);
    for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
      EXPECT_TRUE(testing::same_bits(together.gradients[i].second, alone.gradients[i].second))
          << alone.gradients[i].first << " of sample " << which;
    }
  }
}

// What stands to the right of a causal position, and what a later sample holds, is never looked at.
TEST_P(ModelLawTest, ChangingATokenReachesNoEarlierPositionAndNoOtherSample) {
  data::Batch batch = testing::batch_of(config(), {12, 9});
  const Tensor before = pass(batch, Mode::evaluation).logits;
  batch.inputs[7] = (batch.inputs[7] + 1) % static_cast<text::Token>(config().vocabulary);
  const Tensor after = pass(batch, Mode::evaluation).logits;
  const bool causal = config().direction == Direction::causal;
  EXPECT_EQ(testing::same_bits(before.slice(0, 0, 7), after.slice(0, 0, 7)), causal);
  EXPECT_FALSE(testing::same_bits(before.slice(0, 7, 8), after.slice(0, 7, 8)));
  EXPECT_TRUE(testing::same_bits(before.slice(0, 12, 21), after.slice(0, 12, 21)));
}

TEST_P(ModelLawTest, ThreadsBodiesAndInstructionSetsAreEqual) {
  const data::Batch batch = testing::batch_of(config(), seven());
  const Pass expected = pass(batch, Mode::training);
  for (const unsigned threads : {2U, 3U, 8U}) {
    Pool pool(threads);
    EXPECT_EQ(testing::difference(pass(batch, Mode::training, {pool}), expected), "") << threads << " threads";
  }
  EXPECT_EQ(testing::difference(pass(batch, Mode::training, {pool_, kernels::Bodies::reference}), expected), "");
  for (const auto set : {kernels::InstructionSet::avx2, kernels::InstructionSet::avx512}) {
    if (!kernels::supports(set)) continue;
    kernels::Executor executor{pool_};
    executor.instructions = set;
    EXPECT_EQ(testing::difference(pass(batch, Mode::training, executor), expected), "") << kernels::name_of(set);
  }
}

TEST_P(ModelLawTest, DropoutIsOffInEvaluationAndAtRateZero) {
  Config without = config();
  without.dropout = 0;
  without.attention_dropout = 0;
  const LanguageModel plain(without, std::get<1>(GetParam()), Gradients::kept);
  testing::spread(plain, executor_, 1);
  const data::Batch batch = testing::batch_of(config(), seven());
  const Pass rate_zero = testing::pass_over(plain, testing::context_of(executor_, batch, Mode::training), batch);
  EXPECT_EQ(testing::difference(pass(batch, Mode::evaluation), rate_zero), "");
  EXPECT_EQ(testing::difference(pass(batch, Mode::training), rate_zero), "logits");
}

// The draws hang on the step and the seed, and on nothing that ran before.
TEST_P(ModelLawTest, DropoutIsAFunctionOfSeedAndStep) {
  const data::Batch batch = testing::batch_of(config(), seven());
  Context context = testing::context_of(executor_, batch, Mode::training);
  const Pass first = testing::pass_over(model_, context, batch);
  context.step = 6;
  EXPECT_EQ(testing::difference(testing::pass_over(model_, context, batch), first), "logits");
  context.step = 5;
  context.seed = 4;
  EXPECT_EQ(testing::difference(testing::pass_over(model_, context, batch), first), "logits");
  context.seed = 3;
  EXPECT_EQ(testing::difference(testing::pass_over(model_, context, batch), first), "");
}

INSTANTIATE_TEST_SUITE_P(Menu, ModelLawTest,
                         ::testing::Combine(::testing::Range(std::size_t{0}, testing::menu().size()),
                                            ::testing::Values(DType::f32, DType::f64)),
                         [](const auto& instance) {
                           return testing::menu()[std::get<0>(instance.param)].name + "_" +
                                  std::string(name_of(std::get<1>(instance.param)));
                         });

// Samples of more than half a chunk are chunks of their own, so seven batches of one add up to the batch of seven.
TEST(ModelAccumulation, GradientsOfSevenBatchesOfOneAddUpToTheBatchOfSeven) {
  Config config = testing::menu()[0].config;
  config.context = 300;  // above 256: a sample is cut into two chunks
  const LanguageModel model(config, DType::f32, Gradients::kept);
  Pool pool(1);
  const kernels::Executor executor{pool};
  testing::spread(model, executor, 1);
  const std::vector<std::size_t> lengths = {300, 3, 257, 1, 256, 150, 2};
  const data::Batch batch = testing::batch_of(config, lengths);
  const Pass expected = testing::pass_over(model, testing::context_of(executor, batch, Mode::training), batch);

  Pass sum;
  model.parameters().zero_gradients();
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const data::Batch alone = testing::batch_of(config, {lengths[b]}, b);
    testing::add_pass(model, testing::context_of(executor, alone, Mode::training), alone, testing::scale_of(batch),
                      sum);
  }
  testing::take_gradients(model, executor, sum);
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_TRUE(testing::same_bits(sum.gradients[i].second, expected.gradients[i].second))
        << expected.gradients[i].first;
  }
}

// Without a chance to learn anything, a model that starts small knows nothing: ln V nats.
TEST(LanguageModel, StartsNearAUniformGuess) {
  const Config config{.vocabulary = 65, .context = 16, .width = 32, .layers = 2, .heads = 4};
  const LanguageModel model(config, DType::f64, Gradients::kept);
  Pool pool(1);
  model.initialise({pool}, 1);
  const data::Batch batch = testing::batch_of(config, {16, 16, 16});
  const Pass pass = testing::pass_over(model, testing::context_of({pool}, batch, Mode::evaluation), batch);
  double loss = 0;
  for (const double row : pass.losses.span<double>()) loss += row / 48;
  EXPECT_NEAR(loss, std::log(65.0), 0.05);
}

TEST(LanguageModel, TokensOutsideTheVocabularyAreRefused) {
  const Config config{.vocabulary = 5, .context = 8, .width = 8, .layers = 1, .heads = 2};
  const LanguageModel model(config, DType::f32, Gradients::none);
  Pool pool(1);
  data::Batch batch = testing::batch_of(config, {4});
  batch.inputs[2] = 5;
  Context context = testing::context_of({pool}, batch, Mode::evaluation);
  EXPECT_THROW((void)model.forward(context, batch.inputs), Error);
}

}  // namespace
}  // namespace dikkat::models
