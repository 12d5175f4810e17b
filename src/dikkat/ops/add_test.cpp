#include "dikkat/ops/add.h"

#include "dikkat/base/testing.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;
using Inputs = std::span<const Variable>;

class AddTest : public testing::OperationTest {};

TEST_F(AddTest, GradientsAgreeWithDifferences) {
  const auto f = [](Context& c, Inputs in) { return add(c, in[0], in[1]); };
  EXPECT_EQ(check_gradients(context(), {values("a", {3, 5}), values("b", {3, 5})}, f), "");
}

// The residual stream: x + f(x) with f itself a sum, so that gradients meet in one place.
TEST_F(AddTest, AValueUsedTwiceGathersBothGradients) {
  const auto f = [](Context& c, Inputs in) { return add(c, in[0], add(c, in[0], in[1])); };
  EXPECT_EQ(check_gradients(context(), {values("a", {3, 5}), values("b", {3, 5})}, f), "");
  const auto doubled = [](Context& c, Inputs in) { return add(c, in[0], in[0]); };
  EXPECT_EQ(check_gradients(context(), {values("a", {3, 5})}, doubled), "");
}

TEST_F(AddTest, ShapesThatDoNotFitAreNamed) {
  Context c = context();
  const Error error = dikkat::testing::error_of([&] { (void)add(c, {values("a", {3, 5})}, {values("b", {5, 3})}); });
  EXPECT_EQ(error.message(), "add: b has shape (5,3); expected (3,5)");
}

}  // namespace
}  // namespace dikkat::ops
