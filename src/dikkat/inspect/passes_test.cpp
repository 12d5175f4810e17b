#include "dikkat/inspect/passes.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "dikkat/base/error.h"
#include "dikkat/base/parallel.h"
#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/models/testing.h"

namespace dikkat::inspect {
namespace {

using models::LanguageModel;
using ::testing::HasSubstr;
namespace make = models::testing;

class PassesTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  PassesTest() {
    make::spread(model_, executor_, 2);
    training_ = make::pass_over(model_, make::context_of(executor_, batch_, Mode::evaluation), batch_);
  }
  static const models::Config& config() { return make::menu()[GetParam()].config; }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
  LanguageModel model_{config(), DType::f32, nn::ParameterStore::Gradients::kept};
  data::Batch batch_ = make::batch_of(config(), {9, 17, 4});
  make::Pass training_;
};

class Looker final : public nn::Tap {
 public:
  bool wants(std::string_view path) const override { return path == "logits"; }
  void see(std::string_view, Tensor& activation) override { kept = activation.clone(); }
  Tensor kept;
};

TEST_P(PassesTest, GivesTheLossesOfTraining) {
  Passes passes(model_, executor_);
  const Tensor losses = passes.row_losses(batch_, nullptr);
  EXPECT_TRUE(make::same_bits(losses, training_.losses));
  const std::vector<double> means = passes.losses(batch_, nullptr);
  ASSERT_EQ(means.size(), 3U);
  for (std::size_t b = 0; b < 3; ++b) {
    double sum = 0;
    for (std::size_t r = batch_.rows.first_row[b]; r < batch_.rows.first_row[b + 1]; ++r) {
      sum += static_cast<double>(losses.data<float>()[r]);
    }
    EXPECT_NEAR(means[b], sum / static_cast<double>(batch_.lengths[b]), 1e-13);
  }
}

TEST_P(PassesTest, DoNotDependOnThreadsNeighboursOrWhoLooks) {
  Passes alone(model_, executor_);
  const std::vector<double> expected = alone.losses(batch_, nullptr);
  for (const unsigned threads : {2U, 3U, 8U}) {
    Pool pool(threads);
    Passes passes(model_, {pool});
    EXPECT_EQ(passes.losses(batch_, nullptr), expected) << threads;
  }
  Looker looker;
  EXPECT_EQ(alone.losses(batch_, &looker), expected);
  EXPECT_TRUE(make::same_bits(looker.kept, training_.logits));
  for (std::size_t b = 0; b < 3; ++b) {
    const data::Batch one = make::batch_of(config(), {batch_.lengths[b]}, b);
    EXPECT_EQ(alone.losses(one, nullptr).front(), expected[b]) << b;
    const Tensor logits = alone.logits(one.inputs, nullptr);
    const Tensor part = training_.logits.slice(0, batch_.rows.first_row[b], batch_.rows.first_row[b + 1]);
    EXPECT_TRUE(make::same_bits(logits, part)) << b;
  }
}

TEST_P(PassesTest, LookSeesWhatLogitsReturns) {
  Passes passes(model_, executor_);
  Looker looker;
  passes.look(batch_, looker);
  EXPECT_TRUE(make::same_bits(looker.kept, training_.logits));
}

INSTANTIATE_TEST_SUITE_P(Menu, PassesTest, ::testing::Range(std::size_t{0}, make::menu().size()),
                         [](const auto& instance) { return make::menu()[instance.param].name; });

class PassesRefusals : public ::testing::Test {
 protected:
  PassesRefusals() { model_.initialise(executor_, 1); }
  std::string refusal_of(const std::vector<text::Token>& tokens) {
    Passes passes(model_, executor_);
    try {
      (void)passes.logits(tokens, nullptr);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible);
      return error.what();
    }
    return "";
  }
  Pool pool_{1};
  kernels::Executor executor_{pool_};
  LanguageModel model_{make::menu()[0].config, DType::f32, nn::ParameterStore::Gradients::none};
};

TEST_F(PassesRefusals, NameTooLongNoTextAndForeignTokens) {
  EXPECT_EQ(refusal_of(std::vector<text::Token>(17, 3)), "");
  EXPECT_THAT(refusal_of(std::vector<text::Token>(18, 3)),
              HasSubstr("18 tokens is longer than the model's context of 17"));
  EXPECT_THAT(refusal_of({}), HasSubstr("nothing to look at"));
  EXPECT_THAT(refusal_of({1, 23}), HasSubstr("token 23 is outside the model's vocabulary of 23"));
}

TEST_F(PassesRefusals, ASampleWithoutTargetsHasNoMean) {
  data::Batch batch = make::batch_of(model_.config(), {3, 5});
  std::fill_n(batch.targets.begin(), 3, kernels::kNoTarget);
  batch.targets[4] = kernels::kNoTarget;
  Passes passes(model_, executor_);
  const Tensor rows = passes.row_losses(batch, nullptr);
  const std::vector<double> means = passes.losses(batch, nullptr);
  EXPECT_TRUE(std::isnan(means[0]));
  const float* loss = rows.data<float>() + 3;
  EXPECT_EQ(loss[1], 0.0F);
  EXPECT_NEAR(means[1], (static_cast<double>(loss[0]) + loss[2] + loss[3] + loss[4]) / 4, 1e-13);
}

TEST_F(PassesRefusals, GoOnAfterATapThrew) {
  class Thrower final : public nn::Tap {
   public:
    bool wants(std::string_view path) const override { return path == "blocks.1.mlp.post"; }
    void see(std::string_view, Tensor&) override { throw Error(ErrorKind::usage, "enough"); }
  } thrower;
  const data::Batch batch = make::batch_of(model_.config(), {9, 4});
  Passes passes(model_, executor_);
  const std::vector<double> before = passes.losses(batch, nullptr);
  EXPECT_THROW((void)passes.losses(batch, &thrower), Error);
  EXPECT_EQ(passes.losses(batch, nullptr), before);
}

}  // namespace
}  // namespace dikkat::inspect
