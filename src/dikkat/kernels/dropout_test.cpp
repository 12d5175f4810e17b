#include "dikkat/kernels/dropout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dikkat/base/error.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

using testing::random_values;

// Samples of `length` rows each.
struct Places {
  std::vector<std::uint32_t> sample;
  std::vector<std::uint32_t> position;

  Places(std::size_t rows, std::size_t length) : sample(rows), position(rows) {
    for (std::size_t r = 0; r < rows; ++r) {
      sample[r] = static_cast<std::uint32_t>(r / length);
      position[r] = static_cast<std::uint32_t>(r % length);
    }
  }
  [[nodiscard]] DropoutDraw draw(double rate, std::uint32_t step = 0) const {
    return {.rate = rate, .stream = random::stream(1, "dropout"), .step = step, .sample = sample, .position = position};
  }
};

template <class T>
std::vector<T> dropped(const DropoutDraw& draw, const std::vector<T>& x, unsigned threads = 1) {
  Pool pool(threads);
  std::vector<T> y(x.size());
  dropout(Executor{pool, Bodies::check}, draw, x.data(), y.data(), x.size() / draw.sample.size(), Store::assign);
  return y;
}

template <class T>
class Dropout : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Dropout, Numbers);

// The contract's counter and word, by the scalar generator: channel 70 of a row is word 0 of counter 16 + 6.
TYPED_TEST(Dropout, EveryDrawIsTheContractsWord) {
  Places places(6, 3);
  const DropoutDraw draw = places.draw(0.3, 11);
  const auto y = dropped(draw, std::vector<TypeParam>(6 * 130, 1));
  const auto threshold = static_cast<std::uint32_t>(0.3 * 4294967296.0);
  const auto factor = static_cast<TypeParam>(1.0 / (1.0 - 0.3));
  for (std::uint32_t r = 0; r < 6; ++r) {
    for (std::uint32_t c = 0; c < 130; ++c) {
      const auto words = random::philox(draw.stream.key, {(c / 64) * 16 + c % 16, r % 3, r / 3, 11});
      EXPECT_EQ(y[r * 130 + c], words[(c % 64) / 16] >= threshold ? factor : TypeParam{0}) << r << ' ' << c;
    }
  }
}

// A word equal to the threshold is kept, one below it is dropped.
TYPED_TEST(Dropout, TheThresholdItselfIsKept) {
  Places places(1, 1);
  const double word = random::philox(places.draw(0).stream.key, {0, 0, 0, 0})[0];
  EXPECT_NE(dropped(places.draw(word * 0x1.0p-32), std::vector<TypeParam>{1})[0], 0);
  EXPECT_EQ(dropped(places.draw((word + 1) * 0x1.0p-32), std::vector<TypeParam>{1})[0], 0);
}

// A million draws: the share kept lies within four standard errors of 1 - p, kept values are x * (1 / (1 - p)).
TYPED_TEST(Dropout, KeptShareAndKeptValuesAreRight) {
  constexpr std::size_t kRows = 1000;
  constexpr std::size_t kWidth = 1000;
  Places places(kRows, 64);
  std::mt19937_64 source(3);
  auto x = random_values<TypeParam>(source, kRows * kWidth);
  for (TypeParam& value : x) value += value < 0 ? TypeParam{-1} : TypeParam{1};  // away from zero
  for (const double rate : {0.1, 0.2, 0.5, 0.9}) {
    const auto y = dropped(places.draw(rate), x);
    const auto factor = static_cast<TypeParam>(1.0 / (1.0 - rate));
    double kept = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (y[i] == 0) continue;
      ASSERT_EQ(y[i], x[i] * factor);
      kept += 1;
    }
    const auto n = static_cast<double>(x.size());
    EXPECT_NEAR(kept / n, 1 - rate, 4 * std::sqrt(rate * (1 - rate) / n)) << rate;
  }
}

TYPED_TEST(Dropout, RateZeroIsTheIdentity) {
  Places places(9, 4);
  std::mt19937_64 source(4);
  const auto x = random_values<TypeParam>(source, 9 * 37);
  EXPECT_EQ(dropped(places.draw(0.0), x), x);
}

TYPED_TEST(Dropout, AddPutsTheKeptValuesOnTop) {
  Pool pool(1);
  Places places(5, 5);
  std::mt19937_64 source(5);
  const auto x = random_values<TypeParam>(source, 5 * 67);
  const auto before = random_values<TypeParam>(source, 5 * 67);
  const auto alone = dropped(places.draw(0.4), x);
  auto y = before;
  dropout(Executor{pool}, places.draw(0.4), x.data(), y.data(), 67, Store::add);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], before[i] + alone[i]);
}

