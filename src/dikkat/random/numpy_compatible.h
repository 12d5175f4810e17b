// NumPy's `default_rng(seed)`, re-created: SeedSequence, PCG64 and its normal draws.
//
// The house's randomness is counter-based (philox.h, streams.h), where a draw is a function of what it is for. This
// file is the named exception: a generator with a state, whose draws hang on those before, and whose normals may reject
// and retry. It is there to reproduce published figures that were made with NumPy, and for nothing else.
//
//   SeedSequence  O'Neill's seed_seq_fe with a pool of four 32-bit words, as in NumPy: entropy words hashed into the
//   pool,
//                 every word mixed into every other, further words mixed in, then hashed out.
//   PCG64         O'Neill 2014, "PCG", the member XSL-RR 128/64: state = state * M + increment modulo 2^128, then the
//                 exclusive or of the state's halves rotated right by its top six bits. Seeded by four 64-bit words of
//                 the sequence: initial state (high, low), stream (high, low).
//   uniform       (word >> 11) / 2^53, in [0, 1)
//   normal        the ziggurat of Marsaglia and Tsang 2000 with 256 layers, 52-bit magnitudes and r
//   = 3.6541528853610088.
//
// Words and uniforms equal NumPy's to the bit. Layers are computed in long double from r and rounded once, while NumPy
// stores tables that carry roundings of their own: a normal takes the same path and lies within 4e-15 of NumPy's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dikkat::random {

// The 32-bit words of a whole number of any size, lowest first, as NumPy cuts a seed; nothing if `decimal` is not
// digits without a leading zero, or more than kMostSeedDigits of them.
inline constexpr std::size_t kMostSeedDigits = 4096;
[[nodiscard]] std::optional<std::vector<std::uint32_t>> entropy_words(std::string_view decimal);
[[nodiscard]] std::vector<std::uint32_t> entropy_words(std::uint64_t seed);

class SeedSequence {
 public:
  explicit SeedSequence(std::span<const std::uint32_t> entropy);

  // NumPy's generate_state(count) of 32-bit words.
  [[nodiscard]] std::vector<std::uint32_t> state(std::size_t count) const;

 private:
  std::array<std::uint32_t, 4> pool_{};
};

struct Word128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Word128&, const Word128&) = default;
};

class Pcg64 {
 public:
  explicit Pcg64(const SeedSequence& seeds);

  [[nodiscard]] std::uint64_t next();
  [[nodiscard]] Word128 state() const { return state_; }
  [[nodiscard]] Word128 increment() const { return increment_; }

 private:
  void step();

  Word128 state_;
  Word128 increment_;
};

// default_rng(seed).
class NumpyGenerator {
 public:
  explicit NumpyGenerator(std::uint64_t seed) : NumpyGenerator(entropy_words(seed)) {}
  explicit NumpyGenerator(std::span<const std::uint32_t> entropy) : bits_(SeedSequence(entropy)) {}

  [[nodiscard]] std::uint64_t raw() { return bits_.next(); }
  [[nodiscard]] double uniform();
  [[nodiscard]] double normal();
  // normal(0, deviation) into every element, in order.
  void fill_normal(double deviation, std::span<double> out);

 private:
  [[nodiscard]] double tail(std::uint64_t magnitude);

  Pcg64 bits_;
};

}  // namespace dikkat::random
