#include "dikkat/autograd/row_sum.h"

#include <gtest/gtest.h>

#include <vector>

namespace dikkat {
namespace {

using Sizes = std::vector<std::size_t>;

struct TestSum {
  Tensor values;  // (R)
  const kernels::Rows* rows;
};

// Samples of 100 rows, two a chunk, numbered from 0: pieces of samples 0, 1-2, 3, 4.
class RowSumTest : public ::testing::Test {
 protected:
  RowSumTest() {
    const Sizes counts = {1, 2, 1, 1};
    std::size_t first = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      rows_[i].lay_out(Sizes(counts[i], 100), 100, first);
      sums_[i] = {Tensor::empty({rows_[i].count()}, DType::f64), &rows_[i]};
      sums_[i].values.fill(static_cast<double>(i));
      records_.push_back(&sums_[i]);
      first += counts[i];
    }
  }

  kernels::Rows rows_[4];
  TestSum sums_[4];
  std::vector<const void*> records_;
  Joining joining_;
};

// The second piece begins in the chunk of samples 0 and 1, the third in that of 2 and 3; the fourth begins a chunk.
TEST_F(RowSumTest, PiecesThatShareAChunkAreLaidSideBySide) {
  std::vector<Sizes> chunks;
  std::vector<double> boundaries;
  const auto see = [&](Chunks group, const Tensor& values) {
    chunks.emplace_back(group.begin(), group.end());
    for (const std::size_t row : group.first(group.size() - 1)) boundaries.push_back(values.data<double>()[row]);
    boundaries.push_back(values.data<double>()[values.count() - 1]);
  };
  each_joined(joining_, Pieces<TestSum>(records_), see, &TestSum::values);
  EXPECT_EQ(chunks, (std::vector<Sizes>{{0, 200, 400}, {0, 100}}));
  // Rows 0 and 200 are the first and second piece's, 399 the third's; the fourth stands alone.
  EXPECT_EQ(boundaries, (std::vector<double>{0, 1, 2, 3, 3}));
}

TEST_F(RowSumTest, PieceOfWholeChunksIsNotCopied) {
  const std::vector<const void*> lone = {&sums_[3]};
  each_joined(
      joining_, Pieces<TestSum>(lone),
      [&](Chunks, const Tensor& values) { EXPECT_EQ(values.raw(), sums_[3].values.raw()); }, &TestSum::values);
  EXPECT_EQ(joining_.memory.capacity(), 0U);
}

}  // namespace
}  // namespace dikkat
