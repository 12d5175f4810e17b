#include "dikkat/ops/norm.h"

#include <cmath>

#include "dikkat/base/testing.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using kernels::Norm;
using testing::values;
using Inputs = std::span<const Variable>;

class NormTest : public testing::OperationTest {
 protected:
  NormTest() { lay_out({3, 4}, 150); }
};

TEST_F(NormTest, GradientsAgreeWithDifferences) {
  const std::vector<Tensor> inputs = {values("x", {7, 6}), values("gain", {6}), values("bias", {6})};
  for (const Norm kind : {Norm::layer, Norm::rms}) {
    const auto whole = [&](Context& c, Inputs in) { return norm(c, kind, 1e-5, in[0], in[1], in[2]); };
    EXPECT_EQ(check(inputs, whole), "");
    const auto gain_only = [&](Context& c, Inputs in) { return norm(c, kind, 1e-5, in[0], in[1]); };
    EXPECT_EQ(check({inputs[0], inputs[1]}, gain_only), "");
    const auto bare = [&](Context& c, Inputs in) { return norm(c, kind, 1e-3, in[0], {}); };
    EXPECT_EQ(check({inputs[0]}, bare), "");
  }
}

// Parameters alone, as in a model whose input needs no gradient.
TEST_F(NormTest, GradientsOfGainAndBiasNeedNoGradientOfTheInput) {
  const Variable x{values("x", {7, 6})};
  const auto f = [&](Context& c, Inputs in) { return norm(c, Norm::layer, 1e-5, x, in[0], in[1]); };
  EXPECT_EQ(check({values("gain", {6}), values("bias", {6})}, f), "");
}

// The book's first row: 1 2 3 4 has mean 2.5 and deviation sqrt(1.25).
TEST_F(NormTest, LayerNormOfTheBooksRow) {
  lay_out({1});
  Context c = context();
  const Variable x{Tensor::of<double>({1, 4}, std::vector<double>{1, 2, 3, 4})};
  const Tensor y = norm(c, Norm::layer, 1e-5, x, {}).value;
  EXPECT_NEAR(y.data<double>()[0], -1.3416354199689269, 1e-14);  // -1.5 / sqrt(1.25001)
  EXPECT_NEAR(y.data<double>()[2], 0.44721180665630895, 1e-14);
  // rms: sqrt(30 / 4 + 1e-5)
  EXPECT_NEAR(norm(c, Norm::rms, 1e-5, x, {}).value.data<double>()[3], 4 / std::sqrt(7.50001), 1e-14);
}

TEST_F(NormTest, ConstantRowIsTheBias) {
  Context c = context();
  const Tensor x = Tensor::empty({7, 4}, DType::f64);
  x.fill(3.0);
  const Tensor bias = values("bias", {4});
  const Tensor y = norm(c, Norm::layer, 1e-5, {x}, {values("gain", {4})}, {bias}).value;
  for (std::size_t r = 0; r < 7; ++r) EXPECT_TRUE(testing::same_bits(y.slice(0, r, r + 1).clone().reshape({4}), bias));
}

TEST_F(NormTest, GainOfOneIsNoGain) {
  Context c = context();
  const Variable x{values("x", {7, 6})};
  const Tensor ones = Tensor::empty({6}, DType::f64);
  ones.fill(1.0);
  EXPECT_TRUE(testing::same_bits(norm(c, Norm::layer, 1e-5, x, {ones}).value, norm(c, Norm::layer, 1e-5, x, {}).value));
}

TEST_F(NormTest, ShapesThatDoNotFitAreNamed) {
  Context c = context();
  const Variable x{values("x", {7, 6})};
  const auto message = [&](const Variable& gain, const Variable& bias) {
    return dikkat::testing::error_of([&] { (void)norm(c, Norm::layer, 1e-5, x, gain, bias); }).message();
  };
  EXPECT_EQ(message({values("gain", {5})}, {}), "norm: gain has shape (5); expected (6)");
  EXPECT_EQ(message({values("gain", {6})}, {values("bias", {7})}), "norm: bias has shape (7); expected (6)");
}

}  // namespace
}  // namespace dikkat::ops
