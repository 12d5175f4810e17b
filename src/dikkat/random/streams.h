// Named randomness: a stream is the key of one purpose under one seed, a draw is (stream, counter).
//
//   const random::Stream sampler = random::stream(seed, "sampler");
//   std::uint64_t window = random::below(sampler, {step, sample, 0, 0}, windows);
//
// Streams of different purposes are independent; the order in which anyone draws cannot matter. No draw rejects and
// retries.
#pragma once

#include <cstdint>
#include <string_view>

#include "dikkat/random/philox.h"

namespace dikkat::random {

struct Stream {
  std::uint64_t key = 0;
};

// The stream of a purpose ("init", "dropout", "sampler", ...) and, where there are several, of one place in it (a
// parameter path, a head). FNV-1a over the text, finished by SplitMix64: stable for ever, a test pins its values.
[[nodiscard]] Stream stream(std::uint64_t seed, std::string_view purpose, std::string_view place = {});
// A numbered stream below another.
[[nodiscard]] Stream substream(Stream parent, std::uint64_t number);

// Uniform in [0, 1): 53 bits of words 0 and 1.
[[nodiscard]] double uniform(Stream stream, Counter counter);
// Uniform integer in [0, bound), bound >= 1: the high half of a 64 x 64-bit product (bias below bound / 2^64, no
// retry).
[[nodiscard]] std::uint64_t below(Stream stream, Counter counter, std::uint64_t bound);
// (Normal draws are a kernel: kernels/normal_fill.)

}  // namespace dikkat::random
