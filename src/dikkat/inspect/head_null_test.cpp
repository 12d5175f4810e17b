#include "dikkat/inspect/head_null.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "dikkat/base/testing.h"
#include "dikkat/models/testing.h"

namespace dikkat::inspect {
namespace {

using dikkat::testing::error_of;

constexpr std::size_t at(HeadScore score) { return static_cast<std::size_t>(score); }
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// Windows of two tokens: the nine single scores and distances 0 and 1.
const HeadColumns kNullColumns(2, {});

// A null whose only moving score is `score` (of its first column), given draw by draw, head by head; all others are 0.
HeadNull null_of(std::size_t layers, std::size_t heads, HeadScore score, const std::vector<std::vector<float>>& draws) {
  HeadNull null{.draws = draws.size(),
                .layers = layers,
                .heads = heads,
                .columns = kNullColumns.count(),
                .values = std::vector<float>(draws.size() * layers * heads * kNullColumns.count())};
  for (std::size_t k = 0; k < draws.size(); ++k) {
    for (std::size_t i = 0; i < layers * heads; ++i) {
      null.values[(k * layers * heads + i) * kNullColumns.count() + kNullColumns.of(score).first] = draws[k][i];
    }
  }
  return null;
}

std::vector<double> values_of(HeadScore score, const std::vector<double>& of_heads) {
  std::vector<double> values(of_heads.size() * kNullColumns.count());
  for (std::size_t i = 0; i < of_heads.size(); ++i)
    values[i * kNullColumns.count() + kNullColumns.of(score).first] = of_heads[i];
  return values;
}

// Two heads of one layer over four draws: 1 3 | 2 2 | 3 1 | 2 2. Mean 2, deviation sqrt(4 / 7); z of 3 is sqrt(7) / 2.
// The maxima are z(3), z(2), z(3), z(2).
TEST(HeadTests, StandardiseByLayerAndCountMaximaByHand) {
  const HeadNull null = null_of(1, 2, HeadScore::self, {{1, 3}, {2, 2}, {3, 1}, {2, 2}});
  const std::vector<HeadTest> tests =
      HeadTests(null, kNullColumns, NullGroup::layer).test(HeadScore::self, values_of(HeadScore::self, {3, 2.5}));
  ASSERT_EQ(tests.size(), 2U);
  EXPECT_EQ(tests[0].column, at(HeadScore::self));
  EXPECT_DOUBLE_EQ(tests[0].null_mean, 2);
  EXPECT_DOUBLE_EQ(tests[0].null_deviation, std::sqrt(4.0 / 7));
  EXPECT_DOUBLE_EQ(tests[0].z, std::sqrt(7.0) / 2);
  EXPECT_EQ(tests[0].adjusted_p, 3.0 / 5);  // two draws have a head as large
  EXPECT_EQ(tests[0].raw_p, 2.0 / 5);       // one has it in this place
  EXPECT_EQ(tests[1].adjusted_p, 3.0 / 5);
  EXPECT_EQ(tests[1].raw_p, 2.0 / 5);
}

// Layers of other spread: a value that stands out in the quiet layer counts, the same value in the loud one does not.
TEST(HeadTests, TakeEachLayerByItsOwnSpread) {
  const HeadNull null = null_of(2, 1, HeadScore::self, {{-1, -10}, {1, 10}, {-1, -10}, {1, 10}});
  const HeadTests tests(null, kNullColumns, NullGroup::layer);
  EXPECT_EQ(tests.test(HeadScore::self, values_of(HeadScore::self, {5, 0}))[0].adjusted_p, 1.0 / 5);
  EXPECT_EQ(tests.test(HeadScore::self, values_of(HeadScore::self, {0, 5}))[1].adjusted_p, 3.0 / 5);
}

// Heads that are not interchangeable: one moves around 0, one around 100.
TEST(HeadTests, TakeEachHeadByItsOwnWhereSlopesDiffer) {
  const HeadNull null = null_of(1, 2, HeadScore::self, {{-1, 99}, {1, 101}, {-1, 99}, {1, 101}});
  const std::vector<double> values = values_of(HeadScore::self, {5, 100});
  EXPECT_EQ(HeadTests(null, kNullColumns, NullGroup::head).test(HeadScore::self, values)[0].adjusted_p, 1.0 / 5);
  EXPECT_EQ(HeadTests(null, kNullColumns, NullGroup::layer).test(HeadScore::self, values)[0].adjusted_p, 1.0);
  models::Config config;
  EXPECT_EQ(group_of(config), NullGroup::layer);
  config.position = models::PositionKind::alibi;
  EXPECT_EQ(group_of(config), NullGroup::head);
}

TEST(HeadTests, CountAsTheAlternativeSays) {
  const std::vector<std::vector<float>> draws{{-1}, {1}, {-1}, {1}};
  const auto p = [&](HeadScore score, double value) {
    const HeadNull null = null_of(1, 1, score, draws);
    return HeadTests(null, kNullColumns, NullGroup::layer).test(score, values_of(score, {value}))[0].adjusted_p;
  };
  EXPECT_EQ(p(HeadScore::self, 9), 1.0 / 5);
  EXPECT_EQ(p(HeadScore::self, -9), 1.0);
  EXPECT_EQ(p(HeadScore::entropy, 9), 1.0);
  EXPECT_EQ(p(HeadScore::entropy, -9), 1.0 / 5);
  EXPECT_EQ(p(HeadScore::centre, 9), 1.0 / 5);
  EXPECT_EQ(p(HeadScore::centre, -9), 1.0 / 5);
  EXPECT_EQ(p(HeadScore::centre, 0.5), 1.0);
}

TEST(HeadTests, TakeTheBinOfTheProfileThatStandsOutMost) {
  HeadNull null = null_of(1, 1, HeadScore::distance, {{-1}, {1}, {-1}, {1}});
  for (std::size_t k = 0; k < 4; ++k) null.values[(k + 1) * kNullColumns.count() - 1] = k < 2 ? -2.0F : 2.0F;
  const HeadTests tests(null, kNullColumns, NullGroup::layer);
  std::vector<double> values = values_of(HeadScore::distance, {3});
  values.back() = 10;
  const HeadTest test = tests.test(HeadScore::distance, values)[0];
  EXPECT_EQ(test.column, kNullColumns.count() - 1);
  EXPECT_DOUBLE_EQ(test.z, 10 / std::sqrt(16.0 / 3));
  EXPECT_EQ(test.adjusted_p, 1.0 / 5);
}

TEST(HeadTests, LeaveOutWhatHasNoValue) {
  HeadNull null = null_of(1, 1, HeadScore::self, {{-1}, {1}});
  const HeadTests all(null, kNullColumns, NullGroup::layer);
  EXPECT_EQ(all.scores(), kHeadScores);
  for (std::size_t k = 0; k < 2; ++k) null.values[k * kNullColumns.count() + at(HeadScore::separation)] = kNone;
  const HeadTests tests(null, kNullColumns, NullGroup::layer);
  EXPECT_FALSE(tests.has(HeadScore::separation));
  EXPECT_TRUE(tests.has(HeadScore::distance));
  EXPECT_EQ(tests.scores(), kHeadScores - 1);
  EXPECT_EQ(error_of([&] { (void)tests.test(HeadScore::separation, values_of(HeadScore::self, {0})); }).kind(),
            ErrorKind::internal);
}

TEST(HeadTests, OfANullThatNeverMoves) {
  const HeadNull null = null_of(1, 1, HeadScore::self, {{2}, {2}, {2}});
  const HeadTests tests(null, kNullColumns, NullGroup::layer);
  EXPECT_EQ(tests.test(HeadScore::self, values_of(HeadScore::self, {2}))[0].adjusted_p, 1.0);
  EXPECT_EQ(tests.test(HeadScore::self, values_of(HeadScore::self, {3}))[0].adjusted_p, 1.0 / 4);
  EXPECT_EQ(tests.least_p(), 1.0 / 4);
}

class Draws : public ::testing::Test {
 protected:
  Draws() {
    std::vector<text::Token> tokens;
    const random::Stream stream = random::stream(3, "test text");
    for (std::uint32_t i = 0; i < 600; ++i) {
      tokens.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, config_.vocabulary)));
    }
    windows_ = head_windows(tokens, {.length = 12, .count = 6, .vocabulary = config_.vocabulary, .seed = 8});
  }

  HeadNull untrained(unsigned threads, std::uint64_t seed = 1, std::size_t draws = 9) {
    Pool pool(threads);
    return *untrained_null(config_, DType::f32, windows_, {.draws = draws, .seed = seed}, {pool});
  }

  models::Config config_{.vocabulary = 23, .context = 17, .width = 20, .layers = 2, .heads = 4};
  HeadWindows windows_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_F(Draws, AreModelsFreshlyInitialisedAndScored) {
  const HeadNull null = untrained(1);
  Pool pool(1);
  const models::LanguageModel model(config_, DType::f32, nn::ParameterStore::Gradients::none);
  for (const std::size_t k : {0U, 5U}) {
    model.initialise({pool}, seed_of_draw(1, k));
    Passes passes(model, {pool});
    const std::vector<double> means = score_heads(passes, windows_).means();
    for (std::size_t i = 0; i < means.size(); ++i) {
      EXPECT_EQ(null.values[k * means.size() + i], static_cast<float>(means[i])) << k << " " << i;
    }
  }
}

