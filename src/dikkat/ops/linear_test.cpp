#include "dikkat/ops/linear.h"

#include "dikkat/base/testing.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;
using Inputs = std::span<const Variable>;

class LinearTest : public testing::OperationTest {
 protected:
  LinearTest() { lay_out({3, 4}, 150); }  // two chunks
};

TEST_F(LinearTest, GradientsAgreeWithDifferences) {
  const std::vector<Tensor> inputs = {values("x", {7, 5}), values("w", {5, 3}), values("b", {3})};
  const auto with_bias = [](Context& c, Inputs in) { return linear(c, in[0], in[1], in[2]); };
  EXPECT_EQ(check(inputs, with_bias), "");
  const auto without = [](Context& c, Inputs in) { return linear(c, in[0], in[1]); };
  EXPECT_EQ(check({inputs[0], inputs[1]}, without), "");
}

TEST_F(LinearTest, TransposedGradientsAgreeWithDifferences) {
  const std::vector<Tensor> inputs = {values("x", {7, 5}), values("table", {6, 5}), values("b", {6})};
  const auto with_bias = [](Context& c, Inputs in) { return linear_transposed(c, in[0], in[1], in[2]); };
  EXPECT_EQ(check(inputs, with_bias), "");
  const auto without = [](Context& c, Inputs in) { return linear_transposed(c, in[0], in[1]); };
  EXPECT_EQ(check({inputs[0], inputs[1]}, without), "");
}

// (1 2) . ((1 2 3) (4 5 6)) + (10 20 30) = (9 12 15) + (10 20 30)
TEST_F(LinearTest, IsTheProductPlusBias) {
  lay_out({1});
  Context c = context();
  const auto of = [](const Shape& shape, std::vector<double> v) { return Variable{Tensor::of<double>(shape, v)}; };
  const Variable y = linear(c, of({1, 2}, {1, 2}), of({2, 3}, {1, 2, 3, 4, 5, 6}), of({3}, {10, 20, 30}));
  EXPECT_TRUE(testing::same_bits(y.value, of({1, 3}, {19, 32, 45}).value));
}

TEST_F(LinearTest, TransposedIsLinearOverTheTransposedTable) {
  Context c = context();
  const Tensor table = values("table", {6, 5});
  const Variable x{values("x", {7, 5})};
  EXPECT_TRUE(
      testing::same_bits(linear_transposed(c, x, {table}).value, linear(c, x, {table.transpose(0, 1).clone()}).value));
}

// Two samples in chunks of their own: the weight's gradient is the first's, then the second's added.
TEST_F(LinearTest, WeightGradientIsTheSumOfItsChunks) {
  ASSERT_EQ(rows_.chunks, (std::vector<std::size_t>{0, 3, 7}));
  const Tensor x = values("x", {7, 5}, DType::f32);
  const Tensor w = values("w", {5, 3}, DType::f32);
  const Tensor dy = values("dy", {7, 3}, DType::f32);
  const Tensor together = Tensor::zeros({5, 3}, DType::f32);
  const Tensor added = Tensor::zeros({5, 3}, DType::f32);
  const auto backward = [&](std::size_t begin, std::size_t end, const Tensor& gradient) {
    Tape tape;
    Context c = context();
    c.tape = &tape;
    const Variable y = linear(c, {x.slice(0, begin, end).clone()}, {w, tape.leaf(gradient)});
    tape.give(y.slot, dy.slice(0, begin, end).clone(), c);
    tape.backward(c);
  };
  backward(0, 7, together);
  lay_out({3});
  backward(0, 3, added);
  lay_out({4});
  backward(3, 7, added);
  EXPECT_TRUE(testing::same_bits(together, added));
}

TEST_F(LinearTest, NothingIsRecordedWithoutATapeOrAWish) {
  Context c = context();
  const Variable x{values("x", {7, 5})};
  const Variable w{values("w", {5, 3})};
  EXPECT_FALSE(linear(c, x, w).wants_gradient());
  Tape tape;
  c.tape = &tape;
  EXPECT_FALSE(linear(c, x, w).wants_gradient());
  EXPECT_TRUE(linear(c, x, {w.value, tape.leaf(Tensor::zeros({5, 3}, DType::f64))}).wants_gradient());
}

TEST_F(LinearTest, ShapesThatDoNotFitAreNamed) {
  Context c = context();
  const Variable w{values("w", {5, 3})};
  const auto message = [&](const Variable& x, const Variable& bias) {
    return dikkat::testing::error_of([&] { (void)linear(c, x, w, bias); }).message();
  };
  EXPECT_EQ(message({values("x", {7, 4})}, {}), "linear: x has shape (7,4); expected (7,5)");
  EXPECT_EQ(message({values("x", {7})}, {}), "linear: x has shape (7); expected 2 axes");
  EXPECT_EQ(message({values("x", {7, 5})}, {values("b", {5})}), "linear: bias has shape (5); expected (3)");
}

}  // namespace
}  // namespace dikkat::ops
