#include "dikkat/optim/schedule.h"

#include <gtest/gtest.h>

#include "dikkat/base/parallel.h"

namespace dikkat::optim {
namespace {

class ScheduleTest : public ::testing::Test {
 protected:
  double rate(const Schedule& schedule, std::uint64_t t) { return schedule.rate({pool_}, t); }
  // 10 steps of warm-up in 110, from 1 to 0.1.
  static Schedule of(ScheduleKind kind) {
    return {.kind = kind, .peak = 1.0, .final = 0.1, .warmup = 10, .steps = 110, .decay_share = 0.2};
  }

  Pool pool_{1};
};

constexpr ScheduleKind kAll[] = {ScheduleKind::constant, ScheduleKind::linear, ScheduleKind::cosine, ScheduleKind::wsd};

TEST_F(ScheduleTest, EveryKindWarmsUpInEqualSteps) {
  for (const ScheduleKind kind : kAll) {
    EXPECT_DOUBLE_EQ(rate(of(kind), 1), 0.1);
    EXPECT_DOUBLE_EQ(rate(of(kind), 5), 0.5);
    EXPECT_DOUBLE_EQ(rate(of(kind), 10), 1.0);
  }
}

TEST_F(ScheduleTest, ConstantStays) {
  for (const std::uint64_t t : {11U, 60U, 110U, 500U}) EXPECT_EQ(rate(of(ScheduleKind::constant), t), 1.0);
}

TEST_F(ScheduleTest, LinearFallsEvenly) {
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::linear), 11), 0.991);  // 1 - 0.9 / 100
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::linear), 60), 0.55);   // half the way
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::linear), 110), 0.1);
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::linear), 200), 0.1);
}

TEST_F(ScheduleTest, CosineFallsByHalfAWave) {
  EXPECT_NEAR(rate(of(ScheduleKind::cosine), 35), 0.8681980515339464, 1e-15);  // 0.1 + 0.45 (1 + sqrt(1/2))
  EXPECT_NEAR(rate(of(ScheduleKind::cosine), 60), 0.55, 1e-15);
  EXPECT_NEAR(rate(of(ScheduleKind::cosine), 85), 0.2318019484660536, 1e-15);  // 0.1 + 0.45 (1 - sqrt(1/2))
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::cosine), 110), 0.1);
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::cosine), 111), 0.1);
}

// The last fifth of 110 steps, 22 of them, decay: from step 88.
TEST_F(ScheduleTest, WsdStaysAndThenDecays) {
  EXPECT_EQ(rate(of(ScheduleKind::wsd), 11), 1.0);
  EXPECT_EQ(rate(of(ScheduleKind::wsd), 88), 1.0);
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::wsd), 99), 0.55);
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::wsd), 110), 0.1);
  EXPECT_DOUBLE_EQ(rate(of(ScheduleKind::wsd), 1000), 0.1);
}

TEST_F(ScheduleTest, WithoutWarmUpTheFirstStepIsAtThePeakOfAConstant) {
  EXPECT_EQ(rate({.kind = ScheduleKind::constant, .peak = 0.01, .warmup = 0, .steps = 150}, 1), 0.01);
  // linear over two steps from 1 to 0: half at the first, nothing at the last
  const Schedule linear{.kind = ScheduleKind::linear, .peak = 1.0, .final = 0.0, .warmup = 0, .steps = 2};
  EXPECT_EQ(rate(linear, 1), 0.5);
  EXPECT_EQ(rate(linear, 2), 0.0);
}

TEST_F(ScheduleTest, WarmUpOverTheWholeRunEndsAtThePeak) {
  for (const ScheduleKind kind : kAll) {
    const Schedule schedule{.kind = kind, .peak = 2.0, .final = 0.5, .warmup = 4, .steps = 4};
    EXPECT_EQ(rate(schedule, 2), 1.0);
    EXPECT_EQ(rate(schedule, 4), 2.0);
  }
}

TEST_F(ScheduleTest, NeverLeavesTheRangeAndNeverRisesAfterWarmUp) {
  for (const ScheduleKind kind : kAll) {
    double before = 1.0;
    for (std::uint64_t t = 11; t <= 120; ++t) {
      const double now = rate(of(kind), t);
      EXPECT_LE(now, before) << t;
      EXPECT_GE(now, 0.1 - 1e-15) << t;  // 1 + (0.1 - 1) rounds
      before = now;
    }
  }
}

}  // namespace
}  // namespace dikkat::optim