TEST_F(Draws, DoNotDependOnThreadsAndHangOnTheSeed) {
  const HeadNull one = untrained(1);
  EXPECT_TRUE(same_bits(untrained(2).values, one.values));
  EXPECT_TRUE(same_bits(untrained(3).values, one.values));
  EXPECT_FALSE(same_bits(untrained(1, 2).values, one.values));
}

TEST_F(Draws, GrowByMoreDraws) {
  const HeadNull few = untrained(2, 1, 4);
  const HeadNull more = untrained(2, 1, 9);
  EXPECT_TRUE(same_bits({more.values.begin(), more.values.begin() + static_cast<std::ptrdiff_t>(few.values.size())},
                        few.values));
}

// Many windows are many passes: told to stop amid a draw, no further pass is made.
TEST_F(Draws, StopAmidADraw) {
  Pool pool(1);
  std::size_t asked = 0;
  const auto stopped = [&] { return ++asked >= 3; };
  bool reported = false;
  const auto progress = [&](std::size_t) { return reported = true; };
  const NullOptions options{.draws = 40, .progress = progress, .stopped = stopped};
  EXPECT_FALSE(untrained_null(config_, DType::f32, windows_, options, {pool}).has_value());
  EXPECT_FALSE(reported);
  EXPECT_LE(asked, 3U + 2 * 4) << "each of the four draws begun finds out at its first pass of either kind";
}

