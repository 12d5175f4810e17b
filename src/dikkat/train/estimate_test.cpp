#include "dikkat/train/estimate.h"

#include <gtest/gtest.h>

#include "dikkat/base/testing.h"

namespace dikkat::train {
namespace {

RunSpec spec_of(std::string_view preset) {
  const Preset& found = preset_named(preset);
  RunSpec spec{.model = found.model, .settings = found.settings, .conduct = {}};
  spec.model.vocabulary = 65;
  return spec;
}

// Peaks seen by /usr/bin/time on x86-64 with 1,115,394 tokens of text: 16.2 MiB, 41.0 MiB; `shakespeare` in batches of
// 8 381.8 MiB.
TEST(Estimate, IsWithinATenthOfPeaksSeen) {
  constexpr std::size_t kTokens = 1115394;
  const auto mib = [](const RunSpec& spec) {
    return static_cast<double>(estimate(spec, kTokens).memory_bytes) / (1U << 20U);
  };
  EXPECT_NEAR(mib(spec_of("kucuk")), 16.2, 1.6);
  EXPECT_NEAR(mib(spec_of("shakespeare-cpu")), 41.0, 4.1);
  RunSpec larger = spec_of("shakespeare");
  larger.settings.batch = 8;
  EXPECT_NEAR(mib(larger), 381.8, 38);
}

// Forward
// and backward are 6 operations a weight and token; attention adds 12 D H T / 2 a token and block.
TEST(Estimate, OperationsAreSixAWeightAndTokenAndAttention) {
  const RunSpec spec = spec_of("shakespeare-cpu");
  const double tokens = 12 * 64;
  const double attention = 12.0 * 4 * 128 * 64 / 2;
  EXPECT_DOUBLE_EQ(estimate(spec, 0).operations_per_step,
                   tokens * (6.0 * static_cast<double>(models::parameter_count(spec.model)) + attention));
}

TEST(Estimate, MoreThanTheMachineHasIsRefused) {
  RunSpec spec = spec_of("shakespeare");
  spec.settings.batch = 1U << 24U;  // drawn at once: 20 bytes a token
  spec.model.context = 1U << 16U;
  EXPECT_EQ(dikkat::testing::error_of([&] { require_memory(estimate(spec, 0)); }).kind(), ErrorKind::limit);
}

}  // namespace
}  // namespace dikkat::train