TYPED_TEST(Dropout, InPlaceEqualsOutOfPlace) {
  Pool pool(1);
  Places places(5, 5);
  std::mt19937_64 source(6);
  auto x = random_values<TypeParam>(source, 5 * 67);
  const auto y = dropped(places.draw(0.4), x);
  dropout(Executor{pool}, places.draw(0.4), x.data(), x.data(), 67, Store::assign);
  EXPECT_EQ(x, y);
}

// The draw belongs to (sample, position), wherever the row stands in the batch.
TYPED_TEST(Dropout, DrawsDoNotDependOnTheOrderOfRows) {
  constexpr std::size_t kRows = 23;
  constexpr std::size_t kWidth = 71;
  Places places(kRows, 6);
  std::mt19937_64 source(7);
  const auto x = random_values<TypeParam>(source, kRows * kWidth);
  const auto y = dropped(places.draw(0.5), x);
  std::vector<std::size_t> order(kRows);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), source);
  Places shuffled(kRows, 6);
  std::vector<TypeParam> moved(x.size());
  for (std::size_t r = 0; r < kRows; ++r) {
    shuffled.sample[r] = places.sample[order[r]];
    shuffled.position[r] = places.position[order[r]];
    std::copy_n(&x[order[r] * kWidth], kWidth, &moved[r * kWidth]);
  }
  const auto z = dropped(shuffled.draw(0.5), moved);
  for (std::size_t r = 0; r < kRows; ++r) {
    EXPECT_TRUE(std::equal(&z[r * kWidth], &z[r * kWidth] + kWidth, &y[order[r] * kWidth])) << r;
  }
}

TYPED_TEST(Dropout, StepSampleAndPositionAllChangeTheDraw) {
  Places places(2, 1);
  const std::vector<TypeParam> ones(2 * 256, 1);
  const auto first = dropped(places.draw(0.5, 0), ones);
  EXPECT_NE(first, dropped(places.draw(0.5, 1), ones));
  EXPECT_FALSE(std::equal(first.begin(), first.begin() + 256, first.begin() + 256));
  places.position[0] = 1;
  const auto moved = dropped(places.draw(0.5, 0), ones);
  EXPECT_FALSE(std::equal(first.begin(), first.begin() + 256, moved.begin()));
  EXPECT_TRUE(std::equal(first.begin() + 256, first.end(), moved.begin() + 256));
}

TEST(DropoutNumbers, FloatAndDoubleDropTheSameChannels) {
  Places places(17, 5);
  const auto small = dropped(places.draw(0.3), std::vector<float>(17 * 200, 1.0F));
  const auto large = dropped(places.draw(0.3), std::vector<double>(17 * 200, 1.0));
  for (std::size_t i = 0; i < small.size(); ++i) EXPECT_EQ(small[i] == 0, large[i] == 0) << i;
}

TYPED_TEST(Dropout, ThreadsDoNotChangeABit) {
  Places places(700, 64);
  std::mt19937_64 source(8);
  const auto x = random_values<TypeParam>(source, 700 * 129);
  const auto one = dropped(places.draw(0.2), x, 1);
  EXPECT_EQ(one, dropped(places.draw(0.2), x, 2));
  EXPECT_EQ(one, dropped(places.draw(0.2), x, 3));
}

TYPED_TEST(Dropout, BadRatesAndUnequalRowsAreRefused) {
  Pool pool(1);
  Places places(2, 1);
  TypeParam x[2] = {1, 2};
  for (const double rate : {-0.1, 1.0, std::nan("")}) {
    EXPECT_THROW(dropout(Executor{pool}, places.draw(rate), x, x, 1, Store::assign), Error) << rate;
  }
  places.sample.pop_back();
  EXPECT_THROW(dropout(Executor{pool}, places.draw(0.1), x, x, 1, Store::assign), Error);
}

TYPED_TEST(Dropout, FastEqualsPlainToTheBit) {
  Pool pool(2);
  std::mt19937_64 source(9);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t rows = testing::random_size(source, 9);
    const std::size_t width = testing::random_size(source, 200);
    Places places(rows, 1 + source() % 5);
    for (auto& sample : places.sample) sample += static_cast<std::uint32_t>(source());
    DropoutDraw draw = places.draw(static_cast<double>(source() % 10) / 10, static_cast<std::uint32_t>(source()));
    draw.stream.key = source();
    const auto x = random_values<TypeParam>(source, rows * width);
    auto y = random_values<TypeParam>(source, rows * width);
    for (const auto set : testing::instruction_sets()) {
      const Executor check{pool, Bodies::check, set};
      dropout(check, draw, x.data(), y.data(), width, Store::add);
      dropout(check, draw, x.data(), y.data(), width, Store::assign);
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
