#include "dikkat/ops/dropout.h"

#include <cmath>

#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;
using Inputs = std::span<const Variable>;

class DropoutTest : public testing::OperationTest {
 protected:
  DropoutTest() { lay_out({3, 4}); }
};

TEST_F(DropoutTest, GradientsAgreeWithDifferences) {
  const auto f = [](Context& c, Inputs in) { return dropout(c, in[0], 0.4, "here"); };
  EXPECT_EQ(check({values("x", {7, 5})}, f, Mode::training), "");
}

TEST_F(DropoutTest, IsXItselfInEvaluationAndAtRateZero) {
  const Variable x{values("x", {7, 5})};
  Context evaluation = context(Mode::evaluation);
  EXPECT_EQ(dropout(evaluation, x, 0.4, "here").value.raw(), x.value.raw());
  Context training = context(Mode::training);
  EXPECT_EQ(dropout(training, x, 0.0, "here").value.raw(), x.value.raw());
  EXPECT_NE(dropout(training, x, 0.4, "here").value.raw(), x.value.raw());
}

TEST_F(DropoutTest, KeepsOneMinusRateOfAMillionAndScalesThem) {
  lay_out(std::vector<std::size_t>(10, 100));
  Context c = context(Mode::training);
  const Tensor x = values("x", {1000, 1000}, DType::f32);
  for (const double rate : {0.1, 0.5, 0.9}) {
    const Tensor y = dropout(c, {x}, rate, "here").value;
    const auto factor = static_cast<float>(1.0 / (1.0 - rate));
    std::size_t kept = 0;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.count(); ++i) {
      const float out = y.data<float>()[i];
      if (out != 0.0F) ++kept;
      if (out != 0.0F && out != x.data<float>()[i] * factor) ++wrong;
    }
    EXPECT_EQ(wrong, 0U) << rate;
    EXPECT_NEAR(static_cast<double>(kept), (1 - rate) * 1e6, 4 * std::sqrt(rate * (1 - rate) * 1e6)) << rate;
  }
}

// A draw is a function of (seed, place, step, sample, position, channel): each of them matters, and nothing else.
TEST_F(DropoutTest, TheDrawHangsOnSeedPlaceStepSampleAndPosition) {
  const Tensor ones = Tensor::empty({7, 64}, DType::f64);
  ones.fill(1.0);
  Context c = context(Mode::training);
  const Tensor first = dropout(c, {ones}, 0.5, "here").value;
  EXPECT_TRUE(testing::same_bits(first, dropout(c, {ones}, 0.5, "here").value));
  EXPECT_FALSE(testing::same_bits(first, dropout(c, {ones}, 0.5, "there").value));
  c.step = 4;
  EXPECT_FALSE(testing::same_bits(first, dropout(c, {ones}, 0.5, "here").value));
  c.step = 3;
  c.seed = 9;
  EXPECT_FALSE(testing::same_bits(first, dropout(c, {ones}, 0.5, "here").value));
  c.seed = 8;
  for (std::size_t a = 0; a < 7; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_FALSE(testing::same_bits(first.slice(0, a, a + 1), first.slice(0, b, b + 1))) << a << " " << b;
    }
  }
  // The second sample alone, as the second micro-batch has it.
  const Tensor second = first.slice(0, 3, 7);
  rows_.lay_out(std::vector<std::size_t>{4}, 256, 1);
  EXPECT_TRUE(testing::same_bits(second, dropout(c, {ones.slice(0, 0, 4).clone()}, 0.5, "here").value));
}

}  // namespace
}  // namespace dikkat::ops
