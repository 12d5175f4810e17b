#include "dikkat/kernels/rows.h"

#include <gtest/gtest.h>

namespace dikkat::kernels {
namespace {

using Sizes = std::vector<std::size_t>;

TEST(Rows, SamplesFollowOneAnotherWithoutPadding) {
  Rows rows;
  rows.lay_out(Sizes{2, 0, 3}, 4, 10);
  EXPECT_EQ(rows.count(), 5U);
  EXPECT_EQ(rows.samples(), 3U);
  EXPECT_EQ(rows.first_row, (Sizes{0, 2, 2, 5}));
  EXPECT_EQ(rows.sample, (std::vector<std::uint32_t>{10, 10, 12, 12, 12}));
  EXPECT_EQ(rows.position, (std::vector<std::uint32_t>{0, 1, 0, 1, 2}));
}

// 256 / 64 = 4 samples a chunk: rows 64 + 64 + 64 + 10 = 202, then the fifth alone.
TEST(Rows, ChunkHoldsAsManySamplesAsFit256TokensOfContext) {
  Rows rows;
  rows.lay_out(Sizes{64, 64, 64, 10, 64}, 64);
  EXPECT_EQ(rows.chunks, (Sizes{0, 202, 266}));
  EXPECT_EQ(samples_per_chunk(64), 4U);
  EXPECT_EQ(samples_per_chunk(100), 2U);
  EXPECT_EQ(samples_per_chunk(257), 1U);
}

TEST(Rows, LongSampleIsCutEvery256Positions) {
  Rows rows;
  rows.lay_out(Sizes{600, 256, 257}, 1024);
  EXPECT_EQ(rows.chunks, (Sizes{0, 256, 512, 600, 856, 1112, 1113}));
}

// The micro-batch of samples 4 to 7 has the chunk boundaries the whole batch has there.
TEST(Rows, MicroBatchOfWholeChunksHasTheBigBatchsChunks) {
  Rows whole, half;
  whole.lay_out(Sizes{64, 64, 64, 64, 60, 64, 64, 64}, 64);
  half.lay_out(Sizes{60, 64, 64, 64}, 64, 4);
  EXPECT_EQ(whole.chunks, (Sizes{0, 256, 508}));
  EXPECT_EQ(half.chunks, (Sizes{0, 252}));
  EXPECT_EQ(half.sample.front(), whole.sample[256]);
}

// Samples 4 and 5 begin a chunk of four, 6 and 7 end it.
TEST(Rows, PieceKnowsWhetherItsFirstChunkBeganBefore) {
  Rows begins, ends;
  begins.lay_out(Sizes{64, 64}, 64, 4);
  ends.lay_out(Sizes{64, 64}, 64, 6);
  EXPECT_FALSE(begins.continues);
  EXPECT_TRUE(ends.continues);
  EXPECT_EQ(ends.chunks, (Sizes{0, 128}));
  ends.lay_out(Sizes{64}, 64, 8);
  EXPECT_FALSE(ends.continues);
}

// Two samples a chunk of 100 steps; a sample of 300 steps is a chunk by itself, however it is cut.
TEST(Rows, PooledRowsAreOneASample) {
  Rows steps, pooled;
  steps.lay_out(Sizes{90, 100, 3}, 100, 1);
  pooled.lay_out_pooled(steps);
  EXPECT_EQ(pooled.first_row, (Sizes{0, 1, 2, 3}));
  EXPECT_EQ(pooled.chunks, (Sizes{0, 1, 3}));
  EXPECT_EQ(pooled.sample, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_TRUE(pooled.continues);
  steps.lay_out(Sizes{300, 2}, 300);
  pooled.lay_out_pooled(steps);
  EXPECT_EQ(pooled.chunks, (Sizes{0, 1, 2}));
  EXPECT_FALSE(pooled.continues);
}

TEST(Rows, NothingHasNoChunk) {
  Rows rows;
  rows.lay_out(Sizes{}, 64);
  EXPECT_EQ(rows.count(), 0U);
  rows.lay_out(Sizes{0, 0}, 64);
  EXPECT_EQ(rows.count(), 0U);
  EXPECT_EQ(rows.chunks, (Sizes{0}));
  EXPECT_EQ(rows.samples(), 2U);
}

TEST(Rows, ContinuationCountsTheCachedPositions) {
  Rows rows;
  rows.lay_out(Sizes{5, 5}, 8);
  rows.lay_out_continuation(3, 7);
  EXPECT_EQ(rows.first_row, (Sizes{0, 3}));
  EXPECT_EQ(rows.chunks, (Sizes{0, 3}));
  EXPECT_EQ(rows.position, (std::vector<std::uint32_t>{7, 8, 9}));
  EXPECT_EQ(rows.sample, (std::vector<std::uint32_t>{0, 0, 0}));
}

}  // namespace
}  // namespace dikkat::kernels
