#include "dikkat/train/loaded_run.h"

#include <gmock/gmock.h>

#include "dikkat/base/hash.h"
#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint_testing.h"
#include "dikkat/train/model_state.h"

namespace dikkat::train {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A run of the byte tokenizer whose one checkpoint says `tampered` of a model of one layer.
template <class Tamper>
void make_run(const std::filesystem::path& path, Tamper&& tamper,
              const models::Config& config = {.vocabulary = 256, .context = 8, .width = 8, .layers = 1, .heads = 2}) {
  const auto tokenizer = text::byte_tokenizer();
  NewRun content{.record = {.program = "0.1.0",
                            .model = config,
                            .settings = {},
                            .conduct = {},
                            .coding_fingerprint = tokenizer->fingerprint(),
                            .sources = {},
                            .data_fingerprint = std::string(32, 'b')},
                 .coding_json = tokenizer->to_json(),
                 .copies = {}};
  const models::LanguageModel model(content.record.model, DType::f32, nn::ParameterStore::Gradients::none);
  Checkpoint checkpoint;
  checkpoint.state.model = content.record.model;
  checkpoint.state.coding_fingerprint = content.record.coding_fingerprint;
  checkpoint.weights = weights_of(model.parameters());
  tamper(checkpoint.state.model);
  static_cast<void>(RunFolder::create(path, content, checkpoint));
}

TEST(LoadedRun, AModelUnlikeItsWeightsIsRefusedBeforeItIsBuilt) {
  const TemporaryFolder folder;
  make_run(folder / "whole", [](models::Config&) {});
  EXPECT_TRUE(load_run(folder / "whole").warnings.empty());

  make_run(folder / "deep", [](models::Config& model) { model.layers = 1048576; });
  const Error deep = error_of([&] { static_cast<void>(load_run(folder / "deep")); });
  EXPECT_EQ(deep.kind(), ErrorKind::incompatible);
  // By hand: 256 x 8 tokens and 8 x 8 positions, a final norm of 8; a layer 2 x 8 + 4 x 8 x 8 + 2 x 8 x 32 = 784.
  EXPECT_THAT(deep.message(), HasSubstr("has 822085704 parameters, its weights are 2904"));

  make_run(folder / "wide", [](models::Config& model) { model.width = std::size_t{1} << 40U; });
  EXPECT_EQ(error_of([&] { static_cast<void>(load_run(folder / "wide")); }).kind(), ErrorKind::incompatible);
  make_run(folder / "no", [](models::Config& model) { model.heads = 3; });
  EXPECT_EQ(error_of([&] { static_cast<void>(load_run(folder / "no")); }).kind(), ErrorKind::incompatible);
}

TEST(LoadedRun, AContextThatNoMemoryHoldsIsRefused) {
  const TemporaryFolder folder;
  // 2^24 positions of 32 layers with 1,024 keys and 1,024 values each: 8 TiB.
  make_run(folder / "run", [](models::Config& model) { model.context = std::size_t{1} << 24U; },
           {.vocabulary = 256,
            .context = 8,
            .width = 8,
            .layers = 32,
            .heads = 16,
            .head_width = 64,
            .position = models::PositionKind::sinusoidal});
  EXPECT_EQ(error_of([&] { static_cast<void>(load_run(folder / "run")); }).kind(), ErrorKind::limit);
}

TEST(LoadedRun, AModelUnlikeTheRecordIsSaid) {
  const TemporaryFolder folder;
  make_run(folder / "run", [](models::Config& model) { model.dropout = 0.5; });
  EXPECT_THAT(load_run(folder / "run").warnings,
              ElementsAre("the model of step 0 is not the one in run.json: dropout (0.5, run.json: 0.0)"));
}

}  // namespace
}  // namespace dikkat::train
