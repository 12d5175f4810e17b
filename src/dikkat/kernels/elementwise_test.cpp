#include "dikkat/kernels/elementwise.h"

#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

template <class T>
class Elementwise : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Elementwise, Numbers);

// 1 + 2 + ... + 100 is the same by any order; small integers are exact.
TYPED_TEST(Elementwise, SumOfFirstHundredIs5050) {
  Pool pool(1);
  std::vector<TypeParam> x(100);
  for (std::size_t i = 0; i < 100; ++i) x[i] = static_cast<TypeParam>(i + 1);
  EXPECT_EQ(sum(Executor{pool}, x.data(), x.size()), 5050.0);
}

// Two chunks: (1 + 2) and 4, added in order to what stood there (10).
TYPED_TEST(Elementwise, ColumnSumsAddChunkByChunk) {
  Pool pool(1);
  const std::vector<TypeParam> dy = {1, 2, 4};
  const std::vector<std::size_t> chunks = {0, 2, 3};
  TypeParam bias = 10;
  column_sums(Executor{pool}, dy.data(), std::span<const std::size_t>(chunks), &bias, 1);
  EXPECT_EQ(bias, TypeParam{17});
}

TYPED_TEST(Elementwise, FastEqualsPlainToTheBit) {
  Pool pool(2);
  std::mt19937_64 draw(1);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t rows = testing::random_size(draw, 40);
    const std::size_t columns = testing::random_size(draw, 130);
    const auto a = random_values<TypeParam>(draw, rows * columns);
    auto b = random_values<TypeParam>(draw, rows * columns);
    auto bias = random_values<TypeParam>(draw, columns);
    std::vector<std::size_t> chunks = {0};
    while (chunks.back() < rows) chunks.push_back(std::min(rows, chunks.back() + 1 + draw() % 9));
    for (const auto set : testing::instruction_sets()) {
      const Executor check{pool, Bodies::check, set};
      add(check, a.data(), b.data(), b.data(), a.size());
      scale(check, b.data(), b.size(), 0.3);
      column_sums(check, a.data(), std::span<const std::size_t>(chunks), bias.data(), columns);
      (void)sum(check, a.data(), a.size());
      (void)sum_of_squares(check, a.data(), a.size());
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
