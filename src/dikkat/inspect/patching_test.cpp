#include "dikkat/inspect/patching.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/inspect/intervention_testing.h"

namespace dikkat::inspect {
namespace {

using ::testing::HasSubstr;
namespace make = models::testing;
using testing::Twins;

class PatchingTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static const models::Config& config() { return make::menu()[GetParam()].config; }
  PatchQuestion question() const { return {.into = into_, .from = from_, .row = 8, .target = 3, .other = 5}; }
  double difference(const Tensor& logits) const {
    const float* row = logits.data<float>() + 8 * config().vocabulary;
    return static_cast<double>(row[3]) - static_cast<double>(row[5]);
  }

  Twins twins_{config()};
  Passes passes_{twins_.model, twins_.executor};
  std::vector<text::Token> into_ = testing::random_text(config(), 9, 1);
  std::vector<text::Token> from_ = testing::random_text(config(), 9, 2);
};

TEST_P(PatchingTest, TheWholeStreamIsTheOtherText) {
  std::vector<Patch> patches;
  for (std::size_t l = 0; l < config().layers; ++l) {
    patches.push_back({.part = activation_named(config(), "blocks." + std::to_string(l) + ".residual_post")});
  }
  patches.push_back({.part = activation_named(config(), "embedding")});
  const Patching patching = patch(passes_, question(), patches);
  EXPECT_EQ(patching.into.difference(), difference(passes_.logits(into_, nullptr)));
  EXPECT_EQ(patching.from.difference(), difference(passes_.logits(from_, nullptr)));
  for (const PatchResult& result : patching.results) {
    EXPECT_EQ(result.output.difference(), patching.from.difference()) << result.patch.part.name;
    EXPECT_EQ(result.share.value(), 1.0);
    EXPECT_FALSE(result.change.none());
  }
}

// A quarter of the larger of the two differences, whatever their signs.
TEST(NearlyEqualTest, IsAGapThatIsSmallAgainstItsEnds) {
  const auto of = [](double target, double other) { return PatchOutput{.target_logit = target, .other_logit = other}; };
  EXPECT_TRUE(nearly_equal(of(0.4488, 0), of(0.3852, 0)));
  EXPECT_TRUE(nearly_equal(of(1, 5), of(1, 4.5)));     // -4 and -3.5
  EXPECT_FALSE(nearly_equal(of(4, 0), of(3, 0)));      // just a quarter
  EXPECT_FALSE(nearly_equal(of(0.2, 0), of(0, 0.1)));  // 0.2 and -0.1
  EXPECT_FALSE(nearly_equal(of(0, 0), of(0, 0)));      // no gap, and nothing to be small against
}

TEST_P(PatchingTest, APartOfATextIntoItselfMovesNothing) {
  std::vector<Patch> patches;
  for (const Part& head : all_heads(config())) patches.push_back({.part = head, .row = 4});
  PatchQuestion itself = question();
  itself.from = into_;
  for (const PatchResult& result : patch(passes_, itself, patches).results) {
    EXPECT_EQ(result.output.difference(), difference(passes_.logits(into_, nullptr)));
    EXPECT_FALSE(result.share.has_value());
    EXPECT_TRUE(result.change.none());
  }
}

// By the taps alone: a head of the first block at an earlier row, one of the last block at the row that is read.
TEST_P(PatchingTest, AHeadAtARowIsWrittenThereAlone) {
  const std::vector<Part> heads = {all_heads(config()).front(), all_heads(config()).back()};
  const std::vector<std::size_t> at = {6, 8};
  const Patching patching =
      patch(passes_, question(), {{.part = heads[0], .row = 6}, {.part = heads[1], .row = 8}, {.part = heads[1]}});
  const double way = patching.from.difference() - patching.into.difference();
  for (std::size_t i = 0; i < 2; ++i) {
    Reader reader(heads[i].sites);
    (void)passes_.logits(from_, &reader);
    std::vector<bool> rows(9);
    rows[at[i]] = true;
    Writer writer(twins_.model, twins_.executor, {{.site = heads[i].sites[0], .values = reader.values(0)}}, rows);
    const double expected = difference(passes_.logits(into_, &writer));
    if (i == 1) {
      EXPECT_NE(expected, patching.into.difference());
    }
    EXPECT_EQ(patching.results[i].output.difference(), expected);
    EXPECT_EQ(patching.results[i].change.elements, heads[i].sites[0].count);
    EXPECT_EQ(patching.results[i].share.value(), (expected - patching.into.difference()) / way);
  }
  EXPECT_EQ(patching.results[2].change.elements, 9 * heads[1].sites[0].count);
}

TEST_P(PatchingTest, SaysProbabilityAndLossOfTheTarget) {
  const Patching patching = patch(passes_, question(), {});
  const Tensor logits = passes_.logits(into_, nullptr);
  double sum = 0;
  for (std::size_t i = 0; i < config().vocabulary; ++i) {
    sum += std::exp(static_cast<double>(logits.data<float>()[8 * config().vocabulary + i]));
  }
  EXPECT_NEAR(patching.into.target_probability, std::exp(patching.into.target_logit) / sum, 1e-12);
  EXPECT_NEAR(patching.into.target_loss_nats, -std::log(patching.into.target_probability), 1e-9);
  const text::Token top = most_probable(passes_, into_, 8);
  for (std::size_t i = 0; i < config().vocabulary; ++i) {
    EXPECT_LE(logits.data<float>()[8 * config().vocabulary + i], logits.data<float>()[8 * config().vocabulary + top]);
  }
}

TEST_P(PatchingTest, TheSecondMostProbableIsTheFirstBesidesIt) {
  const Tensor logits = passes_.logits(into_, nullptr);
  const float* row = logits.data<float>() + 4 * config().vocabulary;
  const text::Token first = most_probable(passes_, into_, 4);
  const text::Token second = most_probable(passes_, into_, 4, first);
  EXPECT_NE(second, first);
  for (std::size_t i = 0; i < config().vocabulary; ++i) {
    EXPECT_LE(row[i], row[first]);
    if (i != first) {
      EXPECT_LE(row[i], row[second]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, PatchingTest, ::testing::Range(std::size_t{0}, make::menu().size()),
                         [](const auto& instance) { return make::menu()[instance.param].name; });

TEST(Patching, RefusesWhatDoesNotFit) {
  const models::Config& config = make::menu()[0].config;
  const Twins twins(config);
  Passes passes(twins.model, twins.executor);
  const std::vector<text::Token> nine = testing::random_text(config, 9);
  const std::vector<text::Token> eight = testing::random_text(config, 8);
  const auto refusal = [&](const PatchQuestion& question, const std::vector<Patch>& patches) -> std::string {
    try {
      (void)patch(passes, question, patches);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.into = nine, .from = eight}, {}), HasSubstr("of 9 and 8 tokens"));
  EXPECT_THAT(refusal({.into = nine, .from = nine, .row = 9}, {}), HasSubstr("no row 9 in texts of 9 tokens"));
  EXPECT_THAT(refusal({.into = nine, .from = nine, .target = 23}, {}), HasSubstr("token 23 is outside"));
  EXPECT_THAT(refusal({.into = nine, .from = nine}, {{.part = head_named(config, "0.0"), .row = 9}}),
              HasSubstr("no row 9"));
  EXPECT_THAT(refusal({.into = nine, .from = nine}, {{.part = positions_of(config)}}), HasSubstr("the same in both"));
}

}  // namespace
}  // namespace dikkat::inspect
