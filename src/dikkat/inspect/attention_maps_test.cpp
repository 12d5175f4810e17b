// The maps are those of the forward pass to the bit, whatever the model, the chunk, the head and the threads.
#include "dikkat/inspect/attention_maps.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/parallel.h"
#include "dikkat/base/testing.h"
#include "dikkat/inspect/capture.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/models/testing.h"

namespace dikkat::inspect {
namespace {

using models::testing::same_bits;

struct Case {
  std::string name;
  models::Config config;
};

// Long enough for three parts of rows; every mask, scheme of positions and grouping.
std::vector<Case> cases() {
  const models::Config base{.vocabulary = 13, .context = 300, .width = 12, .layers = 2, .heads = 6, .kv_heads = 3};
  std::vector<Case> all = {{"causal", base},      {"window", base},     {"alibi", base},           {"both_ways", base},
                           {"both_window", base}, {"both_alibi", base}, {"rotary_one_group", base}};
  all[1].config.window = 5;
  all[2].config.position = models::PositionKind::alibi;
  all[3].config.direction = models::Direction::bidirectional;
  all[4].config.direction = models::Direction::bidirectional;
  all[4].config.window = 140;
  all[5].config.direction = models::Direction::bidirectional;
  all[5].config.position = models::PositionKind::alibi;
  all[6].config.position = models::PositionKind::rotary;
  all[6].config.kv_heads = 1;
  return all;
}

class AttentionMapsTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  AttentionMapsTest() { models::testing::spread(model_, executor_, 2); }

  const models::Config& config() const { return model_.config(); }
  // Queries and keys of every layer in one pass of so many tokens, and the maps that pass itself shows.
  void look(std::size_t tokens) {
    std::vector<std::size_t> layers;
    std::vector<std::string> patterns;
    for (std::size_t l = 0; l < config().layers; ++l) {
      layers.push_back(l);
      patterns.push_back("blocks." + std::to_string(l) + ".attention.pattern");
    }
    HeadsTap heads(layers, [&](const LayerHeads& layer) { layers_.push_back(layer); });
    Capture shown(patterns);
    SeveralTaps taps({&heads, &shown});
    Passes(model_, executor_).look(models::testing::batch_of(config(), {tokens}), taps);
    for (const auto& kept : shown.kept()) patterns_.push_back(kept.value);
  }
  Tensor maps_of(const LayerHeads& layer, HeadRange range, const kernels::Executor& executor) const {
    const std::size_t rows = layer.q.shape()[0];
    const Tensor whole = Tensor::empty({rows, range.last - range.first, rows}, layer.q.dtype());
    std::size_t next = 0;
    visit_maps(executor, map_rule(config()), layer, range, [&](const MapRows& part) {
      EXPECT_EQ(part.first_row, next);
      EXPECT_EQ(part.layer, layer.layer);
      next += part.weights.shape()[0];
      whole.slice(0, part.first_row, next).assign(part.weights);
    });
    EXPECT_EQ(next, rows);
    return whole;
  }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
  models::LanguageModel model_{cases()[GetParam()].config, DType::f32, nn::ParameterStore::Gradients::none};
  std::vector<LayerHeads> layers_;
  std::vector<Tensor> patterns_;
};

TEST_P(AttentionMapsTest, EqualTheForwardPassToTheBit) {
  for (const std::size_t tokens : {std::size_t{1}, std::size_t{128}, std::size_t{300}}) {
    layers_.clear();
    patterns_.clear();
    look(tokens);
    ASSERT_EQ(layers_.size(), 2U);
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_EQ(layers_[l].layer, l);
      EXPECT_TRUE(same_bits(maps_of(layers_[l], {0, 6}, executor_), patterns_[l])) << tokens << " tokens, layer " << l;
      for (std::size_t h = 0; h < 6; ++h) {
        EXPECT_TRUE(same_bits(maps_of(layers_[l], {h, h + 1}, executor_), patterns_[l].slice(1, h, h + 1)))
            << tokens << " tokens, layer " << l << ", head " << h;
      }
    }
  }
}

TEST_P(AttentionMapsTest, DoNotDependOnThreads) {
  look(300);
  Pool three(3);
  EXPECT_TRUE(same_bits(maps_of(layers_[1], {0, 6}, {three}), patterns_[1]));
}

