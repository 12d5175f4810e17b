#include "dikkat/ops/class_token.h"

#include "dikkat/base/error.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;

class ClassTokenTest : public testing::OperationTest {
 protected:
  // x with the last row of each sample zero, as the model's input has it.
  Tensor with_room(const Tensor& x) {
    for (std::size_t b = 0; b < rows_.samples(); ++b) {
      x.slice(0, rows_.first_row[b + 1] - 1, rows_.first_row[b + 1]).fill(0.0);
    }
    return x;
  }
  static Variable operation(Context& c, std::span<const Variable> in) { return class_token(c, in[0], in[1]); }
};

TEST_F(ClassTokenTest, StandsInTheLastRowOfEachSample) {
  lay_out({2, 3, 1});
  Context c = context();
  const Tensor x = Tensor::of<double>({6, 2}, std::vector<double>{1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 0, 0});
  const Tensor token = Tensor::of<double>({2}, std::vector<double>{8, 9});
  const Variable y = class_token(c, {x}, {token});
  const double expected[] = {1, 2, 8, 9, 3, 4, 5, 6, 8, 9, 8, 9};
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(y.value.data<double>()[i], expected[i]) << i;
  EXPECT_EQ(x.data<double>()[2], 0.0);  // the input is as it was
}

TEST_F(ClassTokenTest, GradientsAgreeWithDifferences) {
  lay_out({2, 3, 1, 4}, 100);
  EXPECT_EQ(check({with_room(values("x", {10, 3})), values("token", {3})}, operation), "");
  lay_out({300, 2}, 301);
  EXPECT_EQ(check({with_room(values("x", {302, 2})), values("token", {2})}, operation), "");
}

// 1e16 and 128 ones: one after another they are lost, in a chunk of their own they are not.
TEST_F(ClassTokenTest, TheGradientIsASumOfChunks) {
  lay_out(std::vector<std::size_t>(129, 1), 256);
  const auto gradient_at = [&](std::size_t first_of_second_chunk) {
    rows_.chunks = {0, first_of_second_chunk, 129};
    Tape tape;
    Context c = context();
    c.tape = &tape;
    const Tensor gathered = Tensor::zeros({1}, DType::f64);
    const Tensor weights = Tensor::zeros({129, 1}, DType::f64);
    weights.fill(1.0);
    weights.data<double>()[0] = 1e16;
    const Variable y =
        class_token(c, {Tensor::zeros({129, 1}, DType::f64)}, {Tensor::zeros({1}, DType::f64), tape.leaf(gathered)});
    tape.give(y.slot, weights, c);
    tape.backward(c);
    return gathered.data<double>()[0];
  };
  EXPECT_EQ(gradient_at(128), 1e16);      // 1e16 + 1 rounds back to 1e16, every time
  EXPECT_EQ(gradient_at(1), 1e16 + 128);  // the ones are added among themselves first
}

TEST_F(ClassTokenTest, ShapesThatDoNotFitAreRefused) {
  lay_out({2, 3});
  Context c = context();
  EXPECT_THROW((void)class_token(c, {values("x", {4, 3})}, {values("token", {3})}), Error);
  EXPECT_THROW((void)class_token(c, {values("x", {5, 3})}, {values("token", {2})}), Error);
}

}  // namespace
}  // namespace dikkat::ops
