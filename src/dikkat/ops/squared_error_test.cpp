#include "dikkat/ops/squared_error.h"

#include "dikkat/base/error.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;

class SquaredErrorTest : public testing::OperationTest {
 protected:
  SquaredErrorTest() { lay_out({5}); }

  // The losses and the gradient of scale * (sum of losses).
  struct Seen {
    Tensor losses, gradient;
  };
  Seen run(const Tensor& outputs, const std::vector<double>& targets, double scale = 1.0) {
    Tape tape;
    Context c = context();
    c.tape = &tape;
    Seen seen = {{}, Tensor::zeros(outputs.shape(), outputs.dtype())};
    seen.losses = squared_error(c, {outputs.clone(), tape.leaf(seen.gradient)}, targets, scale);
    tape.backward(c);
    return seen;
  }
  double total(const Tensor& outputs, const std::vector<double>& targets) {
    double sum = 0;
    const Tensor losses = run(outputs, targets).losses;
    for (const double loss : losses.span<double>()) sum += loss;
    return sum;
  }

  std::vector<double> targets_ = {0.5, -1.25, 2, 0, 0.1};
};

TEST_F(SquaredErrorTest, GradientsAgreeWithDifferences) {
  const Tensor outputs = values("outputs", {5, 1});
  const Tensor seen = run(outputs, targets_, 0.25).gradient;
  double* x = outputs.data<double>();
  for (std::size_t i = 0; i < outputs.count(); ++i) {
    const double here = x[i];
    x[i] = here + 1e-5;
    const double above = total(outputs, targets_);
    x[i] = here - 1e-5;
    const double below = total(outputs, targets_);
    x[i] = here;
    EXPECT_NEAR(seen.data<double>()[i], 0.25 * (above - below) / 2e-5, 1e-9) << i;
  }
}

TEST_F(SquaredErrorTest, KnownLosses) {
  const Tensor outputs = Tensor::of<double>({5, 1}, std::vector<double>{1, 2, -1, 3, 0});
  const Seen seen = run(outputs, {1, 0.5, 1, 0, 0}, 0.25);
  const double losses[] = {0, 2.25, 4, 9, 0};
  const double gradients[] = {0, 0.75, -1, 1.5, 0};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(seen.losses.data<double>()[i], losses[i]) << i;
    EXPECT_EQ(seen.gradient.data<double>()[i], gradients[i]) << i;
  }
}

TEST_F(SquaredErrorTest, OneNumberASampleIsAsked) {
  EXPECT_THROW((void)run(values("outputs", {4, 1}), targets_), Error);
  EXPECT_THROW((void)run(values("outputs", {5, 2}), targets_), Error);
}

}  // namespace
}  // namespace dikkat::ops