TEST_P(AttentionMapsTest, RowsSumToOneAndHiddenKeysAreZero) {
  look(200);
  const Tensor maps = maps_of(layers_[0], {0, 6}, executor_);
  const kernels::Mask mask{config().direction, config().window};
  for (std::size_t row = 0; row < 200; ++row) {
    const kernels::KeyRange visible = mask.visible(row, 200);
    for (std::size_t h = 0; h < 6; ++h) {
      const float* weights = maps.data<float>() + (row * 6 + h) * 200;
      double sum = 0;
      for (std::size_t j = 0; j < 200; ++j) {
        sum += static_cast<double>(weights[j]);
        const bool hidden = j < visible.begin || j >= visible.end;
        ASSERT_TRUE(!hidden || weights[j] == 0.0F) << row << " looks at " << j;
      }
      ASSERT_NEAR(sum, 1.0, 1e-6) << row;
    }
  }
}

// The key of the largest score has e = exp(0) = 1, so its weight is 1 / Z rounded; m is that score.
TEST_P(AttentionMapsTest, RowSumsAreThoseOfTheWeights) {
  look(150);
  const MapRule rule = map_rule(config());
  const Tensor maps = maps_of(layers_[1], {0, 6}, executor_);
  const RowSums sums = row_sums(executor_, rule, layers_[1]);
  for (std::size_t row = 0; row < 150; ++row) {
    for (std::size_t h = 0; h < 6; ++h) {
      const float* weights = maps.data<float>() + (row * 6 + h) * 150;
      const auto best = static_cast<std::size_t>(std::max_element(weights, weights + 150) - weights);
      EXPECT_EQ(weights[best], 1.0F / sums.sum.data<float>()[row * 6 + h]);
      const float* q = layers_[1].q.data<float>() + (row * 6 + h) * rule.width;
      const float* k = layers_[1].k.data<float>() + (best * rule.kv_heads + h / (6 / rule.kv_heads)) * rule.width;
      double score = 0;
      for (std::size_t d = 0; d < rule.width; ++d) score += static_cast<double>(q[d]) * static_cast<double>(k[d]);
      score *= rule.scale;
      if (!rule.slopes.empty()) {
        score -= rule.slopes[h] * std::abs(static_cast<double>(row) - static_cast<double>(best));
      }
      EXPECT_NEAR(score, static_cast<double>(sums.max.data<float>()[row * 6 + h]), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, AttentionMapsTest, ::testing::Range(std::size_t{0}, cases().size()),
                         [](const auto& instance) { return cases()[instance.param].name; });

TEST(AttentionMaps, AreThoseOfDoublesToo) {
  const models::Config config{.vocabulary = 13, .context = 150, .width = 6, .layers = 1, .heads = 2};
  const models::LanguageModel model(config, DType::f64, nn::ParameterStore::Gradients::none);
  Pool pool(1);
  models::testing::spread(model, {pool}, 3);
  Tensor made;
  HeadsTap heads({0}, [&](const LayerHeads& layer) {
    made = Tensor::empty({150, 2, 150}, DType::f64);
    visit_maps({pool}, map_rule(config), layer, {0, 2}, [&](const MapRows& part) {
      made.slice(0, part.first_row, part.first_row + part.weights.shape()[0]).assign(part.weights);
    });
  });
  Capture shown({"blocks.0.attention.pattern"});
  SeveralTaps taps({&heads, &shown});
  Passes(model, {pool}).look(models::testing::batch_of(config, {150}), taps);
  EXPECT_TRUE(same_bits(made, shown.kept()[0].value));
}

TEST(AttentionMaps, RefuseWhatDoesNotFit) {
  Pool pool(1);
  const MapRule rule{.heads = 4, .kv_heads = 2, .width = 3};
  const LayerHeads heads{0, Tensor::zeros({5, 4, 3}, DType::f32), Tensor::zeros({5, 2, 3}, DType::f32)};
  const auto refusal = [&](const LayerHeads& layer, HeadRange range) {
    return dikkat::testing::error_of([&] { visit_maps({pool}, rule, layer, range, [](const MapRows&) {}); }).kind();
  };
  EXPECT_EQ(refusal(heads, {4, 5}), ErrorKind::internal);
  EXPECT_EQ(refusal(heads, {2, 2}), ErrorKind::internal);
  EXPECT_EQ(refusal(heads, {1, 3}), ErrorKind::internal) << "neither one head nor all";
  EXPECT_EQ(refusal({0, heads.q, Tensor::zeros({4, 2, 3}, DType::f32)}, {0, 4}), ErrorKind::internal);
}

}  // namespace
}  // namespace dikkat::inspect
