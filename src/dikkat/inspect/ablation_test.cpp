#include "dikkat/inspect/ablation.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/inspect/ablation_positions.h"
#include "dikkat/inspect/ablation_windows.h"
#include "dikkat/inspect/intervention_testing.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/stats/correction.h"

namespace dikkat::inspect {
namespace {

using ::testing::HasSubstr;
namespace make = models::testing;
using testing::Twins;

const Effect& effect_of(const Ablation& ablation, std::vector<std::size_t> parts, Substitute by) {
  for (const Effect& effect : ablation.effects) {
    if (effect.parts == parts && effect.by == by) return effect;
  }
  throw std::runtime_error("no such effect");
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> d;
  for (std::size_t i = 0; i < a.size(); ++i) d.push_back(a[i] - b[i]);
  return d;
}

class AblationTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const models::Config& config() { return make::menu()[GetParam()].config; }
  Ablation run(const std::vector<Part>& parts, const AblationOptions& options) {
    return *ablate(twins_.model, twins_.executor, {.measured = text_}, parts, options);
  }

  Twins twins_{config()};
  std::vector<text::Token> text_ = testing::random_text(config(), 2000);
  AblationOptions options_ = {.windows = 20, .references = 10, .length = 8, .seed = 3};
};

TEST_P(AblationTest, ByZeroIsTheLossOfTheModelWithoutTheWeights) {
  const std::size_t d = config().head_width_or_default();
  const std::vector<Part> heads = all_heads(config());
  const Ablation ablation = run(heads, options_);
  ASSERT_EQ(ablation.starts.size(), 20U);
  ASSERT_EQ(ablation.reference_starts.size(), 10U);
  data::Batch batch;
  fill(text_, ablation.starts, 8, batch);
  Passes whole(twins_.model, twins_.executor);
  EXPECT_EQ(ablation.losses, whole.losses(batch, nullptr));
  for (std::size_t h = 0; h < heads.size(); ++h) {
    Twins::copy(twins_.model, twins_.twin);
    const std::string output = "blocks." + std::to_string(heads[h].layer) + ".attention.output.weight";
    twins_.zero(output, heads[h].head * d, (heads[h].head + 1) * d);
    Passes pruned(twins_.twin, twins_.executor);
    const Effect& effect = effect_of(ablation, {h}, Substitute::zero);
    EXPECT_EQ(effect.differences, difference(pruned.losses(batch, nullptr), ablation.losses)) << heads[h].name;
    EXPECT_EQ(effect.change.elements, 20 * 8 * d);
  }
}

// One window at a time, with nothing of the study but the taps.
TEST_P(AblationTest, MeanAndResampleAreOfTheReferenceWindows) {
  const Part head = all_heads(config()).back();
  const Site site = head.sites.front();
  const Ablation ablation = run({head}, options_);
  Passes passes(twins_.model, twins_.executor);
  const auto seen_at = [&](std::size_t start) {
    data::Batch batch;
    fill(text_, std::vector{start}, 8, batch);
    Reader reader({site});
    passes.look(batch, reader);
    return reader.values(0);
  };
  std::vector<double> sums(site.count);
  for (const std::size_t start : ablation.reference_starts) {
    const Tensor values = seen_at(start);
    for (std::size_t i = 0; i < values.count(); ++i)
      sums[i % site.count] += static_cast<double>(values.span<float>()[i]);
  }
  const Tensor mean = Tensor::empty({1, site.count}, DType::f32);
  for (std::size_t c = 0; c < site.count; ++c) mean.data<float>()[c] = static_cast<float>(sums[c] / 80);

  const auto loss_with = [&](std::size_t start, const Tensor& values) {
    data::Batch batch;
    fill(text_, std::vector{start}, 8, batch);
    Writer writer(twins_.model, twins_.executor, {{.site = site, .values = values}});
    return passes.losses(batch, &writer).front();
  };
  for (std::size_t w = 0; w < ablation.starts.size(); ++w) {
    const std::size_t donor = ablation.reference_starts[donor_of(w, 10, 3)];
    EXPECT_EQ(effect_of(ablation, {0}, Substitute::mean).differences[w],
              loss_with(ablation.starts[w], mean) - ablation.losses[w]);
    EXPECT_EQ(effect_of(ablation, {0}, Substitute::resample).differences[w],
              loss_with(ablation.starts[w], seen_at(donor)) - ablation.losses[w]);
  }
}

TEST_P(AblationTest, DoesNotDependOnThreads) {
  options_.pairs = Pairs::all;
  options_.windows = 70;  // more than one batch
  std::vector<Part> parts = {all_heads(config()).front(), block_named(config(), "0.mlp")};
  if (config().position != models::PositionKind::none) parts.push_back(positions_of(config()));
  const Ablation expected = run(parts, options_);
  for (const unsigned threads : {2U, 3U}) {
    Pool pool(threads);
    const Ablation other = *ablate(twins_.model, {pool}, {.measured = text_}, parts, options_);
    for (std::size_t e = 0; e < expected.effects.size(); ++e) {
      EXPECT_EQ(other.effects[e].differences, expected.effects[e].differences);
    }
  }
}

TEST_P(AblationTest, EverythingTogetherIsAllTheWeightsGone) {
  const std::vector<Part> blocks = all_blocks(config());
  options_.by = {Substitute::zero};
  options_.together = Together::yes;
  const Ablation ablation = run(blocks, options_);
  for (std::size_t l = 0; l < config().layers; ++l) {
    for (const char* last : {".attention.output", ".mlp.down"}) {
      twins_.zero("blocks." + std::to_string(l) + last + ".weight");
      twins_.zero("blocks." + std::to_string(l) + last + ".bias");
    }
  }
  data::Batch batch;
  fill(text_, ablation.starts, 8, batch);
  Passes pruned(twins_.twin, twins_.executor);
  EXPECT_EQ(ablation.effects.back().differences, difference(pruned.losses(batch, nullptr), ablation.losses));
  EXPECT_EQ(ablation.effects.size(), blocks.size() == 1 ? 1U : blocks.size() + 1);
  EXPECT_TRUE(ablation.reference_starts.empty());
}

TEST_P(AblationTest, AtOnePositionChangesThatPositionAlone) {
  options_.positions = {7};  // the last
  options_.by = {Substitute::zero, Substitute::mean};
  const Ablation ablation = run({block_named(config(), "0.mlp")}, options_);
  const Effect& effect = ablation.effects.front();
  EXPECT_EQ(effect.change.elements, 20 * config().width);
  data::Batch batch;
  fill(text_, ablation.starts, 8, batch);
  std::vector<bool> rows;
  for (const std::uint32_t position : batch.rows.position) rows.push_back(position == 7);
  Writer writer(twins_.model, twins_.executor, {{.site = {.path = "blocks.0.mlp.out"}}}, rows);
  Passes passes(twins_.model, twins_.executor);
  EXPECT_EQ(effect.differences, difference(passes.losses(batch, &writer), ablation.losses));
  EXPECT_NE(ablation.effects[1].differences, effect.differences);
}

INSTANTIATE_TEST_SUITE_P(Menu, AblationTest, ::testing::Range(std::size_t{0}, make::menu().size()),
                         [](const auto& instance) { return make::menu()[instance.param].name; });

class LearnedAblation : public ::testing::Test {
 protected:
  Ablation run(const std::vector<Part>& parts, const AblationText& text) {
    return *ablate(twins_.model, twins_.executor, text, parts, options_);
  }
  std::string refusal(const std::vector<Part>& parts, const AblationText& text, ErrorKind kind) {
    try {
      (void)run(parts, text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "";
  }
  models::Config config_ = make::menu()[0].config;
  Twins twins_{config_};
  std::vector<text::Token> text_ = testing::random_text(config_, 3000);
  AblationOptions options_ = {.windows = 60, .references = 30, .length = 8, .seed = 3};
};

TEST_F(LearnedAblation, InteractionsAreWhatThePairAddsToItsParts) {
  options_.pairs = Pairs::all;
  const std::vector<Part> heads = all_heads(config_);  // 8
  const Ablation ablation = run(heads, {.measured = text_});
  EXPECT_EQ(ablation.effects.size(), (8 + 28) * 3U);
  const Effect& both = effect_of(ablation, {1, 6}, Substitute::mean);
  const Effect& one = effect_of(ablation, {1}, Substitute::mean);
  const Effect& other = effect_of(ablation, {6}, Substitute::mean);
  for (std::size_t w = 0; w < 60; ++w) {
    EXPECT_EQ(both.interactions[w], both.differences[w] - one.differences[w] - other.differences[w]);
  }
  ASSERT_TRUE(both.interaction);
  EXPECT_EQ(both.interaction->mean, stats::mean(both.interactions));
  EXPECT_EQ(both.change.elements, one.change.elements + other.change.elements);
}

TEST_F(LearnedAblation, CorrectsOverEverythingItTests) {
  options_.pairs = Pairs::all;
  const std::vector<Part> heads = {head_named(config_, "0.0"), head_named(config_, "0.1"), head_named(config_, "1.3")};
  const Ablation ablation = run(heads, {.measured = text_});
  std::vector<double> p;
  std::vector<double> holm;
  for (const Effect& effect : ablation.effects) {
    for (const Estimate* one : {&effect.loss, effect.interaction ? &*effect.interaction : nullptr}) {
      if (one == nullptr) continue;
      p.push_back(one->p.value());
      holm.push_back(one->holm.value());
    }
  }
  EXPECT_EQ(ablation.tests, 3U * 3 + 2 * 3 * 3);
  ASSERT_EQ(p.size(), ablation.tests);
  EXPECT_EQ(holm, stats::holm(p));
}

TEST_F(LearnedAblation, AHeadThatIsZeroIsNotTested) {
  const std::size_t d = config_.head_width_or_default();
  const std::size_t first = (2 * config_.heads + 2) * d;
  twins_.model.parameters().find("blocks.1.attention.qkv.weight")->value().slice(1, first, first + d).fill(0);
  const Ablation ablation = run({head_named(config_, "1.2"), head_named(config_, "1.3")}, {.measured = text_});
  for (const Substitute by : options_.by) {
    const Effect& effect = effect_of(ablation, {0}, by);
    EXPECT_TRUE(effect.change.none());
    EXPECT_EQ(effect.loss.mean, 0.0);
    EXPECT_EQ(effect.loss.differing, 0U);
    EXPECT_FALSE(effect.loss.p || effect.loss.holm);
  }
  EXPECT_EQ(ablation.tests, 3U);
}

TEST_F(LearnedAblation, PositionsByZeroMeanAndOrder) {
  const Ablation ablation = run({positions_of(config_)}, {.measured = text_});
  data::Batch batch;
  fill(text_, ablation.starts, 8, batch);
  const models::LanguageModel bare = without_positions(twins_.model);
  Passes without(bare, twins_.executor);
  EXPECT_EQ(effect_of(ablation, {0}, Substitute::zero).differences,
            difference(without.losses(batch, nullptr), ablation.losses));
  // The twin's table holds the mean vector everywhere: as good as the same one at each position.
  const Tensor table = twins_.twin.parameters().find("position_embedding.weight")->value();
  for (std::size_t c = 0; c < config_.width; ++c) {
    double sum = 0;
    for (std::size_t t = 0; t < 8; ++t) sum += static_cast<double>(table.data<float>()[t * config_.width + c]);
    for (std::size_t t = 0; t < config_.context; ++t) {
      table.data<float>()[t * config_.width + c] = static_cast<float>(sum / 8);
    }
  }
  Passes flat(twins_.twin, twins_.executor);
  EXPECT_EQ(effect_of(ablation, {0}, Substitute::mean).differences,
            difference(flat.losses(batch, nullptr), ablation.losses));
  const Effect& order = effect_of(ablation, {0}, Substitute::resample);
  for (std::size_t w = 0; w < 3; ++w) {
    Twins::copy(twins_.model, twins_.twin);
    const Tensor from = twins_.model.parameters().find("position_embedding.weight")->value();
    const std::vector<std::size_t> places = position_order(w, 8, options_.seed);
    for (std::size_t t = 0; t < 8; ++t) table.slice(0, t, t + 1).assign(from.slice(0, places[t], places[t] + 1));
    fill(text_, std::vector{ablation.starts[w]}, 8, batch);
    EXPECT_EQ(order.differences[w], flat.losses(batch, nullptr).front() - ablation.losses[w]);
  }
}

TEST(RotaryAblation, PositionsInAttentionGoByZeroAlone) {
  const models::Config& config = make::menu()[1].config;
  const Twins twins(config);
  const std::vector<text::Token> text = testing::random_text(config, 2000);
  AblationOptions options = {.windows = 20, .references = 10, .length = 8, .pairs = Pairs::all};
  const std::vector<Part> parts = {positions_of(config), head_named(config, "1.1")};
  const Ablation ablation = *ablate(twins.model, twins.executor, {.measured = text}, parts, options);
  const models::LanguageModel bare = without_positions(twins.model);
  data::Batch batch;
  fill(text, ablation.starts, 8, batch);
  Passes without(bare, twins.executor);
  const Effect& zero = effect_of(ablation, {0}, Substitute::zero);
  EXPECT_EQ(zero.differences, difference(without.losses(batch, nullptr), ablation.losses));
  EXPECT_FALSE(zero.change.none());
  EXPECT_EQ(effect_of(ablation, {0}, Substitute::mean).undefined, "positions of kind rotary have no mean");
  EXPECT_FALSE(effect_of(ablation, {0, 1}, Substitute::resample).undefined.empty());
  Writer writer(bare, twins.executor, {{.site = parts[1].sites.front()}});
  EXPECT_EQ(effect_of(ablation, {0, 1}, Substitute::zero).differences,
            difference(without.losses(batch, &writer), ablation.losses));
  options.positions = {1};
  EXPECT_THROW((void)ablate(twins.model, twins.executor, {.measured = text}, parts, options), Error);
}

TEST_F(LearnedAblation, ReferenceWindowsAreOthers) {
  const Ablation divided = run({head_named(config_, "0.0")}, {.measured = text_});
  for (const std::size_t start : divided.starts) {
    for (const std::size_t reference : divided.reference_starts) {
      EXPECT_GE(start > reference ? start - reference : reference - start, 8U);
    }
  }
  EXPECT_FALSE(divided.reference_apart);
  const std::vector<text::Token> other = testing::random_text(config_, 500, 6);
  const Ablation apart = run({head_named(config_, "0.0")}, {.measured = text_, .reference = other});
  EXPECT_TRUE(apart.reference_apart);
  EXPECT_EQ(apart.reference_starts, windows_over(other, 8, 30, 3));
  EXPECT_EQ(apart.starts, windows_over(text_, 8, 60, 3));
}

TEST_F(LearnedAblation, AShortTextIsDividedAndATooShortOneRefused) {
  const std::vector<Part> parts = {head_named(config_, "0.0")};
  const std::span<const text::Token> text = text_;
  const Ablation few = run(parts, {.measured = text.first(8 * 9 + 1)});
  EXPECT_EQ(few.starts.size(), 6U);  // 9 windows, 2 : 1
  EXPECT_EQ(few.reference_starts.size(), 3U);
  EXPECT_THAT(refusal(parts, {.measured = text.first(9)}, ErrorKind::malformed), HasSubstr("a single window"));
  EXPECT_THAT(refusal(parts, {.measured = text.first(8)}, ErrorKind::malformed), HasSubstr("holds no window"));
  options_.by = {Substitute::zero};
  const Ablation one = run(parts, {.measured = text.first(9)});
  EXPECT_EQ(one.starts.size(), 1U);
  EXPECT_TRUE(std::isinf(one.effects.front().loss.interval.high));
  EXPECT_FALSE(one.effects.front().loss.p);
}

TEST_F(LearnedAblation, RefusesWhatCannotBe) {
  const std::vector<Part> parts = {head_named(config_, "0.0")};
  EXPECT_THAT(refusal({}, {.measured = text_}, ErrorKind::usage), HasSubstr("nothing to take away"));
  options_.positions = {3, 8};
  EXPECT_THAT(refusal(parts, {.measured = text_}, ErrorKind::usage), HasSubstr("no position 8 in windows of 8"));
  options_.positions = {};
  options_.length = 18;
  EXPECT_THAT(refusal(parts, {.measured = text_}, ErrorKind::usage),
              HasSubstr("longer than the model's context of 17"));
  options_.length = 0;
  EXPECT_EQ(run(parts, {.measured = text_}).options.length, 17U);
}

TEST_F(LearnedAblation, TellsItsProgressAndStops) {
  std::size_t last = 0;
  std::size_t of = 0;
  const auto tell = [&](std::size_t done, std::size_t passes) {
    EXPECT_GT(done, last);
    last = done;
    of = passes;
    return true;
  };
  const std::vector<Part> parts = {head_named(config_, "0.0"), positions_of(config_)};
  ASSERT_TRUE(ablate(twins_.model, twins_.executor, {.measured = text_}, parts, options_, tell));
  EXPECT_EQ(last, of);
  EXPECT_EQ(of, 60U * (2 + 6) + 30);
  EXPECT_FALSE(ablate(twins_.model, twins_.executor, {.measured = text_}, parts, options_,
                      [](std::size_t, std::size_t) { return false; }));
}

TEST(AblationEstimate, TestsOnlyWhatEnoughWindowsShow) {
  std::vector<double> numbers(50);
  for (std::size_t i = 0; i < 5; ++i) numbers[i] = 0.1;
  EXPECT_FALSE(estimate_of(numbers).p);
  EXPECT_EQ(estimate_of(numbers).differing, 5U);
  numbers[5] = 0.1;
  const Estimate six = estimate_of(numbers);
  ASSERT_TRUE(six.p);
  // Mean 0.012; squares add up to 6 * 0.01.
  const double s = std::sqrt((6 * 0.01 - 50 * 0.012 * 0.012) / 49);
  const double t = 0.012 / (s / std::sqrt(50.0));
  EXPECT_NEAR(*six.p, stats::t_two_sided(t, 49), 1e-12);
  EXPECT_NEAR(six.interval.low, 0.012 - stats::t_quantile(0.975, 49) * s / std::sqrt(50.0), 1e-12);
}

}  // namespace
}  // namespace dikkat::inspect
