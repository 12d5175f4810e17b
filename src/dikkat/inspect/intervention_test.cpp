#include "dikkat/inspect/intervention.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/inspect/ablation_positions.h"
#include "dikkat/inspect/intervention_testing.h"
#include "dikkat/inspect/passes.h"

namespace dikkat::inspect {
namespace {

using ::testing::HasSubstr;
namespace make = models::testing;
using testing::Twins;

class InterventionTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const models::Config& config() { return make::menu()[GetParam()].config; }
  // Losses of the batch's samples with nothing at the part's sites.
  std::vector<double> without(const Part& part, Change* change = nullptr) {
    std::vector<Replacement> nothing;
    for (const Site& site : part.sites) nothing.push_back({.site = site});
    Writer writer(twins_.model, twins_.executor, nothing);
    const std::vector<double> losses = passes_.losses(batch_, &writer);
    if (change != nullptr) *change = writer.change();
    return losses;
  }
  std::vector<double> of_twin() { return Passes(twins_.twin, twins_.executor).losses(batch_, nullptr); }
  void restore() { Twins::copy(twins_.model, twins_.twin); }

  Twins twins_{config()};
  Passes passes_{twins_.model, twins_.executor};
  data::Batch batch_ = make::batch_of(config(), {9, 17, 4});
};

TEST_P(InterventionTest, AHeadByZeroIsAModelWhoseWeightsForItAreZero) {
  const std::size_t d = config().head_width_or_default();
  for (const Part& head : all_heads(config())) {
    restore();
    twins_.zero("blocks." + std::to_string(head.layer) + ".attention.output.weight", head.head * d,
                (head.head + 1) * d);
    Change change;
    EXPECT_EQ(without(head, &change), of_twin()) << head.name;
    EXPECT_EQ(change.elements, 30 * d);
    EXPECT_EQ(change.changed, change.elements) << head.name;
    EXPECT_EQ(change.relative(), 1.0);
  }
}

TEST_P(InterventionTest, BlocksByZeroAreModelsWhoseWeightsForThemAreZero) {
  for (std::size_t l = 0; l < config().layers; ++l) {
    const std::string block = "blocks." + std::to_string(l);
    for (const bool attention : {true, false}) {
      const std::string sublayer = attention ? ".attention" : ".mlp";
      const std::string last = attention ? ".attention.output" : ".mlp.down";
      restore();
      twins_.zero(block + last + ".weight");
      twins_.zero(block + last + ".bias");
      EXPECT_EQ(without(block_named(config(), std::to_string(l) + sublayer)), of_twin()) << block << sublayer;
    }
    restore();
    for (const char* last : {".attention.output", ".mlp.down"}) {
      twins_.zero(block + last + ".weight");
      twins_.zero(block + last + ".bias");
    }
    EXPECT_EQ(without(block_named(config(), std::to_string(l))), of_twin()) << block;
  }
}

TEST_P(InterventionTest, AllResidualConnectionsByZeroAreAModelWithoutThem) {
  if (config().residuals == models::Residuals::off) return;
  models::Config off = config();
  off.residuals = models::Residuals::off;
  const models::LanguageModel bare(off, DType::f32, nn::ParameterStore::Gradients::none);
  Twins::copy(twins_.model, bare);
  const Part all = together(all_skips(config()), "all");
  EXPECT_EQ(all.sites.size(), 2 * config().layers);
  EXPECT_EQ(without(all), Passes(bare, twins_.executor).losses(batch_, nullptr));
}

TEST_P(InterventionTest, WritingBackWhatWasReadChangesNothing) {
  std::vector<Site> sites;
  for (const std::string& path : activation_paths(config())) sites.push_back({.path = path});
  for (const Part& head : all_heads(config())) sites.push_back(head.sites.front());
  if (config().residuals == models::Residuals::on) {
    for (const Part& skip : all_skips(config())) sites.push_back(skip.sites.front());
  }
  Reader reader(sites);
  const std::vector<double> expected = passes_.losses(batch_, &reader);
  for (std::size_t s = 0; s < sites.size(); ++s) {
    Writer writer(twins_.model, twins_.executor, {{.site = sites[s], .values = reader.values(s)}});
    EXPECT_EQ(passes_.losses(batch_, &writer), expected) << sites[s].path;
    EXPECT_TRUE(writer.change().none()) << sites[s].path;
    EXPECT_GT(writer.change().elements, 0U) << sites[s].path;
    EXPECT_EQ(writer.change().relative(), 0.0);
  }
}

TEST_P(InterventionTest, PathsAreThoseTheModelShows) {
  class Paths final : public nn::Tap {
   public:
    bool wants(std::string_view) const override { return true; }
    void see(std::string_view path, Tensor&) override { shown.emplace_back(path); }
    std::vector<std::string> shown;
  } paths;
  passes_.look(batch_, paths);
  EXPECT_EQ(activation_paths(config()), paths.shown);
}

TEST_P(InterventionTest, AMeanIsWrittenIntoTheMarkedRowsAlone) {
  const Site site = all_heads(config()).back().sites.front();
  const Tensor mean = Tensor::empty({1, site.count}, DType::f32);
  mean.fill(0.25);
  std::vector<bool> rows(30);
  rows[3] = rows[29] = true;
  Writer writer(twins_.model, twins_.executor, {{.site = site, .values = mean}}, rows);
  Reader before({{.path = site.path}});
  (void)passes_.losses(batch_, &before);

  Reader after({{.path = site.path}});
  Taps both({&writer, &after});
  (void)passes_.losses(batch_, &both);
  const std::size_t columns = config().heads * config().head_width_or_default();
  for (std::size_t r = 0; r < 30; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const bool written = rows[r] && c >= site.first && c < site.first + site.count;
      const float expected = written ? 0.25F : before.values(0).data<float>()[r * columns + c];
      EXPECT_EQ(after.values(0).data<float>()[r * columns + c], expected) << r << ' ' << c;
    }
  }
  EXPECT_EQ(writer.change().elements, 2 * site.count);
}

