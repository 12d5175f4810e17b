// Which activations there are, what a pattern means, and taps that keep what the pass computed.
#include "dikkat/inspect/capture.h"

#include <gmock/gmock.h>

#include "dikkat/base/parallel.h"
#include "dikkat/base/testing.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/models/testing.h"

namespace dikkat::inspect {
namespace {

using dikkat::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Matches, AStarStandsForAnyRunOfCharacters) {
  EXPECT_TRUE(matches("logits", "logits"));
  EXPECT_FALSE(matches("logits", "logit"));
  EXPECT_FALSE(matches("logit", "logits"));
  EXPECT_TRUE(matches("blocks.*.mlp.out", "blocks.11.mlp.out"));
  EXPECT_FALSE(matches("blocks.*.mlp.out", "blocks.11.mlp.pre"));
  EXPECT_TRUE(matches("*", "anything"));
  EXPECT_TRUE(matches("*out", "blocks.0.out.mlp.out"));
  EXPECT_TRUE(matches("b*s.**.k", "blocks.0.attention.k"));
  EXPECT_TRUE(matches("logits*", "logits"));
  EXPECT_FALSE(matches("", "logits"));
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*b", std::string(1000, 'a')));
}

class CaptureTest : public ::testing::Test {
 protected:
  CaptureTest() { models::testing::spread(model_, executor_, 2); }

  TappedPass pass() {
    return [this](std::size_t rows, nn::Tap& tap) {
      passes_.look(models::testing::batch_of(model_.config(), {rows}), tap);
    };
  }
  std::vector<std::string> paths() {
    std::vector<std::string> all;
    for (const ActivationEntry& entry : activations(pass(), model_.config().context)) all.push_back(entry.path);
    return all;
  }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
  models::LanguageModel model_{
      {.vocabulary = 11, .context = 7, .width = 6, .layers = 2, .heads = 3, .kv_heads = 1, .mlp_width = 5},
      DType::f32,
      nn::ParameterStore::Gradients::none};
  Passes passes_{model_, executor_};
};

TEST_F(CaptureTest, ListsEveryActivationWithItsShape) {
  std::vector<std::string> lines;
  for (const ActivationEntry& entry : activations(pass(), 7)) lines.push_back(entry.path + " " + entry.shape);
  const std::vector<std::string> of_block = {"residual_pre (T,6)",
                                             "attention.q (T,3,2)",
                                             "attention.k (T,1,2)",
                                             "attention.v (T,1,2)",
                                             "attention.pattern (T,3,T)",
                                             "attention.mixed (T,6)",
                                             "attention.out (T,6)",
                                             "residual_mid (T,6)",
                                             "mlp.pre (T,5)",
                                             "mlp.post (T,5)",
                                             "mlp.out (T,6)",
                                             "residual_post (T,6)"};
  std::vector<std::string> expected = {"embedding (T,6)"};
  for (const char* block : {"blocks.0.", "blocks.1."}) {
    for (const std::string& line : of_block) expected.push_back(block + line);
  }
  expected.insert(expected.end(), {"final_norm (T,6)", "logits (T,11)"});
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(activations(pass(), 1).front().shape, "(1,6)") << "a model of one row has no longer text to compare with";
}

TEST_F(CaptureTest, PatternsMeanPathsInTheOrderOfThePass) {
  EXPECT_THAT(matching({"logits", "blocks.*.attention.pattern", "blocks.1.*.pattern"}, paths()),
              ElementsAre("blocks.0.attention.pattern", "blocks.1.attention.pattern", "logits"));
}

TEST_F(CaptureTest, AWrongNameIsRefusedWithTheNearest) {
  const Error wrong = error_of([&] { (void)matching({"logits", "blocks.0.residual_middle"}, paths()); });
  EXPECT_EQ(wrong.kind(), ErrorKind::usage);
  EXPECT_THAT(wrong.what(), HasSubstr("'blocks.0.residual_middle'"));
  EXPECT_THAT(wrong.what(), HasSubstr("did you mean blocks.0.residual_mid?"));
  EXPECT_THAT(error_of([&] { (void)matching({"blocks.7.attention.pattern"}, paths()); }).what(),
              HasSubstr("did you mean blocks.0.attention.pattern?"));
  EXPECT_THAT(error_of([&] { (void)matching({"weights*"}, paths()); }).what(), HasSubstr("--list"));
}

TEST_F(CaptureTest, KeepsWhatThePassComputed) {
  Capture capture(matching({"logits", "blocks.1.attention.k", "embedding"}, paths()));
  const data::Batch batch = models::testing::batch_of(model_.config(), {5});
  const Tensor logits = passes_.logits(batch.inputs, &capture);
  ASSERT_EQ(capture.kept().size(), 3U);
  EXPECT_EQ(capture.kept()[0].name, "embedding");
  EXPECT_EQ(capture.kept()[1].name, "blocks.1.attention.k");
  EXPECT_EQ(capture.kept()[1].value.shape(), (Shape{5, 1, 2}));
  EXPECT_TRUE(capture.kept()[1].value.contiguous());
  EXPECT_TRUE(models::testing::same_bits(capture.kept()[2].value, logits));
}

TEST_F(CaptureTest, SeveralTapsSeeOnePass) {
  Capture one({"logits"});
  Capture two({"logits", "final_norm"});
  SeveralTaps both({&one, &two});
  EXPECT_FALSE(both.wants("embedding"));
  passes_.look(models::testing::batch_of(model_.config(), {5}), both);
  ASSERT_EQ(one.kept().size(), 1U);
  ASSERT_EQ(two.kept().size(), 2U);
  EXPECT_TRUE(models::testing::same_bits(one.kept()[0].value, two.kept()[1].value));
}

}  // namespace
}  // namespace dikkat::inspect
