#include "dikkat/random/streams.h"

namespace dikkat::random {
namespace {

constexpr std::uint64_t kFnvOffset = 0xCBF29CE484222325U;
constexpr std::uint64_t kFnvPrime = 0x100000001B3U;

// Fowler, Noll and Vo, variant 1a, 64 bits.
constexpr std::uint64_t hash(std::uint64_t state, std::string_view text) {
  for (const char byte : text) state = (state ^ static_cast<unsigned char>(byte)) * kFnvPrime;
  return state;
}

// One step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection, so that seeds and numbers never collide.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

// Word 0 is the high half.
constexpr std::uint64_t first_64_bits(Stream stream, const Counter& counter) {
  const Counter words = philox(stream.key, counter);
  return std::uint64_t{words[0]} << 32U | words[1];
}

}  // namespace

Stream stream(std::uint64_t seed, std::string_view purpose, std::string_view place) {
  // The zero byte keeps ("ab", "c") apart from ("a", "bc").
  const std::uint64_t name = hash(hash(kFnvOffset, purpose) * kFnvPrime, place);
  return {mix(mix(seed) ^ name)};
}

Stream substream(Stream parent, std::uint64_t number) { return {mix(parent.key ^ mix(number))}; }

double uniform(Stream stream, Counter counter) {
  return static_cast<double>(first_64_bits(stream, counter) >> 11U) * 0x1.0p-53;
}

std::uint64_t below(Stream stream, Counter counter, std::uint64_t bound) {
  // Schoolbook 64 x 64 by halves: the high word of the product.
  const std::uint64_t x = first_64_bits(stream, counter);
  const std::uint64_t x_low = x & 0xFFFFFFFFU;
  const std::uint64_t x_high = x >> 32U;
  const std::uint64_t b_low = bound & 0xFFFFFFFFU;
  const std::uint64_t b_high = bound >> 32U;
  const std::uint64_t middle = x_high * b_low + (x_low * b_low >> 32U);
  const std::uint64_t carry = (middle & 0xFFFFFFFFU) + x_low * b_high;
  return x_high * b_high + (middle >> 32U) + (carry >> 32U);
}

}  // namespace dikkat::random
