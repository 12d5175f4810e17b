#include "dikkat/ops/pooling.h"

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using kernels::RowSum;
using testing::same_bits;
using testing::values;
using Inputs = std::span<const Variable>;

class PoolingTest : public testing::OperationTest {
 protected:
  // Nine samples of equal length and three of others: vectors of samples, and lone ones.
  PoolingTest() { lay_out({4, 4, 4, 4, 4, 4, 4, 4, 4, 1, 6, 3}, 64); }
  static constexpr std::size_t kRows = 46, kSamples = 12;
};

TEST_F(PoolingTest, AttentionGradientsAgreeWithDifferences) {
  for (const RowSum sum : {RowSum::chain, RowSum::compensated}) {
    for (const auto& [heads, width] : {std::pair<std::size_t, std::size_t>{1, 4}, {2, 2}, {4, 1}, {3, 5}}) {
      const AttentionPoolingOptions options{.heads = heads, .width = width, .sum = sum};
      const auto f = [&](Context& c, Inputs in) { return attention_pooling(c, in[0], in[1], options); };
      EXPECT_EQ(check({values("kv", {kRows, 2 * heads * width}), values("q", {heads * width})}, f), "");
    }
  }
}

TEST_F(PoolingTest, MeanAndLastGradientsAgreeWithDifferences) {
  EXPECT_EQ(check({values("x", {kRows, 7})}, [](Context& c, Inputs in) { return mean_pooling(c, in[0]); }), "");
  EXPECT_EQ(check({values("x", {kRows, 7})}, [](Context& c, Inputs in) { return last_pooling(c, in[0]); }), "");
}

// Two rows, one head of width 4, so scores are divided by 2: s = 2 ln 3 / 2 = ln 3 against 0, weights 3/4 and 1/4.
TEST_F(PoolingTest, ScoresAreDividedByTheRootOfTheHeadWidth) {
  lay_out({2});
  const double l = std::log(3.0);
  const Tensor key_values =
      Tensor::of<double>({2, 8}, std::vector<double>{l, l, 0, 0, 4, 8, 0, 1, 0, 0, 0, 0, 8, 4, 4, 1});
  const Tensor query = Tensor::of<double>({4}, std::vector<double>{1, 1, 1, 1});
  Context c = context();
  const Tensor out = attention_pooling(c, {key_values}, {query}, {.heads = 1, .width = 4}).value;
  ASSERT_EQ(out.shape(), (Shape{1, 4}));
  const std::vector<double> expected = {5, 7, 1, 1};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(out.data<double>()[i], expected[i], 1e-14);
}

TEST_F(PoolingTest, LookedAtAndUnchangedItIsTheSameToTheBit) {
  const Variable key_values{values("kv", {kRows, 12})};
  const Variable query{values("q", {6})};
  for (const RowSum sum : {RowSum::chain, RowSum::compensated}) {
    const AttentionPoolingOptions options{.heads = 3, .width = 2, .sum = sum};
    Context c = context();
    const Tensor plain = attention_pooling(c, key_values, query, options).value;
    Tensor seen;
    const Tensor looked =
        attention_pooling_with_map(c, key_values, query, options, [&](Tensor& map) { seen = map.clone(); }).value;
    EXPECT_TRUE(same_bits(plain, looked));
    ASSERT_EQ(seen.shape(), (Shape{kRows, 3}));
    for (std::size_t b = 0; b < kSamples; ++b) {
      for (std::size_t h = 0; h < 3; ++h) {
        double total = 0;
        for (std::size_t r = rows_.first_row[b]; r < rows_.first_row[b + 1]; ++r)
          total += seen.data<double>()[r * 3 + h];
        EXPECT_NEAR(total, 1.0, 1e-15);
      }
    }
  }
}

// All weight on each sample's first row: the output is that row's values.
TEST_F(PoolingTest, AChangedMapChangesTheOutput) {
  const Variable key_values{values("kv", {kRows, 4})};
  Context c = context();
  const Tensor out =
      attention_pooling_with_map(c, key_values, {values("q", {2})}, {.heads = 2, .width = 1}, [&](Tensor& map) {
        map.fill(0);
        for (std::size_t b = 0; b < kSamples; ++b) {
          double* first = map.data<double>() + 2 * rows_.first_row[b];
          first[0] = first[1] = 1;
        }
      }).value;
  for (std::size_t b = 0; b < kSamples; ++b) {
    for (std::size_t h = 0; h < 2; ++h) {
      EXPECT_EQ(out.data<double>()[2 * b + h], key_values.value.data<double>()[4 * rows_.first_row[b] + 2 + h]);
    }
  }
}

TEST_F(PoolingTest, RefusesWrongShapes) {
  Context c = context();
  EXPECT_THROW((void)attention_pooling(c, {values("kv", {kRows, 9})}, {values("q", {4})}, {.heads = 2, .width = 2}),
               Error);
  EXPECT_THROW((void)attention_pooling(c, {values("kv", {kRows, 8})}, {values("q", {5})}, {.heads = 2, .width = 2}),
               Error);
  EXPECT_THROW((void)mean_pooling(c, {values("x", {kRows - 1, 3})}), Error);
}

}  // namespace
}  // namespace dikkat::ops
