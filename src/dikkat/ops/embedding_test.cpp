#include "dikkat/ops/embedding.h"

#include "dikkat/base/error.h"
#include "dikkat/ops/linear.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using testing::values;
using Inputs = std::span<const Variable>;

class EmbeddingTest : public testing::OperationTest {
 protected:
  EmbeddingTest() { lay_out({3, 3}, 150); }

  std::vector<std::uint32_t> ids_ = {4, 0, 4, 2, 4, 4};
};

TEST_F(EmbeddingTest, GradientsAgreeWithDifferences) {
  const auto f = [&](Context& c, Inputs in) { return embedding(c, in[0], ids_); };
  EXPECT_EQ(check({values("table", {5, 3})}, f), "");
}

TEST_F(EmbeddingTest, IsTheOneHotProduct) {
  Context c = context();
  const Variable table{values("table", {5, 3})};
  const Tensor one_hot = Tensor::zeros({6, 5}, DType::f64);
  for (std::size_t r = 0; r < 6; ++r) one_hot.data<double>()[r * 5 + ids_[r]] = 1.0;
  EXPECT_TRUE(testing::same_bits(embedding(c, table, ids_).value, linear(c, {one_hot}, table).value));
}

// Row 4 is asked for four times, rows 1 and 3 never.
TEST_F(EmbeddingTest, GradientsOfARepeatedIdAddUp) {
  Tape tape;
  Context c = context();
  c.tape = &tape;
  const Tensor gradient = Tensor::zeros({5, 2}, DType::f64);
  const Variable y = embedding(c, {values("table", {5, 2}), tape.leaf(gradient)}, ids_);
  const Tensor dy = Tensor::empty({6, 2}, DType::f64);
  dy.fill(1.0);
  tape.give(y.slot, dy, c);
  tape.backward(c);
  const std::vector<double> expected = {1, 1, 0, 0, 1, 1, 0, 0, 4, 4};
  EXPECT_TRUE(testing::same_bits(gradient, Tensor::of<double>({5, 2}, expected)));
}

TEST_F(EmbeddingTest, IdsOutsideTheTableAreRefused) {
  Context c = context();
  ids_[3] = 5;
  EXPECT_THROW((void)embedding(c, {values("table", {5, 3})}, ids_), Error);
}

}  // namespace
}  // namespace dikkat::ops
