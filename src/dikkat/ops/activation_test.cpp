#include "dikkat/ops/activation.h"

#include <cmath>
#include <limits>

#include "dikkat/base/testing.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using kernels::Activation;
using testing::values;
using Inputs = std::span<const Variable>;

constexpr Activation kAll[] = {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu};

class ActivationTest : public testing::OperationTest {
 protected:
  ActivationTest() { lay_out({7}); }

  double at(Activation kind, double x) {
    Context c = context();
    return activation(c, kind, {Tensor::of<double>({1, 1}, std::vector<double>{x})}).value.data<double>()[0];
  }
};

TEST_F(ActivationTest, GradientsAgreeWithDifferences) {
  const Tensor x = values("x", {7, 6});
  for (double& value : x.span<double>()) value *= 3;
  for (const Activation kind : kAll) {
    const auto f = [&](Context& c, Inputs in) { return activation(c, kind, in[0]); };
    EXPECT_EQ(check({x}, f), "") << static_cast<int>(kind);
  }
}

TEST_F(ActivationTest, GatedGradientsAgreeWithDifferences) {
  const auto f = [](Context& c, Inputs in) { return activation(c, Activation::swiglu, in[0]); };
  EXPECT_EQ(check({values("x", {7, 6})}, f), "");
}

// At 1: Phi(1) = 0.8413447460685429; tanh(0.7978845608 * 1.044715) gives 0.8411919906082768; 1/(1+1/e).
TEST_F(ActivationTest, ValuesAtOne) {
  EXPECT_EQ(at(Activation::relu, 1), 1.0);
  EXPECT_NEAR(at(Activation::gelu, 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(at(Activation::gelu_tanh, 1), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(at(Activation::silu, 1), 0.7310585786300049, 1e-15);
}

TEST_F(ActivationTest, FarOutTheyAreZeroOrTheIdentity) {
  for (const Activation kind : kAll) {
    EXPECT_EQ(at(kind, 0), 0.0);
    EXPECT_EQ(at(kind, 800), 800.0);
    EXPECT_NEAR(at(kind, -800), 0.0, 1e-300);
  }
}

TEST_F(ActivationTest, AllHandNanOn) {
  for (const Activation kind : kAll) {
    EXPECT_TRUE(std::isnan(at(kind, std::numeric_limits<double>::quiet_NaN()))) << static_cast<int>(kind);
  }
}

TEST_F(ActivationTest, SwigluIsTheGateTimesTheRest) {
  Context c = context();
  const Tensor x = values("x", {7, 6});
  const Tensor gate = activation(c, Activation::silu, {x.slice(1, 0, 3).clone()}).value;
  const Tensor up = x.slice(1, 3, 6).clone();
  for (std::size_t i = 0; i < gate.count(); ++i) gate.data<double>()[i] *= up.data<double>()[i];
  EXPECT_TRUE(testing::same_bits(activation(c, Activation::swiglu, {x}).value, gate));
}

TEST_F(ActivationTest, OddWidthHasNoHalves) {
  Context c = context();
  const auto message = dikkat::testing::error_of([&] {
                         (void)activation(c, Activation::swiglu, {values("x", {7, 5})});
                       }).message();
  EXPECT_EQ(message, "swiglu: x has shape (7,5); expected (7,4)");
}

}  // namespace
}  // namespace dikkat::ops
