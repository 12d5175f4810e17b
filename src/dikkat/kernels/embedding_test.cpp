#include "dikkat/kernels/embedding.h"

#include "dikkat/base/error.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;
using Ids = std::vector<std::uint32_t>;
using Chunks = std::vector<std::size_t>;

template <class T>
class Embedding : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Embedding, Numbers);

Ids random_ids(std::mt19937_64& source, std::size_t rows, std::size_t vocabulary) {
  Ids ids(rows);
  for (auto& id : ids) id = static_cast<std::uint32_t>(source() % vocabulary);
  return ids;
}

Chunks random_chunks(std::mt19937_64& source, std::size_t rows) {
  Chunks chunks = {0};
  while (chunks.back() < rows) chunks.push_back(std::min(rows, chunks.back() + 1 + source() % 40));
  return chunks;
}

TYPED_TEST(Embedding, ForwardCopiesOrAddsRowsOfTheTable) {
  Pool pool(1);
  const std::vector<TypeParam> table = {1, 2, 3, 4, 5, 6};
  const Ids ids = {2, 0, 2};
  std::vector<TypeParam> y(6);
  embedding_forward<TypeParam>(Executor{pool, Bodies::check}, table.data(), 3, ids, y.data(), 2, Store::assign);
  EXPECT_EQ(y, (std::vector<TypeParam>{5, 6, 1, 2, 5, 6}));
  embedding_forward<TypeParam>(Executor{pool, Bodies::check}, table.data(), 3, ids, y.data(), 2, Store::add);
  EXPECT_EQ(y, (std::vector<TypeParam>{10, 12, 2, 4, 10, 12}));
}

// Id 1 stands in rows 0 and 2 of the first chunk and in row 3 of the second; id 0 in row 1; id 2 nowhere.
TYPED_TEST(Embedding, BackwardSumsTheRowsOfAnId) {
  Pool pool(1);
  const std::vector<TypeParam> dy = {1, 10, 2, 20, 4, 40, 8, 80};
  const Ids ids = {1, 0, 1, 1};
  const Chunks chunks = {0, 3, 4};
  std::vector<TypeParam> d_table = {100, 100, 200, 200, 300, 300};
  embedding_backward<TypeParam>(Executor{pool, Bodies::check}, dy.data(), ids, chunks, d_table.data(), 3, 2);
  EXPECT_EQ(d_table, (std::vector<TypeParam>{102, 120, 213, 330, 300, 300}));
}

// With u = half an ulp of 1: ((1 + u) + u) = 1 in one chunk by the chain from zero when 1 comes first, but u + u = 2u
// when the two are a chunk of their own.
TYPED_TEST(Embedding, BackwardChainsWithinAChunkAndAddsChunksInOrder) {
  Pool pool(1);
  const TypeParam u = std::numeric_limits<TypeParam>::epsilon() / 2;
  const std::vector<TypeParam> dy = {1, u, u};
  const Ids ids = {0, 0, 0};
  TypeParam whole = 0;
  embedding_backward<TypeParam>(Executor{pool, Bodies::check}, dy.data(), ids, Chunks{0, 3}, &whole, 1, 1);
  EXPECT_EQ(whole, 1);
  TypeParam cut = 0;
  embedding_backward<TypeParam>(Executor{pool, Bodies::check}, dy.data(), ids, Chunks{0, 1, 3}, &cut, 1, 1);
  EXPECT_EQ(cut, 1 + 2 * u);
}

