#include "dikkat/ops/add.h"

#include "dikkat/base/testing.h"
#include "dikkat/ops/activation.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;
using Inputs = std::span<const Variable>;

class AddTest : public testing::OperationTest {};

TEST_F(AddTest, GradientsAgreeWithDifferences) {
  const auto f = [](Context& c, Inputs in) { return add(c, in[0], in[1]); };
  EXPECT_EQ(check({values("a", {3, 5}), values("b", {3, 5})}, f), "");
}

// The residual stream: x + f(x) with f itself a sum, so that gradients meet in one place.
TEST_F(AddTest, AValueUsedTwiceGathersBothGradients) {
  const auto f = [](Context& c, Inputs in) { return add(c, in[0], add(c, in[0], in[1])); };
  EXPECT_EQ(check({values("a", {3, 5}), values("b", {3, 5})}, f), "");
  const auto doubled = [](Context& c, Inputs in) { return add(c, in[0], in[0]); };
  EXPECT_EQ(check({values("a", {3, 5})}, doubled), "");
}

// Sums of intermediate values: one gradient is handed to two places, and one of them grows.
TEST_F(AddTest, ASharedGradientIsNotChangedUnderTheOther) {
  const auto f = [](Context& c, Inputs in) {
    const Variable a = activation(c, kernels::Activation::silu, in[0]);
    const Variable b = activation(c, kernels::Activation::silu, in[1]);
    return add(c, a, add(c, a, b));
  };
  EXPECT_EQ(check({values("a", {3, 5}), values("b", {3, 5})}, f), "");
}

TEST_F(AddTest, ShapesThatDoNotFitAreNamed) {
  Context c = context();
  const Error error = dikkat::testing::error_of([&] { (void)add(c, {values("a", {3, 5})}, {values("b", {5, 3})}); });
  EXPECT_EQ(error.message(), "add: b has shape (5,3); expected (3,5)");
}

}  // namespace
}  // namespace dikkat::ops
