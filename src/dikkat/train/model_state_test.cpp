#include "dikkat/train/model_state.h"

#include <gmock/gmock.h>

#include "dikkat/base/testing.h"

namespace dikkat::train {
namespace {

using dikkat::testing::error_of;
using formats::NamedTensor;

Tensor two() { return Tensor::of<float>({2}, std::vector<float>{1, 2}); }

TEST(Restore, NamesOfForeignTensorsAreShortAndHarmless) {
  const std::vector<NamedTensor> into{{"a", two()}};
  const auto refused = [&](const std::string& name) {
    return error_of([&] { restore(into, {{"a", two()}, {name, two()}}, "the weights"); }).message();
  };
  EXPECT_EQ(refused("\x1b[2J"), "the weights do not fit the model: \\x1b[2J belongs to no parameter");
  EXPECT_EQ(refused(std::string(100000, 'n')),
            "the weights do not fit the model: " + std::string(80, 'n') + "... belongs to no parameter");
}

}  // namespace
}  // namespace dikkat::train
