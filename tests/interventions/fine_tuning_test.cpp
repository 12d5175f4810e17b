// A pruned model can be trained on: what was pruned stays at zero, the rest learns.
#include <gmock/gmock.h>

#include "dikkat/inspect/ablation_prune.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/stats/summary.h"
#include "trained_on_proverbs.h"

namespace dikkat::inspect {
namespace {

class FineTuning : public ::testing::Test {
 protected:
  double loss() {
    const std::span<const text::Token> text = trained_.corpus.part(data::Split::train);
    data::Batch batch;
    fill(text, windows_over(text, 32, 60, 1), 32, batch);
    return stats::mean(Passes(*trained_.model, {trained_.pool}).losses(batch, nullptr));
  }
  const Tensor& weight(const std::string& path) { return trained_.model->parameters().find(path)->value(); }
  static bool all_zero(const Tensor& part) {
    const Tensor copy = part.clone();
    return std::ranges::all_of(copy.span<float>(), [](float x) { return x == 0; });
  }

  dikkat::testing::TrainedOnProverbs trained_{100};
};

TEST_F(FineTuning, LeavesPrunedPartsAtZeroAndMakesUpForThem) {
  const double whole = loss();
  const Pruned pruned = prune(*trained_.model, {head_named(trained_.config, "0.1"), head_named(trained_.config, "1.3"),
                                                block_named(trained_.config, "1.mlp")});
  EXPECT_TRUE(pruned.grows.empty());
  const double without = loss();
  EXPECT_GT(without, whole);
  train::Settings settings = trained_.settings;
  settings.seed = 2;
  settings.steps = 60;
  ASSERT_EQ(settings.optimizer, train::OptimizerKind::adamw);
  ASSERT_GT(settings.weight_decay, 0);
  trained_.train_on(*trained_.model, settings);
  EXPECT_LT(loss(), without);
  // D = 8: heads' rows of the output projection, their values in columns 2 H D on.
  EXPECT_TRUE(all_zero(weight("blocks.0.attention.output.weight").slice(0, 8, 16)));
  EXPECT_TRUE(all_zero(weight("blocks.0.attention.qkv.weight").slice(1, 72, 80)));
  EXPECT_TRUE(all_zero(weight("blocks.1.attention.output.weight").slice(0, 24, 32)));
  EXPECT_TRUE(all_zero(weight("blocks.1.mlp.down.weight")));
  EXPECT_TRUE(all_zero(weight("blocks.1.mlp.up.weight")));
  EXPECT_FALSE(all_zero(weight("blocks.0.attention.output.weight").slice(0, 0, 8)));
}

}  // namespace
}  // namespace dikkat::inspect
