#include "dikkat/autograd/tape.h"

#include <gtest/gtest.h>

#include <vector>

#include "dikkat/base/parallel.h"

namespace dikkat {
namespace {

Tensor scalar(double value) { return Tensor::of<double>({1}, std::vector<double>{value}); }

// y = factor * x, recorded by hand.
struct TimesBackward {
  Tensor x;
  double factor;
  Slot x_slot, y_slot;
  void operator()(Context& context) const {
    const Tensor dy = context.tape->take(y_slot);
    if (!dy.defined()) return;
    const Gradient dx = context.tape->into(x_slot, x.shape(), x.dtype(), context);
    if (!dx.wanted()) return;
    const double own = factor * dy.data<double>()[0];
    double& target = dx.tensor.data<double>()[0];
    target = dx.store == kernels::Store::add ? target + own : own;
  }
};

Variable times(Context& context, const Variable& x, double factor) {
  Variable y = output_of(context, scalar(factor * x.value.data<double>()[0]), x);
  if (y.wants_gradient()) context.tape->record(TimesBackward{x.value, factor, x.slot, y.slot});
  return y;
}

class TapeTest : public ::testing::Test {
 protected:
  Pool pool_{1};
  Tape tape_;
  Context context_{.executor = {pool_}, .memory = heap(), .tape = &tape_};
};

// y = 3x used twice, 5y and 7y: dx = 3 * (5 + 7) = 36, added to what the leaf held (100).
TEST_F(TapeTest, GradientsOfAValueUsedTwiceAddUp) {
  const Tensor gradient = scalar(100);
  const Variable x{scalar(2), tape_.leaf(gradient)};
  const Variable y = times(context_, x, 3);
  const Variable a = times(context_, y, 5);
  const Variable b = times(context_, y, 7);
  tape_.give(a.slot, scalar(1), context_);
  tape_.give(b.slot, scalar(1), context_);
  tape_.backward(context_);
  EXPECT_EQ(gradient.data<double>()[0], 136.0);
}

// One gradient handed to two places: adding into one must not change the other.
TEST_F(TapeTest, SharedGradientIsCopiedBeforeItIsAddedTo) {
  const Slot a = tape_.new_slot();
  const Slot b = tape_.new_slot();
  {
    const Tensor g = scalar(4);
    tape_.give(a, g, context_);
    tape_.give(b, g, context_);
  }
  tape_.give(a, scalar(1), context_);
  EXPECT_EQ(tape_.take(a).data<double>()[0], 5.0);
  EXPECT_EQ(tape_.take(b).data<double>()[0], 4.0);
}

TEST_F(TapeTest, NothingIsRecordedForConstants) {
  const Variable y = times(context_, {scalar(2)}, 3);
  EXPECT_FALSE(y.wants_gradient());
}

TEST_F(TapeTest, AnUnusedResultCostsNoGradient) {
  const Tensor gradient = scalar(0);
  const Variable x{scalar(2), tape_.leaf(gradient)};
  (void)times(context_, x, 3);
  tape_.backward(context_);
  EXPECT_EQ(gradient.data<double>()[0], 0.0);
}

}  // namespace
}  // namespace dikkat
