#include "dikkat/tensor/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

// a (100 bytes) dies before c is born; b lives throughout: c can lie where a lay.
void pass(Arena& arena, std::size_t c_bytes) {
  const ArenaPass scope(arena);
  Storage a(arena, 100);
  Storage b(arena, 200);
  std::memset(b.data(), 7, 200);
  a = Storage();
  Storage c(arena, c_bytes);
  std::memset(c.data(), 1, c_bytes);
  for (std::size_t i = 0; i < 200; ++i) ASSERT_EQ(b.data()[i], std::byte{7});
}

TEST(Arena, SecondPassIsReplayedInTheMemoryOfItsPeak) {
  Arena arena;
  pass(arena, 100);
  EXPECT_FALSE(arena.replayed());
  pass(arena, 100);
  EXPECT_TRUE(arena.replayed());
  EXPECT_EQ(arena.planned_bytes(), 256U + 128U);  // b, and a shared with c, each rounded to 64
}

TEST(Arena, AChangedSequenceIsServedAndRecordedAnew) {
  Arena arena;
  pass(arena, 100);
  pass(arena, 5000);
  EXPECT_FALSE(arena.replayed());
  pass(arena, 5000);
  EXPECT_TRUE(arena.replayed());
  pass(arena, 100);
  pass(arena, 100);
  EXPECT_TRUE(arena.replayed());
}

// A block kept longer than planned must not be overwritten by the block that was to take its place.
TEST(Arena, ABlockThatOutlivesItsPlanKeepsItsContent) {
  Arena arena;
  pass(arena, 100);
  {
    const ArenaPass scope(arena);
    Storage a(arena, 100);
    std::memset(a.data(), 3, 100);
    const Storage b(arena, 200);
    const Storage c(arena, 100);
    std::memset(c.data(), 9, 100);
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(a.data()[i], std::byte{3});
  }
  EXPECT_FALSE(arena.replayed());
}

TEST(Arena, APassMayNotBeginWhileBlocksAreHeld) {
  Arena arena;
  arena.begin_pass();
  const Storage a(arena, 8);
  arena.end_pass();
  EXPECT_THROW(arena.begin_pass(), Error);
}

}  // namespace
}  // namespace dikkat
