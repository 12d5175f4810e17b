#include "dikkat/ops/cross_entropy.h"

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using kernels::kNoTarget;
using testing::values;

class CrossEntropyTest : public testing::OperationTest {
 protected:
  CrossEntropyTest() { lay_out({4}); }

  Tensor losses(const Tensor& logits, const std::vector<std::int32_t>& targets) {
    Context c = context();
    return cross_entropy(c, {logits}, targets, 1.0);
  }
  // The gradient of scale * (sum of losses).
  Tensor gradient(const Tensor& logits, const std::vector<std::int32_t>& targets, double scale) {
    Tape tape;
    Context c = context();
    c.tape = &tape;
    const Tensor gathered = Tensor::zeros(logits.shape(), logits.dtype());
    (void)cross_entropy(c, {logits.clone(), tape.leaf(gathered)}, targets, scale);
    tape.backward(c);
    return gathered;
  }
  double total(const Tensor& logits, const std::vector<std::int32_t>& targets) {
    double sum = 0;
    const Tensor rows = losses(logits, targets);
    for (const double row : rows.span<double>()) sum += row;
    return sum;
  }

  std::vector<std::int32_t> targets_ = {2, kNoTarget, 0, 16};
};

TEST_F(CrossEntropyTest, GradientsAgreeWithDifferences) {
  const Tensor logits = values("logits", {4, 17});
  const Tensor seen = gradient(logits, targets_, 0.25);
  double* x = logits.data<double>();
  for (std::size_t i = 0; i < logits.count(); ++i) {
    const double here = x[i];
    x[i] = here + 1e-5;
    const double above = total(logits, targets_);
    x[i] = here - 1e-5;
    const double below = total(logits, targets_);
    x[i] = here;
    EXPECT_NEAR(seen.data<double>()[i], 0.25 * (above - below) / 2e-5, 1e-9) << i;
  }
}

TEST_F(CrossEntropyTest, AUniformGuessCostsTheLogarithmOfTheVocabulary) {
  const Tensor logits = Tensor::zeros({4, 30}, DType::f64);
  const Tensor rows = losses(logits, {3, 0, kNoTarget, 29});
  EXPECT_NEAR(rows.data<double>()[0], 3.4011973816621555, 1e-15);
  EXPECT_EQ(rows.data<double>()[2], 0.0);
  // d = 1/30 everywhere, less one at the target
  const Tensor d = gradient(logits, {3, 0, kNoTarget, 29}, 1.0);
  EXPECT_NEAR(d.data<double>()[2], 1.0 / 30, 1e-16);
  EXPECT_NEAR(d.data<double>()[3], 1.0 / 30 - 1, 1e-15);
}

TEST_F(CrossEntropyTest, ARowWithoutTargetHasNoLossAndNoGradient) {
  const Tensor logits = values("logits", {4, 17});
  EXPECT_EQ(losses(logits, targets_).data<double>()[1], 0.0);
  const Tensor d = gradient(logits, targets_, 0.25);
  for (std::size_t i = 17; i < 34; ++i) EXPECT_EQ(d.data<double>()[i], 0.0);
}

TEST_F(CrossEntropyTest, LargeLogitsNeitherOverflowNorLoseTheLoss) {
  const Tensor logits = Tensor::of<double>({1, 3}, std::vector<double>{1000, 999, -1000});
  EXPECT_NEAR(losses(logits, {1}).data<double>()[0], 1 + std::log1p(std::exp(-1.0)), 1e-12);
  EXPECT_NEAR(losses(logits, {2}).data<double>()[0], 2000 + std::log1p(std::exp(-1.0)), 1e-12);
}

TEST_F(CrossEntropyTest, TargetsOutsideTheVocabularyAreRefused) {
  EXPECT_THROW((void)losses(values("logits", {1, 3}), {3}), Error);
  EXPECT_THROW((void)losses(values("logits", {1, 3}), {-2}), Error);
  EXPECT_THROW((void)losses(values("logits", {2, 3}), {0}), Error);
}

}  // namespace
}  // namespace dikkat::ops
