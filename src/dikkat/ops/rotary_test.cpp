#include "dikkat/ops/rotary.h"

#include <cmath>

#include "dikkat/kernels/rotary.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;
using Inputs = std::span<const Variable>;

class RotaryTest : public testing::OperationTest {
 protected:
  RotaryTest() {
    lay_out({3, 4});
    kernels::rotary_table<double>({pool_}, 10000.0, 4, 6, cosines_.span<double>(), sines_.span<double>());
  }
  // On a copy: the operation turns x in its own memory.
  Variable turned(Context& c, const Variable& x, std::size_t heads = 2) {
    return rotary(c, {x.value.clone(), x.slot}, cosines_, sines_, heads, 6);
  }

  Tensor cosines_ = Tensor::empty({4, 3}, DType::f64);
  Tensor sines_ = Tensor::empty({4, 3}, DType::f64);
};

TEST_F(RotaryTest, GradientsAgreeWithDifferences) {
  const auto f = [&](Context& c, Inputs in) { return turned(c, in[0]); };
  EXPECT_EQ(check({values("x", {7, 15})}, f), "");
}

TEST_F(RotaryTest, TurnsInPlace) {
  Context c = context();
  const Tensor x = values("x", {7, 12});
  const Variable y = rotary(c, {x}, cosines_, sines_, 2, 6);
  EXPECT_EQ(y.value.raw(), x.raw());
}

// Position 2, pair 1 of 3: angle 2 * 10000^(-2/6) of channels 1 and 1 + 3.
TEST_F(RotaryTest, APairTurnsByItsAngle) {
  Context c = context();
  const Tensor x = values("x", {7, 12});
  const Tensor y = turned(c, {x}).value;
  const double angle = 2 * std::pow(10000.0, -1.0 / 3);
  const auto at = [](const Tensor& t, std::size_t channel) { return t.data<double>()[2 * 12 + 6 + channel]; };
  EXPECT_NEAR(at(y, 1), at(x, 1) * std::cos(angle) - at(x, 4) * std::sin(angle), 1e-15);
  EXPECT_NEAR(at(y, 4), at(x, 4) * std::cos(angle) + at(x, 1) * std::sin(angle), 1e-15);
}

// The first rows of both samples stand at position 0; the values (beyond the turned heads) never turn.
TEST_F(RotaryTest, PositionZeroAndOtherColumnsStay) {
  Context c = context();
  const Tensor x = values("x", {7, 15});
  const Tensor y = turned(c, {x}).value;
  EXPECT_TRUE(testing::same_bits(y.slice(0, 0, 1), x.slice(0, 0, 1)));
  EXPECT_TRUE(testing::same_bits(y.slice(0, 3, 4), x.slice(0, 3, 4)));
  EXPECT_FALSE(testing::same_bits(y.slice(0, 1, 2), x.slice(0, 1, 2)));
  EXPECT_TRUE(testing::same_bits(y.slice(1, 12, 15), x.slice(1, 12, 15)));
}

// Scores hang on the distance alone: q at 3 with k at 2 is q at 2 with k at 1.
TEST_F(RotaryTest, ScoresHangOnTheDistance) {
  Context c = context();
  const Tensor same = Tensor::empty({7, 12}, DType::f64);
  const Tensor row = values("row", {12});
  for (std::size_t r = 0; r < 7; ++r) same.slice(0, r, r + 1).assign(row.reshape({1, 12}));
  const Tensor y = turned(c, {same}).value;
  const auto score = [&](std::size_t q, std::size_t k) {
    double sum = 0;
    for (std::size_t d = 0; d < 6; ++d) sum += y.data<double>()[q * 12 + d] * y.data<double>()[k * 12 + 6 + d];
    return sum;
  };
  EXPECT_NEAR(score(6, 5), score(5, 4), 1e-14);
  EXPECT_GT(std::abs(score(6, 4) - score(6, 5)), 1e-3);
}

}  // namespace
}  // namespace dikkat::ops
