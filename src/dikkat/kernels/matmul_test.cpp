#include "dikkat/kernels/matmul.h"

#include <cmath>
#include <cstring>

#include "dikkat/base/error.h"
#include "dikkat/kernels/testing.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/reference/matmul-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

using testing::random_size;
using testing::random_values;

template <class T>
class Matmul : public ::testing::Test {
 protected:
  Pool pool{1};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Matmul, Numbers);

template <class T>
Matrix<const T> row_major(const std::vector<T>& values, std::size_t rows, std::size_t columns) {
  return {values.data(), rows, columns, columns, 1};
}
// The transposed view of values stored (columns, rows).
template <class T>
Matrix<const T> stored_transposed(const std::vector<T>& values, std::size_t rows, std::size_t columns) {
  return {values.data(), rows, columns, 1, rows};
}

constexpr Bodies kBothBodies[] = {Bodies::reference, Bodies::fast};

// (1 2 3; 4 5 6) . (7 8; 9 10; 11 12) = (58 64; 139 154), in all four layouts.
TYPED_TEST(Matmul, TwoByThreeTimesThreeByTwo) {
  const std::vector<TypeParam> a = {1, 2, 3, 4, 5, 6};
  const std::vector<TypeParam> a_stored_transposed = {1, 4, 2, 5, 3, 6};
  const std::vector<TypeParam> b = {7, 8, 9, 10, 11, 12};
  const std::vector<TypeParam> b_stored_transposed = {7, 9, 11, 8, 10, 12};
  const std::vector<TypeParam> product = {58, 64, 139, 154};
  for (const Bodies bodies : kBothBodies) {
    for (const auto& left : {row_major(a, 2, 3), stored_transposed(a_stored_transposed, 2, 3)}) {
      for (const auto& right : {row_major(b, 3, 2), stored_transposed(b_stored_transposed, 3, 2)}) {
        std::vector<TypeParam> out(4, -1);
        matmul<TypeParam>({this->pool, bodies}, left, right, {out.data(), 2, 2, 2});
        EXPECT_EQ(out, product);
      }
    }
  }
}

TYPED_TEST(Matmul, BiasIsAddedToTheProduct) {
  const std::vector<TypeParam> a = {1, 2};
  const std::vector<TypeParam> b = {3, 4, 5, 6};
  const std::vector<TypeParam> bias = {100, 200};
  for (const Bodies bodies : kBothBodies) {
    std::vector<TypeParam> out(2);
    matmul<TypeParam>({this->pool, bodies}, row_major(a, 1, 2), row_major(b, 2, 2), {out.data(), 1, 2, 2},
                      {.bias = bias.data()});
    EXPECT_EQ(out, (std::vector<TypeParam>{113, 216}));
  }
}

TYPED_TEST(Matmul, AddTakesWhatStandsThere) {
  const std::vector<TypeParam> a = {1, 2};
  const std::vector<TypeParam> b = {3, 4};
  for (const Bodies bodies : kBothBodies) {
    TypeParam out = 10;
    matmul<TypeParam>({this->pool, bodies}, row_major(a, 1, 2), row_major(b, 2, 1), {&out, 1, 1, 1},
                      {.store = Store::add});
    EXPECT_EQ(out, TypeParam{21});
  }
}

// Two eps-halves. One chain: fma(1, 1, 0) = 1, then 1 + u = 1 (to even), twice: 1. Chunks {0, 1, 3}: 1, then the
// chain u + u = 2u, and 1 + 2u is the next number after 1. The bits show which of the two was computed.
TYPED_TEST(Matmul, ChunksAreChainsOfTheirOwn) {
  const TypeParam u = std::numeric_limits<TypeParam>::epsilon() / 2;
  const std::vector<TypeParam> a = {1, u, u};
  const std::vector<TypeParam> b = {1, 1, 1};
  const std::vector<std::size_t> chunks = {0, 1, 3};
  for (const Bodies bodies : kBothBodies) {
    TypeParam out = 0;
    matmul<TypeParam>({this->pool, bodies}, row_major(a, 1, 3), row_major(b, 3, 1), {&out, 1, 1, 1});
    EXPECT_EQ(out, TypeParam{1});
    out = 0;
    matmul<TypeParam>({this->pool, bodies}, row_major(a, 1, 3), row_major(b, 3, 1), {&out, 1, 1, 1},
                      {.chunks = chunks});
    EXPECT_EQ(out, 1 + 2 * u);
  }
}

