#include "dikkat/data/batch.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "dikkat/base/allocations_testing.h"
#include "dikkat/base/testing.h"

namespace dikkat::data {
namespace {

using dikkat::testing::allocations;
using dikkat::testing::error_of;
using ::testing::ElementsAre;

// Token i is i: a window shows where it starts.
std::vector<text::Token> counting(std::size_t n) {
  std::vector<text::Token> tokens(n);
  std::iota(tokens.begin(), tokens.end(), text::Token{0});
  return tokens;
}

const random::Stream kSampler = random::stream(1, "sampler");

Batch drawn(std::size_t n, std::size_t context, std::uint64_t step, std::size_t first, std::size_t count) {
  Batch batch;
  training_batch(counting(n), context, kSampler, step, first, count, batch);
  return batch;
}

TEST(TrainingBatch, SamplesAreWindowsAndTargetsTheNextTokens) {
  const Batch batch = drawn(1000, 8, 3, 0, 5);
  ASSERT_EQ(batch.inputs.size(), 40U);
  ASSERT_EQ(batch.targets.size(), 40U);
  EXPECT_THAT(batch.lengths, ElementsAre(8, 8, 8, 8, 8));
  EXPECT_EQ(batch.rows.count(), 40U);
  EXPECT_EQ(batch.rows.samples(), 5U);
  for (std::size_t row = 0; row < 40; ++row) {
    EXPECT_EQ(batch.inputs[row], batch.inputs[row / 8 * 8] + row % 8);
    EXPECT_EQ(batch.targets[row], static_cast<std::int32_t>(batch.inputs[row]) + 1);
    EXPECT_EQ(batch.rows.position[row], row % 8);
    EXPECT_EQ(batch.rows.sample[row], row / 8);
  }
}

TEST(TrainingBatch, StartsAreTheStatedDraws) {
  const std::uint64_t step = (std::uint64_t{5} << 32U) + 7;
  const Batch batch = drawn(1000, 8, step, 0, 3);
  for (std::uint32_t s = 0; s < 3; ++s) {
    EXPECT_EQ(batch.inputs[8 * s], random::below(kSampler, {s, 0, 7, 5}, 992));
  }
}

TEST(TrainingBatch, APartOfAStepIsThatPartOfTheWhole) {
  const Batch whole = drawn(5000, 8, 4, 0, 64);
  const Batch part = drawn(5000, 8, 4, 32, 32);
  EXPECT_TRUE(std::equal(part.inputs.begin(), part.inputs.end(), whole.inputs.begin() + 32 * 8));
  EXPECT_EQ(part.rows.sample.front(), 32U);
}

TEST(TrainingBatch, StepsDoNotDependOnEachOther) {
  Batch batch;
  const std::vector<text::Token> tokens = counting(5000);
  for (const std::uint64_t step : {9U, 2U, 7U}) {
    training_batch(tokens, 8, kSampler, step, 0, 4, batch);
    EXPECT_EQ(batch.inputs, drawn(5000, 8, step, 0, 4).inputs);
  }
  EXPECT_NE(drawn(5000, 8, 1, 0, 4).inputs, drawn(5000, 8, 2, 0, 4).inputs);
}

TEST(TrainingBatch, DrawsEveryWindowAboutEquallyOften) {
  constexpr std::size_t kDraws = 30000;
  // 8 tokens, context 5: windows start at 0, 1 and 2, and the last holds the last token.
  const Batch batch = drawn(8, 5, 1, 0, kDraws);
  std::array<double, 3> counts{};
  for (std::size_t s = 0; s < kDraws; ++s) ++counts.at(batch.inputs[5 * s]);
  const double four_sigma = 4 * std::sqrt(kDraws * (1.0 / 3) * (2.0 / 3));
  for (const double count : counts) EXPECT_NEAR(count, kDraws / 3.0, four_sigma);
  EXPECT_EQ(*std::max_element(batch.targets.begin(), batch.targets.end()), 7);
}

TEST(TrainingBatch, TheOnlyWindowIsTakenWhenThereIsOne) {
  EXPECT_THAT(drawn(4, 3, 1, 0, 2).inputs, ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(error_of([] { drawn(3, 3, 1, 0, 1); }).kind(), ErrorKind::internal);
}

TEST(TrainingBatch, AllocatesNothingOnceItIsWarm) {
  const std::vector<text::Token> tokens = counting(5000);
  Batch batch;
  training_batch(tokens, 64, kSampler, 1, 0, 12, batch);
  const std::size_t before = allocations.load();
  for (std::uint64_t step = 2; step < 50; ++step) training_batch(tokens, 64, kSampler, step, 0, 12, batch);
  EXPECT_EQ(allocations.load(), before);
  EXPECT_GT(before, 0U);  // the counter counts
}

TEST(EvaluationWindows, CoverEveryTargetOnceInOrder) {
  for (const std::size_t n : {2U, 5U, 8U, 9U, 10U, 16U, 17U, 18U, 100U}) {
    for (const std::size_t context : {1U, 4U, 8U, 200U}) {
      const std::vector<text::Token> tokens = counting(n);
      const EvaluationWindows windows{.tokens = tokens, .context = context};
      std::vector<std::int32_t> targets;
      Batch batch;
      for (std::size_t first = 0; first < windows.count(); first += 3) {
        windows.fill(first, std::min<std::size_t>(3, windows.count() - first), batch);
        EXPECT_EQ(batch.rows.count(), batch.inputs.size());
        targets.insert(targets.end(), batch.targets.begin(), batch.targets.end());
        for (std::size_t row = 0; row < batch.inputs.size(); ++row) {
          ASSERT_EQ(static_cast<std::int32_t>(batch.inputs[row]) + 1, batch.targets[row]);
          ASSERT_EQ(batch.inputs[row] % context, batch.rows.position[row]);
        }
      }
      std::vector<std::int32_t> expected(n - 1);
      std::iota(expected.begin(), expected.end(), 1);
      EXPECT_EQ(targets, expected) << n << " tokens, context " << context;
      EXPECT_EQ(windows.targets(), n - 1);
    }
  }
}

TEST(EvaluationWindows, TheLastShortOneCounts) {
  const std::vector<text::Token> tokens = counting(11);
  const EvaluationWindows windows{.tokens = tokens, .context = 4};
  ASSERT_EQ(windows.count(), 3U);
  Batch batch;
  windows.fill(0, 3, batch);
  EXPECT_THAT(batch.lengths, ElementsAre(4, 4, 2));
  EXPECT_THAT(batch.rows.first_row, ElementsAre(0, 4, 8, 10));
}

TEST(EvaluationWindows, OfTooFewTokensAreNone) {
  const std::vector<text::Token> one = counting(1);
  EXPECT_EQ((EvaluationWindows{.tokens = {}, .context = 4}.count()), 0U);
  EXPECT_EQ((EvaluationWindows{.tokens = one, .context = 4}.count()), 0U);
}

TEST(EvaluationWindows, RefuseWindowsThatAreNotThere) {
  const std::vector<text::Token> tokens = counting(11);
  const EvaluationWindows windows{.tokens = tokens, .context = 4};
  Batch batch;
  EXPECT_EQ(error_of([&] { windows.fill(2, 2, batch); }).kind(), ErrorKind::internal);
  EXPECT_EQ(error_of([&] { windows.fill(4, 0, batch); }).kind(), ErrorKind::internal);
  EXPECT_NO_THROW(windows.fill(3, 0, batch));
}

}  // namespace
}  // namespace dikkat::data
