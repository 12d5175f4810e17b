#include "dikkat/kernels/mask.h"

#include <gtest/gtest.h>

namespace dikkat::kernels {
namespace {

void expect_range(KeyRange range, std::size_t begin, std::size_t end) {
  EXPECT_EQ(range.begin, begin);
  EXPECT_EQ(range.end, end);
}

TEST(Mask, CausalSeesItselfAndThePast) {
  const Mask mask;
  expect_range(mask.visible(0, 5), 0, 1);
  expect_range(mask.visible(4, 5), 0, 5);
  expect_range(mask.visible(9, 5), 0, 5);
}

TEST(Mask, BidirectionalSeesEveryKey) {
  const Mask mask{.direction = Direction::bidirectional};
  expect_range(mask.visible(0, 5), 0, 5);
  expect_range(mask.visible(3, 0), 0, 0);
}

TEST(Mask, WindowOfThreeSeesTwoNeighbours) {
  const Mask past{.window = 3};
  expect_range(past.visible(1, 10), 0, 2);
  expect_range(past.visible(6, 10), 4, 7);
  const Mask both{.direction = Direction::bidirectional, .window = 3};
  expect_range(both.visible(6, 10), 4, 9);
  expect_range(both.visible(9, 10), 7, 10);
}

TEST(Mask, WindowBeyondTheKeysSeesNothing) {
  const Mask mask{.direction = Direction::bidirectional, .window = 2};
  const KeyRange range = mask.visible(5, 3);
  EXPECT_EQ(range.begin, range.end);
}

TEST(Mask, WidestWindowHidesNothing) {
  const Mask mask{.direction = Direction::bidirectional, .window = 1000};
  expect_range(mask.visible(2, 7), 0, 7);
}

// Attention's fast body relies on it: neither end ever goes back as the query moves on.
TEST(Mask, BothEndsRiseWithTheQuery) {
  for (const Direction direction : {Direction::causal, Direction::bidirectional}) {
    for (std::size_t window = 0; window < 6; ++window) {
      const Mask mask{.direction = direction, .window = window};
      for (std::size_t query = 1; query < 20; ++query) {
        EXPECT_LE(mask.visible(query - 1, 8).begin, mask.visible(query, 8).begin);
        EXPECT_LE(mask.visible(query - 1, 8).end, mask.visible(query, 8).end);
      }
    }
  }
}

}  // namespace
}  // namespace dikkat::kernels