// (1 + e)(1 - e) = 1 - e^2: rounded it is 1, so only a fused multiply-add leaves -e^2 after 1 was taken away.
TYPED_TEST(Matmul, MultiplyAndAddRoundOnce) {
  const TypeParam e = std::numeric_limits<TypeParam>::epsilon();
  const std::vector<TypeParam> a = {-1, 1 + e};
  const std::vector<TypeParam> b = {1, 1 - e};
  for (const Bodies bodies : kBothBodies) {
    TypeParam out = 0;
    matmul<TypeParam>({this->pool, bodies}, row_major(a, 1, 2), row_major(b, 2, 1), {&out, 1, 1, 1});
    EXPECT_EQ(out, -e * e);
  }
}

TYPED_TEST(Matmul, NothingToSumGivesZeroAndBias) {
  const std::vector<TypeParam> none;
  const std::vector<TypeParam> bias = {7, 8};
  for (const Bodies bodies : kBothBodies) {
    std::vector<TypeParam> out = {1, 2};
    matmul<TypeParam>({this->pool, bodies}, row_major(none, 1, 0), row_major(none, 0, 2), {out.data(), 1, 2, 2});
    EXPECT_EQ(out, (std::vector<TypeParam>{0, 0}));
    matmul<TypeParam>({this->pool, bodies}, row_major(none, 1, 0), row_major(none, 0, 2), {out.data(), 1, 2, 2},
                      {.bias = bias.data()});
    EXPECT_EQ(out, bias);
  }
}

TYPED_TEST(Matmul, RefusesShapesThatDoNotFit) {
  const std::vector<TypeParam> x(6);
  std::vector<TypeParam> out(4);
  const Executor executor{this->pool};
  const std::vector<std::size_t> short_chunks = {0, 1};
  const auto a = row_major(x, 2, 3);
  const auto b = row_major(x, 3, 2);
  EXPECT_THROW(matmul<TypeParam>(executor, a, a, {out.data(), 2, 2, 2}), Error);
  EXPECT_THROW(matmul<TypeParam>(executor, a, b, {out.data(), 2, 1, 1}), Error);
  EXPECT_THROW(matmul<TypeParam>(executor, a, b, {out.data(), 2, 2, 1, 2}), Error);
  EXPECT_THROW(matmul<TypeParam>(executor, a, b, {out.data(), 2, 2, 2}, {.chunks = short_chunks}), Error);
  EXPECT_THROW(matmul<TypeParam>(executor, a, b, {out.data(), 2, 2, 2}, {.store = Store::add, .bias = x.data()}),
               Error);
}

// A random product: sizes, layouts with gaps, chunks, bias.
template <class T>
struct Case {
  std::size_t m, k, n;
  std::vector<T> a_values, b_values, out_values, bias;
  std::vector<std::size_t> chunks;
  Matrix<const T> a{}, b{};
  std::size_t out_stride;
  MatmulOptions<T> options;

