// The lesson against the document's own program run by Python 3.12 (tests/golden/lesson_heads_py312.json).
#include "dikkat/lessons/heads.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/lessons/heads_testing.h"

namespace dikkat::lessons {
namespace {

using testing::document_run;
using testing::golden_run;
using ::testing::HasSubstr;
using testing::kTolerance;
using testing::numbers;

void expect_near(const std::vector<double>& seen, const JsonAt& expected) {
  const auto values = numbers(expected);
  ASSERT_EQ(seen.size(), values.size()) << expected.path();
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], values[i], kTolerance) << expected.path() << i;
}

// A8, A17: every logit, probability and shuffled probability of all eight runs.
TEST(HeadsLesson, LogitsAndProbabilitiesAreTheDocuments) {
  for (std::size_t run = 0; run < 8; ++run) {
    expect_near(document_run(run).logits, golden_run(run)["test_logits"]);
    expect_near(document_run(run).probabilities, golden_run(run)["test_probs"]);
    expect_near(document_run(run).shuffled_probabilities, golden_run(run)["test_probs_shuffled"]);
  }
}

// A11
TEST(HeadsLesson, ClassOneIffTheLogitIsAboveZero) {
  for (std::size_t run = 0; run < 8; ++run) {
    const HeadsRun& seen = document_run(run);
    std::size_t right = 0;
    std::size_t positive = 0;
    for (std::size_t i = 0; i < 180; ++i) {
      const bool above = seen.logits[i] > 0;
      positive += above ? 1 : 0;
      right += above == (testing::document_lesson().held_out()[i].label == 1) ? 1 : 0;
    }
    EXPECT_EQ(seen.correct, right);
    EXPECT_EQ(seen.predicted_rising, positive);
    EXPECT_EQ(seen.accuracy(), static_cast<double>(right) / 180);
    EXPECT_EQ(seen.predicted_rising, golden_run(run)["predicted_positive"].count());
    EXPECT_EQ(seen.training_accuracy, golden_run(run)["train_accuracy"].real());
    EXPECT_NEAR(seen.training_loss_nats, golden_run(run)["train_bce"].real(), kTolerance);
    EXPECT_NEAR(seen.held_out_loss_nats, golden_run(run)["test_bce"].real(), kTolerance);
  }
}

// A12
TEST(HeadsLesson, CorrectCountsAreTheDocuments) {
  const std::vector<std::size_t> expected = {160, 154, 158, 159, 157, 166};
  for (std::size_t run = 0; run < 6; ++run) EXPECT_EQ(document_run(run).correct, expected[run]);
}

// Two heads, the weights of every series the same: all on step 2 against half on 2 and half on 8.
HeadsRun two_heads_by_hand() {
  HeadsRun run{.heads = 2};
  for (std::size_t i = 0; i < kHeadsHeldOut; ++i) {
    std::vector<double> one(24, 0.0);
    one[2 * 2] = 1;
    one[2 * 2 + 1] = one[2 * 8 + 1] = 0.5;
    run.weights.insert(run.weights.end(), one.begin(), one.end());
  }
  return run;
}

// A14
TEST(HeadsLesson, MeanWeightsByHand) {
  const HeadsRun run = two_heads_by_hand();
  EXPECT_EQ(run.mean_weights(0)[2], 1.0);
  EXPECT_EQ(run.mean_weights(1)[8], 0.5);
  EXPECT_EQ(run.mean_weights(1)[7], 0.0);
}

// A14: (2 + 8) / 2 is step 5; half of |1 - 0.5| + |0 - 0.5| is 0.5. One head has nobody to be apart from.
TEST(HeadsLesson, CentresAndSeparationByHand) {
  HeadsRun run = two_heads_by_hand();
  EXPECT_DOUBLE_EQ(head_centre(run, 0), 2.0);
  EXPECT_DOUBLE_EQ(head_centre(run, 1), 5.0);
  EXPECT_DOUBLE_EQ(head_separation(run), 0.5);
  run.heads = 1;
  EXPECT_EQ(head_separation(run), 0.0);
}

// A16: centres at the ends of the regions 1-5 and 7-11 belong to them, 6 to neither.
TEST(HeadsLesson, SplitsByRegionWhereEachRegionHasACentre) {
  EXPECT_TRUE((HeadsRun{.heads = 2, .centres = {11.0, 1.0}}).splits_by_region());
  EXPECT_TRUE((HeadsRun{.heads = 4, .centres = {6.0, 5.0, 6.0, 7.0}}).splits_by_region());
  EXPECT_FALSE((HeadsRun{.heads = 2, .centres = {2.0, 6.5}}).splits_by_region());
  EXPECT_FALSE((HeadsRun{.heads = 1, .centres = {6.0}}).splits_by_region());
}

