#include "dikkat/tensor/tensor.h"

#include <gtest/gtest.h>

#include <vector>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

Tensor counting(const Shape& shape) {
  std::vector<float> values(shape.count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::of<float>(shape, values);
}

TEST(Tensor, TransposedCloneHasTheTransposedValues) {
  const Tensor t = counting({2, 3}).transpose(0, 1).clone();
  const std::vector<float> expected = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(std::vector<float>(t.span<float>().begin(), t.span<float>().end()), expected);
}

TEST(Tensor, SliceSharesMemory) {
  const Tensor t = counting({3, 4});
  const Tensor middle = t.slice(0, 1, 2);
  middle.fill(9);
  EXPECT_EQ(t.data<float>()[4], 9.0F);
  EXPECT_EQ(t.data<float>()[3], 3.0F);
  EXPECT_EQ(t.data<float>()[8], 8.0F);
}

TEST(Tensor, SliceOfColumnsIsNotContiguousAndSaysSo) {
  const Tensor columns = counting({3, 4}).slice(1, 1, 3);
  EXPECT_FALSE(columns.contiguous());
  EXPECT_THROW((void)columns.span<float>(), Error);
  EXPECT_EQ(columns.clone().data<float>()[2], 5.0F);
}

TEST(Tensor, SplitColumnsIntoHeads) {
  const Tensor heads = counting({2, 6}).slice(1, 2, 6).split(1, 2);  // (2 rows, 2 heads, width 2)
  EXPECT_EQ(heads.shape(), Shape({2, 2, 2}));
  const std::vector<float> expected = {2, 3, 4, 5, 8, 9, 10, 11};
  const Tensor flat = heads.clone();
  EXPECT_EQ(std::vector<float>(flat.span<float>().begin(), flat.span<float>().end()), expected);
}

TEST(Tensor, AssignConvertsTheNumber) {
  const Tensor wide = Tensor::empty({2, 3}, DType::f64);
  wide.transpose(0, 1).assign(counting({3, 2}));
  EXPECT_EQ(wide.data<double>()[1], 2.0);  // element (0,1) is element (1,0) of the source
}

TEST(Tensor, WrongNumberIsRefused) { EXPECT_THROW((void)counting({1}).data<double>(), Error); }

TEST(Shape, CountThatDoesNotFitIsRefused) {
  EXPECT_THROW((void)Shape({std::size_t{1} << 32U, std::size_t{1} << 32U, 2}).count(), Error);
  EXPECT_EQ(Shape({0, std::size_t{1} << 40U}).count(), 0U);
  EXPECT_EQ(Shape({}).count(), 1U);
}

}  // namespace
}  // namespace dikkat