  Case(std::mt19937_64& draw, std::size_t largest)
      : m(random_size(draw, largest)), k(random_size(draw, largest)), n(random_size(draw, largest)) {
    a = view(draw, a_values, m, k);
    b = view(draw, b_values, k, n);
    out_stride = n + draw() % 3;
    out_values = random_values<T>(draw, m * out_stride);
    bias = random_values<T>(draw, n);
    switch (draw() % 4) {
      case 0: options.bias = bias.data(); break;
      case 1: options.store = Store::add; break;
      case 2:
        chunks = {0};
        while (chunks.back() < k) chunks.push_back(std::min(k, chunks.back() + 1 + draw() % 40));
        options.chunks = chunks;
        break;
      default: break;
    }
  }
  static Matrix<const T> view(std::mt19937_64& draw, std::vector<T>& values, std::size_t rows, std::size_t columns) {
    const std::size_t gap = draw() % 3;
    const bool transposed = draw() % 2 == 1;
    const std::size_t stride = (transposed ? rows : columns) + gap;
    values = random_values<T>(draw, (transposed ? columns : rows) * stride);
    return transposed ? Matrix<const T>{values.data(), rows, columns, 1, stride}
                      : Matrix<const T>{values.data(), rows, columns, stride, 1};
  }
  std::vector<T> run(const Executor& executor) const {
    std::vector<T> out = out_values;
    matmul<T>(executor, a, b, {out.data(), m, n, out_stride}, options);
    return out;
  }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

TYPED_TEST(Matmul, FastEqualsPlainToTheBit) {
  std::mt19937_64 draw(1);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const Case<TypeParam> c(draw, 130);
    const auto law = c.run({this->pool, Bodies::reference});
    for (const auto set : testing::instruction_sets()) {
      ASSERT_TRUE(same_bits(c.run({this->pool, Bodies::fast, set}), law)) << c.m << " " << c.k << " " << c.n;
      ASSERT_TRUE(same_bits(c.run({this->pool, Bodies::reference, set}), law)) << c.m << " " << c.k << " " << c.n;
    }
  }
}

// Gradients of weights with a handful of rows: several chunks run side by side, equal ones and others, an empty one
// too.
TYPED_TEST(Matmul, NarrowSumsOverManyChunksKeepTheLaw) {
  std::mt19937_64 draw(12);
  for (std::size_t i = 0, n = testing::random_cases(300); i < n; ++i) {
    Case<TypeParam> c(draw, 1);
    c.m = 1 + draw() % 5;
    c.n = 1 + draw() % 17;
    c.chunks = {0};
    for (std::size_t chunk = 0, count = draw() % 12; chunk < count; ++chunk) {
      c.chunks.push_back(c.chunks.back() + (draw() % 3 == 0 ? draw() % 30 : 20));
    }
    c.k = c.chunks.back();
    c.a_values = random_values<TypeParam>(draw, c.k * c.m);
    c.b_values = random_values<TypeParam>(draw, c.k * c.n);
    c.out_values = random_values<TypeParam>(draw, c.m * c.n);
    c.out_stride = c.n;
    c.a = Matrix<const TypeParam>{c.a_values.data(), c.k, c.m, c.m, 1}.transposed();
    c.b = {c.b_values.data(), c.k, c.n, c.n, 1};
    c.options = {.chunks = c.chunks};
    const auto law = c.run({this->pool, Bodies::reference});
    for (const auto set : testing::instruction_sets()) {
      ASSERT_TRUE(same_bits(c.run({this->pool, Bodies::fast, set}), law)) << c.m << " " << c.k << " " << c.n;
    }
  }
}

