#include "dikkat/kernels/rotary.h"

#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;
using Positions = std::vector<std::uint32_t>;

constexpr double kBase = 10000.0;

template <class T>
struct Table {
  std::size_t positions;
  std::vector<T> cosines;
  std::vector<T> sines;

  Table(const Executor& executor, std::size_t count, std::size_t width)
      : positions(count), cosines(count * (width / 2)), sines(cosines.size()) {
    rotary_table<T>(executor, kBase, count, width, cosines, sines);
  }
  [[nodiscard]] RotaryTable<T> view() const { return {cosines.data(), sines.data(), positions}; }
};

template <class T>
class Rotary : public ::testing::Test {
 protected:
  // A rotation rounds each element twice; table entries are off by half an ulp each. Values below 2.
  static constexpr double kTolerance = 8 * std::numeric_limits<T>::epsilon();
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Rotary, Numbers);

template <class T>
double dot(const std::vector<T>& a, const std::vector<T>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Each entry against the standard library in double. The frequency carries the errors of log and exp (a few ulp of its
// exponent, at most 9.2), which the position multiplies.
TYPED_TEST(Rotary, TableHoldsCosinesAndSinesOfTheAngles) {
  Pool pool(1);
  constexpr std::size_t kPositions = 500;
  for (const auto set : testing::instruction_sets()) {
    const Table<TypeParam> table(Executor{pool, Bodies::fast, set}, kPositions, 10);
    for (std::size_t p = 0; p < kPositions; ++p) {
      for (std::size_t i = 0; i < 5; ++i) {
        const double angle = static_cast<double>(p) * std::pow(kBase, -2.0 * static_cast<double>(i) / 10.0);
        const double tolerance = std::numeric_limits<TypeParam>::epsilon() + 30 * 0x1p-53 * angle;
        EXPECT_NEAR(table.cosines[p * 5 + i], std::cos(angle), tolerance) << p << ' ' << i;
        EXPECT_NEAR(table.sines[p * 5 + i], std::sin(angle), tolerance) << p << ' ' << i;
      }
    }
  }
}

TYPED_TEST(Rotary, TableIsTheSameOnEveryInstructionSet) {
  Pool pool(1);
  const Table<TypeParam> first(Executor{pool, Bodies::fast, testing::instruction_sets().front()}, 300, 64);
  const Table<TypeParam> last(Executor{pool, Bodies::fast, testing::instruction_sets().back()}, 300, 64);
  EXPECT_EQ(first.cosines, last.cosines);
  EXPECT_EQ(first.sines, last.sines);
}

// A quarter turn by a table of our own: (a, b) becomes (-b, a), back again by the inverse. Pairs are (0, 2), (1, 3).
TYPED_TEST(Rotary, QuarterTurnSwapsThePair) {
  Pool pool(1);
  const std::vector<TypeParam> cosines = {0, 1};
  const std::vector<TypeParam> sines = {1, 0};
  const RotaryTable<TypeParam> table{cosines.data(), sines.data(), 1};
  std::vector<TypeParam> x = {3, 5, 7, 11};
  const Executor check{pool, Bodies::check};
  rotary<TypeParam>(check, table, Positions{0}, Rotation::forward, x.data(), 4, 1, 4);
  EXPECT_EQ(x, (std::vector<TypeParam>{-7, 5, 3, 11}));
  rotary<TypeParam>(check, table, Positions{0}, Rotation::inverse, x.data(), 4, 1, 4);
  EXPECT_EQ(x, (std::vector<TypeParam>{3, 5, 7, 11}));
}

TYPED_TEST(Rotary, PositionZeroIsTheIdentity) {
  Pool pool(1);
  const Executor executor{pool};
  const Table<TypeParam> table(executor, 1, 12);
  std::mt19937_64 source(1);
  const auto before = random_values<TypeParam>(source, 2 * 12);
  auto x = before;
  rotary<TypeParam>(executor, table.view(), Positions{0}, Rotation::forward, x.data(), 24, 2, 12);
  EXPECT_EQ(x, before);
}

TYPED_TEST(Rotary, InverseUndoesForward) {
  Pool pool(1);
  const Executor executor{pool};
  const Table<TypeParam> table(executor, 200, 32);
  std::mt19937_64 source(2);
  Positions positions(50);
  for (auto& position : positions) position = static_cast<std::uint32_t>(source() % 200);
  const auto before = random_values<TypeParam>(source, 50 * 3 * 32);
  auto x = before;
  rotary<TypeParam>(executor, table.view(), positions, Rotation::forward, x.data(), 96, 3, 32);
  EXPECT_NE(x, before);
  rotary<TypeParam>(executor, table.view(), positions, Rotation::inverse, x.data(), 96, 3, 32);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], before[i], this->kTolerance);
}

