#include "dikkat/random/philox.h"

#include <gtest/gtest.h>

#include <bit>

namespace dikkat::random {
namespace {

// The authors' known answers for philox4x32 with 10 rounds.
TEST(Philox, ZeroCounterAndKeyGiveTheKnownAnswer) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (Counter{0x6627E8D5U, 0xE169C58DU, 0xBC57AC4CU, 0x9B00DBD8U}));
}

TEST(Philox, AllOnesGiveTheKnownAnswer) {
  const std::uint32_t ones = ~0U;
  EXPECT_EQ(philox(~std::uint64_t{0}, {ones, ones, ones, ones}),
            (Counter{0x408F276DU, 0x41C83B0EU, 0xA20BC7C6U, 0x6D5451FDU}));
}

// Digits of pi as counter and key: here every word and both halves of the key differ.
TEST(Philox, DigitsOfPiGiveTheKnownAnswer) {
  EXPECT_EQ(philox(0x299F31D0A4093822U, {0x243F6A88U, 0x85A308D3U, 0x13198A2EU, 0x03707344U}),
            (Counter{0xD16CFE09U, 0x94FDCCEBU, 0x5001E420U, 0x24126EA1U}));
}

// Flipping one bit of counter or key flips half of the 128 output bits on average: 64 +- 5.66, so the mean of 192
// such flips lies within 64 +- 4 * 5.66 / sqrt(192).
TEST(Philox, OneFlippedBitFlipsHalfOfTheOutput) {
  const Counter base = {1, 2, 3, 4};
  const std::uint64_t key = 5;
  const Counter plain = philox(key, base);
  int flipped = 0;
  for (unsigned bit = 0; bit < 192; ++bit) {
    Counter counter = base;
    if (bit < 128) counter[bit / 32] ^= 1U << (bit % 32);
    const Counter other = philox(bit < 128 ? key : key ^ (std::uint64_t{1} << (bit - 128)), counter);
    for (std::size_t word = 0; word < 4; ++word) flipped += std::popcount(plain[word] ^ other[word]);
  }
  EXPECT_NEAR(flipped / 192.0, 64.0, 4 * 5.657 / 13.856);
}

}  // namespace
}  // namespace dikkat::random