// Long enough that b is packed by blocks of k and of columns, and that several threads share the parts.
TYPED_TEST(Matmul, LargeProductsKeepTheLawOnAnyNumberOfThreads) {
  std::mt19937_64 draw(2);
  const std::size_t sizes[][3] = {{70, 1100, 530}, {300, 513, 260}, {1, 900, 700}, {5, 300, 2000}, {130, 700, 65}};
  for (const auto& size : sizes) {
    for (std::size_t variant = 0; variant < 8; ++variant) {
      Case<TypeParam> c(draw, 1);
      c.m = size[0], c.k = size[1], c.n = size[2];
      c.a_values = random_values<TypeParam>(draw, c.m * c.k);
      c.b_values = random_values<TypeParam>(draw, c.k * c.n);
      c.a = variant % 2 == 0 ? row_major(c.a_values, c.m, c.k) : stored_transposed(c.a_values, c.m, c.k);
      c.b = variant / 2 % 2 == 0 ? row_major(c.b_values, c.k, c.n) : stored_transposed(c.b_values, c.k, c.n);
      c.out_values = random_values<TypeParam>(draw, c.m * c.n);
      c.out_stride = c.n;
      c.chunks = {0, 256, std::min<std::size_t>(512, c.k), c.k};
      c.options = {};
      if (variant / 4 == 1) c.options.chunks = c.chunks;
      const auto law = c.run({this->pool, Bodies::reference});
      for (const auto set : testing::instruction_sets()) {
        for (const unsigned threads : {1U, 2U, 3U}) {
          Pool threaded(threads);
          ASSERT_TRUE(same_bits(c.run({threaded, Bodies::fast, set}), law)) << c.m << " " << c.k << " " << c.n;
        }
      }
    }
  }
}

TYPED_TEST(Matmul, RowAloneHasTheBitsItHasInCompany) {
  std::mt19937_64 draw(3);
  const std::size_t m = 61, k = 97, n = 65;
  const auto a = random_values<TypeParam>(draw, m * k);
  const auto b = random_values<TypeParam>(draw, k * n);
  std::vector<TypeParam> all(m * n), alone(n);
  const Executor executor{this->pool};
  matmul<TypeParam>(executor, row_major(a, m, k), row_major(b, k, n), {all.data(), m, n, n});
  for (std::size_t row = 0; row < m; ++row) {
    matmul<TypeParam>(executor, {a.data() + row * k, 1, k, k, 1}, row_major(b, k, n), {alone.data(), 1, n, n});
    EXPECT_EQ(std::memcmp(alone.data(), all.data() + row * n, n * sizeof(TypeParam)), 0) << row;
  }
}

// Lane i of one product over lanes has the bits of model i's own product.
template <class Number, class T>
void expect_lanes_equal_solo(Pool& pool, std::uint64_t seed) {
  constexpr std::size_t kLanes = lanes_of<Number>;
  std::mt19937_64 draw(seed);
  const std::size_t m = 5, k = 33, n = 7;
  std::vector<Number> a(m * k), b(k * n), out(m * n);
  for (auto* values : {&a, &b, &out}) {
    for (auto& number : *values) {
      const auto drawn = random_values<T>(draw, kLanes);
      std::copy(drawn.begin(), drawn.end(), number.lane);
    }
  }
  const auto lane_of = [](const std::vector<Number>& values, std::size_t lane) {
    std::vector<T> solo;
    for (const auto& number : values) solo.push_back(number.lane[lane]);
    return solo;
  };
  const std::vector<std::size_t> chunks = {0, 20, k};
  for (const auto set : testing::instruction_sets()) {
    const Executor executor{pool, Bodies::fast, set};
    auto together = out;
    DIKKAT_BODY(executor, matmul_plain<Number>)
    (row_major(a, m, k), row_major(b, k, n), {together.data(), m, n, n}, {.chunks = chunks});
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto solo_a = lane_of(a, lane);
      const auto solo_b = lane_of(b, lane);
      auto solo = lane_of(out, lane);
      matmul<T>(executor, row_major(solo_a, m, k), row_major(solo_b, k, n), {solo.data(), m, n, n}, {.chunks = chunks});
      EXPECT_TRUE(same_bits(solo, lane_of(together, lane))) << lane;
    }
  }
}

TEST(MatmulLanes, EachLaneEqualsItsSoloRun) {
  Pool pool(1);
  expect_lanes_equal_solo<Lanes<float, 8>, float>(pool, 4);
  expect_lanes_equal_solo<Lanes<float, 16>, float>(pool, 5);
  expect_lanes_equal_solo<Lanes<double, 4>, double>(pool, 6);
}

}  // namespace
}  // namespace dikkat::kernels
