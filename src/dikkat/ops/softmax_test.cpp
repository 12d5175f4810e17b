#include "dikkat/ops/softmax.h"

#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;
using Inputs = std::span<const Variable>;

class SoftmaxTest : public testing::OperationTest {};

TEST_F(SoftmaxTest, GradientsAgreeWithDifferences) {
  const auto f = [](Context& c, Inputs in) { return softmax(c, in[0]); };
  EXPECT_EQ(check({values("x", {4, 19})}, f), "");
}

// The self-attention document's example: softmax of 2, 1, 0.1.
TEST_F(SoftmaxTest, ValuesOfAKnownRow) {
  Context c = context();
  const Tensor y = softmax(c, {Tensor::of<double>({1, 3}, std::vector<double>{2.0, 1.0, 0.1})}).value;
  EXPECT_NEAR(y.data<double>()[0], 0.6590011388859679, 1e-15);
  EXPECT_NEAR(y.data<double>()[1], 0.2424329707047139, 1e-15);
  EXPECT_NEAR(y.data<double>()[2], 0.09856589040931818, 1e-15);
}

TEST_F(SoftmaxTest, RowsSumToOneAndAShiftChangesNothing) {
  Context c = context();
  const Tensor x = values("x", {5, 33});
  const Tensor y = softmax(c, {x}).value;
  for (std::size_t r = 0; r < 5; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < 33; ++i) sum += y.data<double>()[r * 33 + i];
    EXPECT_NEAR(sum, 1.0, 1e-15);
  }
  const Tensor large = Tensor::of<double>({1, 3}, std::vector<double>{1000, 1001, 1002});
  const Tensor small = Tensor::of<double>({1, 3}, std::vector<double>{0, 1, 2});
  EXPECT_TRUE(testing::same_bits(softmax(c, {large}).value, softmax(c, {small}).value));
}

TEST_F(SoftmaxTest, OneColumnIsOne) {
  Context c = context();
  const Tensor y = softmax(c, {values("x", {5, 1})}).value;
  for (const double value : y.span<double>()) EXPECT_EQ(value, 1.0);
}

}  // namespace
}  // namespace dikkat::ops