// The law the scheme exists for: q at i times k at j depends on i - j alone. 64 products of numbers below 2 after two
// rotations each; an angle of at most 150 radians is itself off by 150 * 30 * 2^-53.
TYPED_TEST(Rotary, ScoresDependOnTheDistanceOnly) {
  Pool pool(1);
  const Executor executor{pool};
  constexpr std::size_t kWidth = 64;
  const Table<TypeParam> table(executor, 150, kWidth);
  std::mt19937_64 source(3);
  const auto q = random_values<TypeParam>(source, kWidth);
  const auto k = random_values<TypeParam>(source, kWidth);
  const auto score = [&](std::uint32_t i, std::uint32_t j) {
    auto turned_q = q;
    auto turned_k = k;
    rotary<TypeParam>(executor, table.view(), Positions{i}, Rotation::forward, turned_q.data(), kWidth, 1, kWidth);
    rotary<TypeParam>(executor, table.view(), Positions{j}, Rotation::forward, turned_k.data(), kWidth, 1, kWidth);
    return dot(turned_q, turned_k);
  };
  const double tolerance = kWidth * (2 * this->kTolerance + 150 * 30 * 0x1p-53);
  for (const std::uint32_t distance : {0U, 1U, 7U, 49U}) {
    const double expected = score(distance, 0);
    for (const std::uint32_t j : {1U, 13U, 100U}) EXPECT_NEAR(score(distance + j, j), expected, tolerance);
  }
  EXPECT_GT(std::abs(score(7, 0) - score(0, 0)), 1000 * tolerance);
}

// loss = sum over y * weight; d loss / d x = inverse rotation of weight. The loss is linear, so the central difference
// has rounding error alone: 24 terms below 2, an ulp each, over a step of 2^-10.
TEST(RotaryGradient, InverseOfTheGradientEqualsFiniteDifferences) {
  Pool pool(1);
  const Executor executor{pool};
  constexpr std::size_t kWidth = 6;
  constexpr std::size_t kRow = 2 * kWidth;
  const Table<double> table(executor, 40, kWidth);
  const Positions positions = {3, 39};
  std::mt19937_64 source(4);
  auto x = random_values<double>(source, 2 * kRow);
  const auto weight = random_values<double>(source, 2 * kRow);
  const auto loss = [&] {
    auto y = x;
    rotary<double>(executor, table.view(), positions, Rotation::forward, y.data(), kRow, 2, kWidth);
    return dot(y, weight);
  };
  auto gradient = weight;
  rotary<double>(executor, table.view(), positions, Rotation::inverse, gradient.data(), kRow, 2, kWidth);
  constexpr double kStep = 0x1p-10;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double here = x[i];
    x[i] = here + kStep;
    const double above = loss();
    x[i] = here - kStep;
    const double below = loss();
    x[i] = here;
    EXPECT_NEAR((above - below) / (2 * kStep), gradient[i], 48 * 0x1p-52 / kStep) << i;
  }
}

TYPED_TEST(Rotary, OnlyTheHeadsOfARowAreTouched) {
  Pool pool(1);
  const Table<TypeParam> table(Executor{pool}, 5, 6);
  for (const auto set : testing::instruction_sets()) {
    std::vector<TypeParam> x(3 * 20, 1);
    rotary<TypeParam>(Executor{pool, Bodies::check, set}, table.view(), Positions{4, 4, 4}, Rotation::forward, x.data(),
                      20, 2, 6);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i] != 1, i % 20 < 12) << i;
  }
}

TYPED_TEST(Rotary, BadWidthsPositionsTablesAndStridesAreRefused) {
  Pool pool(1);
  const Executor executor{pool};
  const Table<TypeParam> table(executor, 5, 4);
  std::vector<TypeParam> x(8);
  const auto turn = [&](const Positions& positions, std::size_t stride, std::size_t width) {
    rotary<TypeParam>(executor, table.view(), positions, Rotation::forward, x.data(), stride, 1, width);
  };
  EXPECT_THROW(turn({0}, 3, 3), Error);
  EXPECT_THROW(turn({5}, 4, 4), Error);
  EXPECT_THROW(turn({0, 1}, 3, 4), Error);
  EXPECT_NO_THROW(turn({4, 0}, 4, 4));
  std::vector<TypeParam> small(3);
  EXPECT_THROW(rotary_table<TypeParam>(executor, kBase, 2, 4, small, small), Error);
  EXPECT_THROW(rotary_table<TypeParam>(executor, kBase, 2, 3, small, small), Error);
}

TYPED_TEST(Rotary, ThreadsDoNotChangeABit) {
  std::mt19937_64 source(5);
  constexpr std::size_t kRows = 900;
  const auto start = random_values<TypeParam>(source, kRows * 130);
  Positions positions(kRows);
  for (auto& position : positions) position = static_cast<std::uint32_t>(source() % 64);
  const auto run = [&](unsigned threads) {
    Pool pool(threads);
    const Executor executor{pool};
    const Table<TypeParam> table(executor, 64, 32);
    auto x = start;
    rotary<TypeParam>(executor, table.view(), positions, Rotation::forward, x.data(), 130, 4, 32);
    return x;
  };
  const auto one = run(1);
  EXPECT_NE(one, start);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(3));
}

TYPED_TEST(Rotary, FastEqualsPlainToTheBit) {
  Pool pool(2);
  const Executor executor{pool};
  std::mt19937_64 source(6);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t rows = testing::random_size(source, 12);
    const std::size_t heads = testing::random_size(source, 5);
    const std::size_t width = 2 * testing::random_size(source, 70);
    const std::size_t stride = heads * width + source() % 20;
    const Table<TypeParam> table(executor, 9, width);
    Positions positions(rows);
    for (auto& position : positions) position = static_cast<std::uint32_t>(source() % 9);
    auto x = random_values<TypeParam>(source, rows * stride);
    for (const auto set : testing::instruction_sets()) {
      const Executor check{pool, Bodies::check, set};
      rotary<TypeParam>(check, table.view(), positions, Rotation::forward, x.data(), stride, heads, width);
      rotary<TypeParam>(check, table.view(), positions, Rotation::inverse, x.data(), stride, heads, width);
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
