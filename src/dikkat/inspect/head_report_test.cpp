#include "dikkat/inspect/head_report.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dikkat/inspect/windows.h"
#include "dikkat/models/testing.h"

namespace dikkat::inspect {
namespace {

using ::testing::ElementsAre;

// Windows of two tokens: the nine single scores and distances 0 and 1.
const HeadColumns kColumns(2, {});

// 999 draws of two heads of one layer: every value of a draw is its own normal-looking number around 0.2, of spread
// 0.01.
HeadNull some_null() {
  HeadNull null{.draws = 999, .layers = 1, .heads = 2, .columns = kColumns.count(), .values = {}};
  const random::Stream stream = random::stream(1, "test null");
  for (std::uint32_t i = 0; i < 999 * 2 * kColumns.count(); ++i) {
    double sum = 0;
    for (std::uint32_t k = 0; k < 12; ++k) sum += random::uniform(stream, {i, k, 0, 0}) - 0.5;
    null.values.push_back(static_cast<float>(0.2 + 0.01 * sum));
  }
  return null;
}

// All scores 0.2 in every window but those given for head 0.
HeadValues values_of(std::size_t windows, const std::vector<std::pair<HeadScore, double>>& of_head_0) {
  HeadValues values{.windows = windows, .layers = 1, .heads = 2, .columns = kColumns.count(), .values = {}};
  values.values.assign(windows * 2 * kColumns.count(), 0.2);
  for (std::size_t w = 0; w < windows; ++w) {
    for (const auto& [score, value] : of_head_0) {
      values.values[w * 2 * kColumns.count() + kColumns.of(score).first] = value + (w % 2 == 0 ? 0.001 : -0.001);
    }
  }
  return values;
}

class Report : public ::testing::Test {
 protected:
  [[nodiscard]] HeadReport head(const std::vector<std::pair<HeadScore, double>>& values, std::size_t windows = 60) {
    return report_heads(values_of(windows, values), 10, tests_, 999, uniform_).heads.front();
  }