TEST_F(Draws, ReportHowFarTheyAreAndStopWhenTold) {
  Pool pool(2);
  std::vector<std::size_t> told;
  const auto tell = [&](std::size_t done) {
    told.push_back(done);
    return done < 16;
  };
  EXPECT_FALSE(untrained_null(config_, DType::f32, windows_, {.draws = 40, .progress = tell}, {pool}).has_value());
  EXPECT_EQ(told, (std::vector<std::size_t>{8, 16}));
}

TEST_F(Draws, OfShuffledTextAreTheSameModelOnOtherOrders) {
  Pool pool(2);
  const models::LanguageModel model(config_, DType::f32, nn::ParameterStore::Gradients::none);
  model.initialise({pool}, 77);
  const HeadNull null = *shuffled_null(model, windows_, {.draws = 5, .seed = 4}, {pool});
  Passes passes(model, {pool});
  const std::vector<double> means = score_heads(passes, shuffled(windows_, 4, 3)).means();
  for (std::size_t i = 0; i < means.size(); ++i) {
    const float value = null.values[3 * means.size() + i];
    EXPECT_TRUE(value == static_cast<float>(means[i]) || (std::isnan(value) && std::isnan(means[i]))) << i;
  }
  EXPECT_FALSE(HeadTests(null, HeadColumns(12, {}), NullGroup::head).has(HeadScore::induction));
}

}  // namespace
}  // namespace dikkat::inspect