TEST_P(InterventionTest, PositionsByZeroAreTheSameWeightsWithoutPositions) {
  if (!positions_added(config())) return;
  const models::LanguageModel bare = without_positions(twins_.model);
  Writer writer(twins_.model, twins_.executor,
                {{.site = {.path = "embedding"}, .values = token_vectors(twins_.model, twins_.executor, batch_)}});
  EXPECT_EQ(passes_.losses(batch_, &writer), Passes(bare, twins_.executor).losses(batch_, nullptr));
  EXPECT_FALSE(writer.change().none());
}

TEST_P(InterventionTest, PositionVectorsAndTokensAreTheEmbedding) {
  if (!positions_added(config())) return;
  Reader reader({{.path = "embedding"}});
  (void)passes_.losses(batch_, &reader);
  const Tensor vectors = position_vectors(twins_.model, twins_.executor, 17);
  const Tensor tokens = token_vectors(twins_.model, twins_.executor, batch_);
  const std::size_t c = config().width;
  for (std::size_t r = 0; r < 30; ++r) {
    for (std::size_t i = 0; i < c; ++i) {
      const float sum = tokens.data<float>()[r * c + i] + vectors.data<float>()[batch_.rows.position[r] * c + i];
      EXPECT_EQ(reader.values(0).data<float>()[r * c + i], sum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, InterventionTest, ::testing::Range(std::size_t{0}, make::menu().size()),
                         [](const auto& instance) { return make::menu()[instance.param].name; });

TEST(Intervention, SaysWhenAHeadWasZeroAlready) {
  const models::Config& config = make::menu()[0].config;
  const Twins twins(config);
  const nn::Parameter* qkv = twins.model.parameters().find("blocks.1.attention.qkv.weight");
  // Values of head 2: columns (2 H + 2) D on.
  const std::size_t d = config.head_width_or_default();
  const std::size_t first = (2 * config.heads + 2) * d;
  qkv->value().slice(1, first, first + d).fill(0);
  Writer writer(twins.model, twins.executor, {{.site = head_named(config, "1.2").sites.front()}});
  const data::Batch batch = make::batch_of(config, {9, 17, 4});
  Passes passes(twins.model, twins.executor);
  EXPECT_EQ(passes.losses(batch, &writer), passes.losses(batch, nullptr));
  EXPECT_EQ(writer.change().elements, 30 * d);
  EXPECT_TRUE(writer.change().none());
}

TEST(Intervention, ChangeIsCountedAndMeasured) {
  const std::vector<float> old = {3, 0, 4, 1};
  const std::vector<float> now = {3, 1, 0, 1};
  const Change change = change_between(Tensor::of<float>({2, 2}, old), Tensor::of<float>({2, 2}, now));
  EXPECT_EQ(change.elements, 4U);
  EXPECT_EQ(change.changed, 2U);
  EXPECT_DOUBLE_EQ(change.relative(), std::sqrt(17.0 / 26.0));
  EXPECT_EQ(Change{}.relative(), 0.0);
  EXPECT_TRUE(std::isinf(Change({.elements = 1, .changed = 1, .squares = 1}).relative()));
}

class PartNames : public ::testing::Test {
 protected:
  template <class Name>
  std::string refusal(Name&& name) const {
    try {
      (void)name();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  }
  models::Config config_ = {.vocabulary = 9, .context = 8, .width = 12, .layers = 4, .heads = 3};
};

TEST_F(PartNames, SayWhereTheyAreFound) {
  EXPECT_EQ(head_named(config_, "3.2").sites,
            (std::vector<Site>{{.path = "blocks.3.attention.mixed", .first = 8, .count = 4}}));
  EXPECT_EQ(block_named(config_, "1").sites,
            (std::vector<Site>{{.path = "blocks.1.attention.out"}, {.path = "blocks.1.mlp.out"}}));
  EXPECT_EQ(block_named(config_, "2.mlp").sites, (std::vector<Site>{{.path = "blocks.2.mlp.out"}}));
  EXPECT_EQ(skip_named(config_, "0.mlp").sites,
            (std::vector<Site>{{.path = "blocks.0.residual_mid", .kind = Site::Kind::carried}}));
  EXPECT_EQ(activation_named(config_, "final_norm").sites, (std::vector<Site>{{.path = "final_norm"}}));
  EXPECT_TRUE(positions_of(config_).without_positions);
  EXPECT_EQ(all_heads(config_).size(), 12U);
  EXPECT_EQ(all_heads(config_)[5], head_named(config_, "1.2"));
  EXPECT_EQ(all_blocks(config_).size(), 4U);
  EXPECT_EQ(all_skips(config_)[3], skip_named(config_, "1.mlp"));
}

TEST_F(PartNames, RefuseWhatIsNotThereWithTheNearest) {
  const auto head = [&](const char* name) { return refusal([&] { return head_named(config_, name); }); };
  EXPECT_THAT(head("0.7"),
              HasSubstr("no head '0.7': its heads are 0.0 to 3.2 (4 layers of 3 heads); did you mean 0.2?"));
  EXPECT_THAT(head("9.1"), HasSubstr("did you mean 3.1?"));
  EXPECT_THAT(head("99999999999999999999.1"), HasSubstr("write a head as layer.head"));
  for (const char* name : {"", "1", "1.", ".1", "a.b", "1.2.3", "-1.0", "1. 2", "01.1"}) {
    EXPECT_THAT(head(name), HasSubstr("write a head as layer.head")) << name;
  }
  const auto block = [&](const char* name) { return refusal([&] { return block_named(config_, name); }); };
  EXPECT_THAT(block("4"),
              HasSubstr("no block '4': its blocks are 0 to 3, each with .attention and .mlp; did you mean 3?"));
  EXPECT_THAT(block("1.atention"), HasSubstr("did you mean 1.attention?"));
  EXPECT_THAT(block("1.mpl"), HasSubstr("did you mean 1.mlp?"));
  const auto skip = [&](const char* name) { return refusal([&] { return skip_named(config_, name); }); };
  EXPECT_THAT(skip("1"), HasSubstr("no residual connection '1'"));
  EXPECT_THAT(skip("8.mlp"), HasSubstr("did you mean 3.mlp?"));
  const auto path = [&](const char* name) { return refusal([&] { return activation_named(config_, name); }); };
  EXPECT_THAT(path("blocks.1.mlp.outt"), HasSubstr("did you mean blocks.1.mlp.out?"));
  EXPECT_THAT(path("x"), HasSubstr("write a path like blocks.0.mlp.out"));
}

TEST_F(PartNames, RefuseWhatTheModelHasNoneOf) {
  config_.position = models::PositionKind::none;
  EXPECT_THAT(refusal([&] { return positions_of(config_); }), HasSubstr("no positions to take away"));
  config_.residuals = models::Residuals::off;
  EXPECT_THAT(refusal([&] { return all_skips(config_); }), HasSubstr("no residual connections"));
  config_.layers = 0;
  EXPECT_THAT(refusal([&] { return all_heads(config_); }), HasSubstr("no heads: it has no blocks"));
  EXPECT_THAT(refusal([&] { return head_named(config_, "0.0"); }), HasSubstr("no heads: it has no blocks"));
  EXPECT_THAT(refusal([&] { return all_blocks(config_); }), HasSubstr("no blocks"));
}

TEST_F(PartNames, TogetherIsEachSiteOnce) {
  const Part all = together({block_named(config_, "1"), block_named(config_, "1.mlp"), positions_of(config_)}, "some");
  EXPECT_EQ(all.sites.size(), 2U);
  EXPECT_TRUE(all.without_positions);
}

}  // namespace
}  // namespace dikkat::inspect