  const HeadNull null_ = some_null();
  const HeadTests tests_{null_, kColumns, NullGroup::layer};
  const std::vector<double> uniform_ = std::vector<double>(kColumns.count(), 0.2);
};

TEST_F(Report, SaysWhatIsFoundWhatCountsAloneAndWhatIsChance) {
  const std::vector<double> seen = {0.2, 0.222, 0.236, 0.3};
  std::vector<Finding> findings;
  for (const double value : seen) findings.push_back(head({{HeadScore::self, value}}).of(HeadScore::self)->finding);
  // In deviations: 0, 2.3 (raw p 0.011, of two heads 0.02), 3.7, 10.
  EXPECT_THAT(findings, ElementsAre(Finding::none, Finding::alone, Finding::found, Finding::found));
  EXPECT_EQ(head({{HeadScore::self, 0.2165}}).of(HeadScore::self)->finding,
            Finding::chance);  // raw 0.04, adjusted 0.08
}

TEST_F(Report, NamesAHeadByWhatIsLarge) {
  EXPECT_THAT(head({{HeadScore::previous, 0.9}}).names, ElementsAre("previous-token head"));
  EXPECT_THAT(head({{HeadScore::induction, 0.5}, {HeadScore::first, 0.7}}).names,
              ElementsAre("first-token head", "induction head"));
  const HeadReport faint = head({{HeadScore::previous, 0.38}});  // eighteen deviations, and 0.18 more than untrained
  EXPECT_TRUE(faint.does_something());
  EXPECT_FALSE(faint.of(HeadScore::previous)->is_large());
  EXPECT_TRUE(faint.names.empty());
  EXPECT_FALSE(faint.is_called("previous-token head"));
  EXPECT_TRUE(head({{HeadScore::previous, 0.42}}).is_called("previous-token head"));
  const HeadReport less = head({{HeadScore::previous, 0.01}});
  EXPECT_FALSE(less.does_something()) << "looking away from the previous token is no previous-token head";
  EXPECT_TRUE(head({{HeadScore::entropy, 0.01}}).does_something());
  EXPECT_TRUE(head({{HeadScore::entropy, 0.01}}).names.empty());
}

// The null's mean is 0.2, and so is a uniform head's spread.
TEST_F(Report, SaysHowLargeEachThingIs) {
  const auto size = [&](HeadScore score, double value) { return head({{score, value}}).of(score)->size; };
  EXPECT_NEAR(size(HeadScore::self, 0.5), 0.3, 1e-3);
  EXPECT_NEAR(size(HeadScore::separation, 0.5), 0.3, 1e-3);
  EXPECT_NEAR(size(HeadScore::distance, 0.6), 0.4, 1e-3);
  EXPECT_NEAR(size(HeadScore::entropy, 0.15), 0.25, 5e-3);
  EXPECT_NEAR(size(HeadScore::entropy, 0.3), -0.5, 5e-3);
  EXPECT_NEAR(size(HeadScore::centre, 0.1), 0.5, 5e-3);
  EXPECT_NEAR(size(HeadScore::spread, 0.3), 0.5, 5e-3);
}

TEST_F(Report, IsLargeOnlyWhereItIsFound) {
  const HeadReport slight = head({{HeadScore::entropy, 0.165}});  // 3.5 deviations, 17 % of the entropy
  EXPECT_EQ(slight.of(HeadScore::entropy)->finding, Finding::found);
  EXPECT_FALSE(slight.of(HeadScore::entropy)->is_large());
  EXPECT_TRUE(head({{HeadScore::entropy, 0.15}}).of(HeadScore::entropy)->is_large());
  const HeadReport both = head({{HeadScore::entropy, 0.15}, {HeadScore::self, 0.6}});
  EXPECT_NEAR(both.size(), 0.4, 1e-3);
  EXPECT_EQ(head({}).size(), 0);
  ScoreReport alone{.size = 0.9, .finding = Finding::alone};
  EXPECT_FALSE(alone.is_large());
}

TEST_F(Report, GivesValueOfAllWindowsAndTestsThoseOfTheNull) {
  HeadValues values = values_of(60, {{HeadScore::self, 0.2}});
  // Of 60 windows the null has 0, 6, 12, ...; give only the others another value.
  for (std::size_t w = 0; w < 60; ++w) {
    if (w % 6 != 0) values.values[w * 2 * kColumns.count() + kColumns.of(HeadScore::self).first] = 0.8;
  }
  const ScoreReport self = *report_heads(values, 10, tests_, 999, uniform_).heads[0].of(HeadScore::self);
  EXPECT_NEAR(self.value, (50 * 0.8 + 10 * 0.201) / 60, 1e-12);
  EXPECT_NEAR(self.tested, 0.201, 1e-12);
  EXPECT_EQ(self.finding, Finding::none);
}

// Found on the ten windows of the null, and on the other side over all of them.
TEST_F(Report, SaysNothingThatAllWindowsContradict) {
  HeadValues values = values_of(60, {{HeadScore::self, 0.3}});
  EXPECT_EQ(report_heads(values, 10, tests_, 999, uniform_).heads[0].of(HeadScore::self)->finding, Finding::found);
  for (std::size_t w = 0; w < 60; ++w) {
    if (w % 6 != 0) values.values[w * 2 * kColumns.count() + kColumns.of(HeadScore::self).first] = 0.1;
  }
  const ScoreReport self = *report_heads(values, 10, tests_, 999, uniform_).heads[0].of(HeadScore::self);
  EXPECT_EQ(self.test.adjusted_p, 0.001);
  EXPECT_EQ(self.finding, Finding::none);
}

// 30 windows at 0.301, 30 at 0.299: s = 0.001 sqrt(60 / 59), t(0.975, 59) = 2.0010.
TEST_F(Report, HasAnIntervalFromFiftyWindows) {
  const ScoreReport self = *head({{HeadScore::self, 0.3}}).of(HeadScore::self);
  ASSERT_TRUE(self.interval.has_value());
  EXPECT_NEAR(self.interval->high - 0.3, 2.0010 * 0.001 * std::sqrt(60.0 / 59) / std::sqrt(60.0), 1e-8);
  EXPECT_TRUE(head({{HeadScore::self, 0.3}}, kLeastWindows).of(HeadScore::self)->interval.has_value());
  EXPECT_FALSE(head({{HeadScore::self, 0.3}}, kLeastWindows - 1).of(HeadScore::self)->interval.has_value());
}

TEST_F(Report, KnowsHowManyDrawsItTakesToSpeak) {
  HeadsReport report = report_heads(values_of(60, {}), 10, tests_, 999, uniform_);
  EXPECT_EQ(report.scores, 10U);
  EXPECT_DOUBLE_EQ(report.level(), 0.005);
  report.draws = 199;  // 1 / 200 is 0.005 itself
  EXPECT_TRUE(report.can_find());
  report.draws = 198;
  EXPECT_FALSE(report.can_find());
}

TEST_F(Report, HoldsTheWholeProfile) {
  const HeadReport report = head({{HeadScore::distance, 0.6}});
  ASSERT_EQ(report.profile.size(), 2U);
  EXPECT_NEAR(report.profile[0].value, 0.6, 1e-12);
  EXPECT_NEAR(report.profile[1].value, 0.2, 1e-12);
  EXPECT_NEAR(report.profile[1].null_mean, 0.2, 0.001);
  EXPECT_NEAR(report.profile[1].null_deviation, 0.01, 0.001);
  EXPECT_EQ(report.profile[1].bin.first, 1);
}

// A model of one head, of a context too short to repeat, of a mask that looks ahead: what has no value is left out.
TEST(LookAtHeads, LeavesOutWhatAModelCannotHave) {
  Pool pool(1);
  const auto look = [&](models::Config config) {
    const models::LanguageModel model(config, DType::f32, nn::ParameterStore::Gradients::none);
    model.initialise({pool}, 3);
    std::vector<text::Token> tokens;
    for (std::size_t i = 0; i < 400; ++i) tokens.push_back(static_cast<text::Token>(i * i % config.vocabulary));
    return look_at_heads(model, tokens, {.windows = {.count = 5}, .null = {.draws = 19}}, {pool});
  };
  const models::Config config{.vocabulary = 11, .context = 12, .width = 8, .layers = 1, .heads = 2};
  EXPECT_EQ(look(config).scores, 10U);
  models::Config one = config;
  one.heads = 1;
  EXPECT_EQ(look(one).scores, 9U);
  EXPECT_EQ(look(one).heads.front().of(HeadScore::separation), nullptr);
  models::Config brief = config;
  brief.context = 5;
  EXPECT_EQ(look(brief).heads.front().of(HeadScore::induction), nullptr);
  models::Config both_ways = config;
  both_ways.direction = models::Direction::bidirectional;
  EXPECT_EQ(look(both_ways).scores, 10U);
  EXPECT_EQ(look(both_ways).heads.front().profile.size(), 11U);  // 0; 1, 2, 3-4, 5-8, 9-11 back and ahead
}

}  // namespace
}  // namespace dikkat::inspect
