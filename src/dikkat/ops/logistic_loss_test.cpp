#include "dikkat/ops/logistic_loss.h"

#include "dikkat/base/error.h"
#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;

class LogisticLossTest : public testing::OperationTest {
 protected:
  LogisticLossTest() { lay_out({5}); }

  // The losses and the gradient of scale * (sum of losses).
  struct Seen {
    Tensor losses, gradient;
  };
  Seen run(const Tensor& outputs, const std::vector<std::int32_t>& targets, double scale = 1.0) {
    Tape tape;
    Context c = context();
    c.tape = &tape;
    Seen seen = {{}, Tensor::zeros(outputs.shape(), outputs.dtype())};
    seen.losses = logistic_loss(c, {outputs.clone(), tape.leaf(seen.gradient)}, targets, scale);
    tape.backward(c);
    return seen;
  }
  double total(const Tensor& outputs, const std::vector<std::int32_t>& targets) {
    double sum = 0;
    const Tensor losses = run(outputs, targets).losses;
    for (const double loss : losses.span<double>()) sum += loss;
    return sum;
  }

  std::vector<std::int32_t> targets_ = {1, 0, kernels::kNoTarget, 1, 0};
};

TEST_F(LogisticLossTest, GradientsAgreeWithDifferences) {
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

// z = 0 is no opinion: ln 2 nats either way, and half a step towards the class.
TEST_F(LogisticLossTest, KnownLosses) {
  const Tensor logits = Tensor::of<double>({5, 1}, std::vector<double>{0, 0, 7, 1000, -1000});
  const Seen seen = run(logits, {0, 1, kernels::kNoTarget, 0, 0}, 0.5);
  const double* losses = seen.losses.data<double>();
  EXPECT_NEAR(losses[0], 0.69314718055994531, 1e-15);
  EXPECT_NEAR(losses[1], 0.69314718055994531, 1e-15);
  EXPECT_EQ(losses[2], 0.0);
  EXPECT_EQ(losses[3], 1000.0);
  EXPECT_EQ(losses[4], 0.0);
  const double expected[] = {0.25, -0.25, 0, 0.5, 0};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(seen.gradient.data<double>()[i], expected[i]) << i;
}

TEST_F(LogisticLossTest, WithoutATapeThereIsOnlyTheLoss) {
  Context c = context();
  const Tensor logits = values("logits", {5, 1});
  const Tensor before = logits.clone();
  EXPECT_TRUE(testing::same_bits(logistic_loss(c, {logits}, targets_, 1.0), run(logits, targets_).losses));
  EXPECT_TRUE(testing::same_bits(logits, before));
}

TEST_F(LogisticLossTest, OneNumberASampleIsAsked) {
  EXPECT_THROW((void)run(values("outputs", {4, 1}), targets_), Error);
  EXPECT_THROW((void)run(values("outputs", {5, 2}), targets_), Error);
}

}  // namespace
}  // namespace dikkat::ops