// A14, A15: centre and separation by the definition, from the weights of the run, and the document's figures.
TEST(HeadsLesson, CentresAndSeparationAreTheDocuments) {
  for (std::size_t number = 0; number < 8; ++number) {
    const HeadsRun& run = document_run(number);
    double distance = 0;
    std::vector<double> centres(run.heads, 0.0);
    for (std::size_t i = 0; i < 180; ++i) {
      const double* a = run.weights.data() + i * 12 * run.heads;
      for (std::size_t t = 0; t < 12; ++t) {
        for (std::size_t h = 0; h < run.heads; ++h) {
          centres[h] += static_cast<double>(t) * a[t * run.heads + h] / 180;
          for (std::size_t other = h + 1; other < run.heads; ++other) {
            distance += std::abs(a[t * run.heads + h] - a[t * run.heads + other]) / 2 / 180;
          }
        }
      }
    }
    const std::size_t pairs = run.heads * (run.heads - 1) / 2;
    EXPECT_NEAR(run.separation, pairs == 0 ? 0 : distance / static_cast<double>(pairs), kTolerance);
    for (std::size_t h = 0; h < run.heads; ++h) EXPECT_NEAR(run.centres[h], centres[h], kTolerance);
    expect_near(run.centres, golden_run(number)["centers"]);
    EXPECT_NEAR(run.separation, golden_run(number)["separation"].real(), kTolerance);
  }
  EXPECT_EQ(document_run(0).separation, 0.0);
}

// A15: the exact weights of the forward pass.
TEST(HeadsLesson, WeightsOfTheFirstHeldOutSeriesAreTheDocuments) {
  for (std::size_t number = 0; number < 8; ++number) {
    const HeadsRun& run = document_run(number);
    for (std::size_t h = 0; h < run.heads; ++h) {
      const auto expected = numbers(golden_run(number)["attention_test0"].items()[h]);
      for (std::size_t t = 0; t < 12; ++t) EXPECT_NEAR(run.weights[t * run.heads + h], expected[t], kTolerance);
    }
  }
}

// A16
TEST(HeadsLesson, TheSecondRunOfTwoHeadsSplitsByRegionAndTheFirstDoesNot) {
  EXPECT_FALSE(document_run(2).splits_by_region());
  EXPECT_TRUE(document_run(3).splits_by_region());
  EXPECT_EQ(document_run(3).correct - document_run(2).correct, 1U);
}

// A18
TEST(HeadsLesson, WithoutPositionEveryRunSaysNoAndReachesTheBaseline) {
  for (const std::size_t run : {6U, 7U}) {
    EXPECT_EQ(document_run(run).predicted_rising, 0U);
    EXPECT_EQ(document_run(run).accuracy(), baseline(testing::document_lesson().held_out()));
    EXPECT_EQ(document_run(run).training_accuracy, 137.0 / 200.0);
  }
}

// A19
TEST(HeadsLesson, OrderTestIsTheDocuments) {
  for (std::size_t run = 0; run < 8; ++run) {
    const JsonAt expected = golden_run(run)["order_test_run"];
    EXPECT_NEAR(document_run(run).mean_change, expected["mean_abs"].real(), kTolerance);
    EXPECT_NEAR(document_run(run).largest_change, expected["max_abs"].real(), kTolerance);
    EXPECT_EQ(document_run(run).changed, expected["nonzero_of_180"].count());
  }
}

// A20: 2 x 180 probabilities.
TEST(HeadsLesson, WithoutPositionNoBitDependsOnTheOrder) {
  for (const std::size_t run : {6U, 7U}) {
    EXPECT_EQ(document_run(run).shuffled_probabilities, document_run(run).probabilities);
    EXPECT_EQ(document_run(run).largest_change, 0.0);
    EXPECT_EQ(document_run(run).changed, 0U);
  }
}

TEST(HeadsLesson, ThreadsDoNotMatter) {
  const HeadsSettings settings{.seed = 3, .epochs = 9};
  Pool one(1);
  Pool three(3);
  const HeadsLesson a = heads_lesson(kernels::Executor{one}, settings);
  const HeadsLesson b = heads_lesson(kernels::Executor{three}, settings);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t run = 0; run < 2; ++run) EXPECT_EQ(a.with_position[i][run].logits, b.with_position[i][run].logits);
  }
  EXPECT_EQ(a.without_position[1].weights, b.without_position[1].weights);
}

struct Refused {
  const char* name;
  HeadsSettings settings;
  const char* message;
  const char* hint;
};
class HeadsRefuses : public ::testing::TestWithParam<Refused> {};
TEST_P(HeadsRefuses, WithARemedy) {
  try {
    check(GetParam().settings);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    EXPECT_THAT(error.place().hint, HasSubstr(GetParam().hint));
  }
}
INSTANTIATE_TEST_SUITE_P(
    Settings, HeadsRefuses,
    ::testing::Values(Refused{"WidthOfSix", {.width = 6}, "6 does not divide", "4 or 8"},
                      Refused{"WidthOfZero", {.width = 0}, "0 does not divide", "4"},
                      Refused{"WidthTooLarge", {.width = 260}, "too large", "256"},
                      Refused{"NoEpochs", {.epochs = 0}, "nothing would be learned", "150"},
                      Refused{"TooManyEpochs", {.epochs = 100001}, "too many", "100000"},
                      Refused{"SeedTooLarge", {.seed = std::uint64_t{1} << 63U}, "too large", "9223372036854775807"}),
    [](const auto& name) { return name.param.name; });

}  // namespace
}  // namespace dikkat::lessons
