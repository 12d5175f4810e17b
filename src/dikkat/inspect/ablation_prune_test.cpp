#include "dikkat/inspect/ablation_prune.h"

#include <gmock/gmock.h>

#include "dikkat/base/error.h"
#include "dikkat/inspect/intervention.h"
#include "dikkat/inspect/intervention_testing.h"
#include "dikkat/inspect/passes.h"

namespace dikkat::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace make = models::testing;
using testing::Twins;

class PruneTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const models::Config& config() { return make::menu()[GetParam()].config; }
  std::vector<double> ablated(const std::vector<Part>& parts) {
    std::vector<Replacement> nothing;
    for (const Site& site : together(parts, "").sites) nothing.push_back({.site = site});
    Writer writer(twins_.model, twins_.executor, nothing);
    return Passes(twins_.model, twins_.executor).losses(batch_, &writer);
  }

  Twins twins_{config()};
  data::Batch batch_ = make::batch_of(config(), {9, 17, 4});
};

TEST_P(PruneTest, ComputesWhatAblationByZeroMeasures) {
  std::vector<std::vector<Part>> cases;
  for (const Part& head : all_heads(config())) cases.push_back({head});
  for (const Part& block : all_blocks(config())) cases.push_back({block});
  cases.push_back({block_named(config(), "0.mlp")});
  cases.push_back({block_named(config(), "0.attention"), head_named(config(), "0.1")});
  cases.push_back(all_heads(config()));
  for (const std::vector<Part>& parts : cases) {
    Twins::copy(twins_.model, twins_.twin);
    const Pruned pruned = prune(twins_.twin, parts);
    EXPECT_GT(pruned.weights, 0U);
    EXPECT_EQ(Passes(twins_.twin, twins_.executor).losses(batch_, nullptr), ablated(parts)) << parts.front().name;
  }
}

// What is at zero and has no gradient stays there, whatever the optimiser.
TEST_P(PruneTest, WhatDoesNotGrowHasNoGradient) {
  const models::LanguageModel model(config(), DType::f32, nn::ParameterStore::Gradients::kept);
  for (std::vector<Part> parts : {all_heads(config()), all_blocks(config())}) {
    parts.erase(parts.begin());  // the first is left, so that something is learned
    if (parts.empty()) parts = {block_named(config(), "0.mlp")};
    Twins::copy(twins_.model, model);
    const Pruned pruned = prune(model, parts);
    const make::Pass pass = make::pass_over(model, make::context_of(twins_.executor, batch_, Mode::training), batch_);
    std::size_t moving = 0;  // weights at zero that have a gradient, but for biases
    for (const auto& [path, gradient] : pass.gradients) {
      if (path.ends_with("bias") || !path.starts_with("blocks.")) continue;
      const Tensor values = model.parameters().find(path)->value();
      for (std::size_t i = 0; i < values.count(); ++i) {
        moving += values.data<float>()[i] == 0 && gradient.data<float>()[i] != 0 ? 1U : 0U;
      }
    }
    bool sharing = false;
    for (const std::string& line : pruned.grows) sharing = sharing || line.find("shares") != std::string::npos;
    EXPECT_EQ(moving > 0, sharing) << moving;
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, PruneTest, ::testing::Range(std::size_t{0}, make::menu().size()),
                         [](const auto& instance) { return make::menu()[instance.param].name; });

TEST(Prune, SaysWhatCanGrowAgain) {
  const models::Config& grouped = make::menu()[1].config;  // 4 heads, 2 of keys and values, attention with bias
  const Twins twins(grouped);
  EXPECT_THAT(prune(twins.twin, {head_named(grouped, "1.2")}).grows, ElementsAre(HasSubstr("head 1.2: it shares")));
  EXPECT_THAT(prune(twins.twin, {head_named(grouped, "0.2"), head_named(grouped, "0.3")}).grows, IsEmpty());
  EXPECT_THAT(prune(twins.twin, {block_named(grouped, "0.attention")}).grows,
              ElementsAre(HasSubstr("block 0.attention: its bias")));
  const models::Config& learned = make::menu()[0].config;
  const Twins other(learned);
  EXPECT_THAT(prune(other.twin, {positions_of(learned)}).grows, ElementsAre(HasSubstr("positions")));
  EXPECT_EQ(prune(other.twin, {positions_of(learned)}).weights, 0U);
}

TEST(Prune, RefusesWhatNoWeightsCarryAndChangesNothing) {
  const models::Config& rotary = make::menu()[1].config;
  const Twins twins(rotary);
  const auto refusal = [&](const Part& part) -> std::string {
    try {
      (void)prune(twins.twin, {head_named(rotary, "0.0"), part});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(skip_named(rotary, "0.mlp")), HasSubstr("no weights carry 'residual 0.mlp'"));
  EXPECT_THAT(refusal(activation_named(rotary, "final_norm")), HasSubstr("'final_norm'"));
  EXPECT_THAT(refusal(positions_of(rotary)), HasSubstr("--position none"));
  for (const nn::Parameter* parameter : twins.twin.parameters().in_path_order()) {
    EXPECT_TRUE(make::same_bits(parameter->value(), twins.model.parameters().find(parameter->path())->value()));
  }
}

}  // namespace
}  // namespace dikkat::inspect