// Linear, so the gradient is exact: sum over y * dy = sum over table * d_table, here in small integers.
TYPED_TEST(Embedding, BackwardIsTheAdjointOfForward) {
  Pool pool(1);
  std::mt19937_64 source(1);
  const auto integers = [&](std::size_t n) {
    std::vector<TypeParam> values(n);
    for (auto& value : values) value = static_cast<TypeParam>(source() % 9) - 4;
    return values;
  };
  const auto table = integers(7 * 5);
  const auto dy = integers(100 * 5);
  const Ids ids = random_ids(source, 100, 7);
  std::vector<TypeParam> y(100 * 5);
  std::vector<TypeParam> d_table(7 * 5);
  const Executor executor{pool};
  embedding_forward<TypeParam>(executor, table.data(), 7, ids, y.data(), 5, Store::assign);
  embedding_backward<TypeParam>(executor, dy.data(), ids, random_chunks(source, 100), d_table.data(), 7, 5);
  double left = 0;
  double right = 0;
  for (std::size_t i = 0; i < y.size(); ++i) left += static_cast<double>(y[i]) * static_cast<double>(dy[i]);
  for (std::size_t i = 0; i < table.size(); ++i) {
    right += static_cast<double>(table[i]) * static_cast<double>(d_table[i]);
  }
  EXPECT_EQ(left, right);
  EXPECT_NE(left, 0);
}

TYPED_TEST(Embedding, IdsOutsideTheVocabularyAreRefusedBeforeAnythingIsWritten) {
  Pool pool(1);
  const Ids ids = {0, 3};
  const std::vector<TypeParam> table(6, 1);
  std::vector<TypeParam> y(4, 7);
  const Executor executor{pool};
  EXPECT_THROW(embedding_forward<TypeParam>(executor, table.data(), 3, ids, y.data(), 2, Store::assign), Error);
  EXPECT_THROW(embedding_backward<TypeParam>(executor, table.data(), ids, Chunks{0, 2}, y.data(), 2, 2), Error);
  EXPECT_EQ(y, std::vector<TypeParam>(4, 7));
}

TYPED_TEST(Embedding, ChunksThatDoNotCoverTheRowsAreRefused) {
  Pool pool(1);
  const Ids ids = {0, 0};
  std::vector<TypeParam> d_table(1);
  const std::vector<TypeParam> dy(2);
  for (const Chunks& chunks : {Chunks{0, 1}, Chunks{1, 2}, Chunks{0, 2, 1, 2}, Chunks{}}) {
    EXPECT_THROW(embedding_backward<TypeParam>(Executor{pool}, dy.data(), ids, chunks, d_table.data(), 1, 1), Error);
  }
}

TYPED_TEST(Embedding, ThreadsDoNotChangeABit) {
  std::mt19937_64 source(2);
  constexpr std::size_t kRows = 700;
  constexpr std::size_t kWidth = 200;
  const auto table = random_values<TypeParam>(source, 65 * kWidth);
  const auto dy = random_values<TypeParam>(source, kRows * kWidth);
  const Ids ids = random_ids(source, kRows, 65);
  const Chunks chunks = {0, 256, 512, 700};
  const auto run = [&](unsigned threads) {
    Pool pool(threads);
    std::vector<TypeParam> results(kRows * kWidth + table.size());
    embedding_forward<TypeParam>(Executor{pool}, table.data(), 65, ids, results.data(), kWidth, Store::assign);
    embedding_backward<TypeParam>(Executor{pool}, dy.data(), ids, chunks, results.data() + kRows * kWidth, 65, kWidth);
    return results;
  };
  const auto one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(3));
}

TYPED_TEST(Embedding, FastEqualsPlainToTheBit) {
  Pool pool(2);
  std::mt19937_64 source(3);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t rows = testing::random_size(source, 100);
    const std::size_t width = testing::random_size(source, 150);
    const std::size_t vocabulary = 1 + testing::random_size(source, 50);
    const auto table = random_values<TypeParam>(source, vocabulary * width);
    const auto dy = random_values<TypeParam>(source, rows * width);
    const Ids ids = random_ids(source, rows, vocabulary);
    const Chunks chunks = random_chunks(source, rows);
    auto y = random_values<TypeParam>(source, rows * width);
    auto d_table = random_values<TypeParam>(source, vocabulary * width);
    for (const auto set : testing::instruction_sets()) {
      const Executor check{pool, Bodies::check, set};
      embedding_forward<TypeParam>(check, table.data(), vocabulary, ids, y.data(), width, Store::add);
      embedding_forward<TypeParam>(check, table.data(), vocabulary, ids, y.data(), width, Store::assign);
      embedding_backward<TypeParam>(check, dy.data(), ids, chunks, d_table.data(), vocabulary, width);
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
