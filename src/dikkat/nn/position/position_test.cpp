#include "dikkat/nn/position/position.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dikkat/base/parallel.h"

namespace dikkat::nn {
namespace {

class PositionTest : public ::testing::Test {
 protected:
  // What the scheme adds to zeros at positions 0..steps-1.
  Tensor added(Position& position, const PositionOptions& shape) {
    position.prepare({pool_}, DType::f64);
    rows_.lay_out(std::vector<std::size_t>{shape.context}, shape.context);
    Context context{.executor = {pool_}, .memory = heap(), .rows = &rows_};
    return position.add_to_embedding(context, {Tensor::zeros({shape.context, shape.width}, DType::f64)}).value;
  }

  Pool pool_{1};
  kernels::Rows rows_;
};

void expect_slopes(std::size_t heads, const std::vector<double>& expected) {
  const auto position = alibi_position({.heads = heads});
  const auto seen = position->slopes();
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t h = 0; h < heads; ++h) EXPECT_NEAR(seen[h], expected[h], 1e-15) << "head " << h;
}

// The paper: 8 heads halve from 1/2 to 1/256; 16 heads go by the square root of that; 6 heads are those of 4, then
// every other one of 8.
TEST_F(PositionTest, AlibiSlopesAreThePapers) {
  expect_slopes(1, {0x1p-8});
  expect_slopes(2, {0x1p-4, 0x1p-8});
  expect_slopes(3, {0x1p-4, 0x1p-8, 0x1p-2});
  expect_slopes(6, {0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3});
  expect_slopes(8, {0x1p-1, 0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8});
  std::vector<double> sixteen;
  for (int h = 1; h <= 16; ++h) sixteen.push_back(std::pow(2.0, -h / 2.0));
  expect_slopes(16, sixteen);
}

TEST_F(PositionTest, SinusoidsOfManyFrequencies) {
  const auto position = sinusoidal_position({7, 5});
  const Tensor table = added(*position, {7, 5});
  for (std::size_t t = 0; t < 7; ++t) {
    for (std::size_t c = 0; c < 5; ++c) {
      const double angle = static_cast<double>(t) / std::pow(10000.0, static_cast<double>(c / 2 * 2) / 5.0);
      EXPECT_NEAR(table.data<double>()[t * 5 + c], c % 2 == 0 ? std::sin(angle) : std::cos(angle), 1e-14);
    }
  }
}

TEST_F(PositionTest, OneSinusoidTurnsHalfWayOverTheContext) {
  const auto position = single_sinusoid_position({12, 4});
  const Tensor table = added(*position, {12, 4});
  for (std::size_t t = 0; t < 12; ++t) {
    const double angle = std::numbers::pi * static_cast<double>(t) / 11;  // the lesson: sin and cos of pi t / 11
    EXPECT_NEAR(table.data<double>()[t * 4], std::sin(angle), 1e-15);
    EXPECT_NEAR(table.data<double>()[t * 4 + 1], std::cos(angle), 1e-15);
    EXPECT_EQ(table.data<double>()[t * 4 + 2], 0.0);
    EXPECT_EQ(table.data<double>()[t * 4 + 3], 0.0);
  }
}

TEST_F(PositionTest, SmallestShapesWork) {
  const auto position = single_sinusoid_position({1, 1});
  EXPECT_EQ(added(*position, {1, 1}).data<double>()[0], 0.0);
  const auto many = sinusoidal_position({1, 1});
  EXPECT_EQ(added(*many, {1, 1}).data<double>()[0], 0.0);
}

TEST_F(PositionTest, LearnedAddsItsRows) {
  ParameterStore store;
  const auto position = learned_position(store, {.context = 3, .width = 2, .learned = normal(1.0)});
  store.allocate(DType::f64, ParameterStore::Gradients::none);
  store.initialise({pool_}, 1);
  const Tensor table = added(*position, {3, 2});
  const Tensor& values = store.find("position_embedding.weight")->value();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(table.data<double>()[i], values.data<double>()[i]);
}

TEST_F(PositionTest, OnlyItsOwnSeamIsUsed) {
  ParameterStore store;
  const auto none = make_position(PositionKind::none, store, {});
  EXPECT_TRUE(none->slopes().empty());
  EXPECT_TRUE(sinusoidal_position({4, 4})->slopes().empty());
  EXPECT_TRUE(rotary_position({.context = 4, .head_width = 4})->slopes().empty());
  const auto alibi = alibi_position({.heads = 4});
  const Tensor zeros = added(*alibi, {4, 4});
  for (const double value : zeros.span<double>()) EXPECT_EQ(value, 0.0);
}

// Two heads of two columns at position 2 with base 10000: both pairs turn by 2 radians, the value columns stay.
TEST_F(PositionTest, RotaryTurnsQueriesAndKeys) {
  const auto position = rotary_position({.context = 3, .head_width = 2});
  position->prepare({pool_}, DType::f64);
  rows_.lay_out(std::vector<std::size_t>{3}, 3);
  Context context{.executor = {pool_}, .memory = heap(), .rows = &rows_};
  const Tensor qkv = Tensor::zeros({3, 6}, DType::f64);
  for (std::size_t r = 0; r < 3; ++r) {
    for (const std::size_t c : {0U, 2U, 4U}) qkv.data<double>()[r * 6 + c] = 1.0;
  }
  const Tensor turned = position->rotate(context, {qkv}, {.heads = 2, .width = 2}).value;
  const std::vector<double> last = {std::cos(2.0), std::sin(2.0), std::cos(2.0), std::sin(2.0), 1.0, 0.0};
  for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(turned.data<double>()[12 + c], last[c], 1e-15);
}

}  // namespace
}  // namespace dikkat::nn
