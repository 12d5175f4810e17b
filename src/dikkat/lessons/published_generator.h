// The generator of the document on heads: a 32-bit finaliser over the seed, then a linear congruence.
#pragma once

#include <cstdint>

namespace dikkat::lessons {

class PublishedGenerator {
 public:
  // Of a seed beyond 32 bits the low half counts, after the document's first step.
  explicit PublishedGenerator(std::uint64_t seed) : state_(finalised(seed)) {}

  // Uniform in [0, 1): state / 2^32.
  double next() {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<double>(state_) / 4294967296.0;
  }
  // u + u + u - 1.5: roughly normal with deviation 0.5.
  double bell() {
    double sum = next();
    sum += next();
    sum += next();
    return sum - 1.5;
  }

 private:
  static std::uint32_t finalised(std::uint64_t seed) {
    auto x = static_cast<std::uint32_t>(seed ^ (seed >> 16U)) * 2246822507U;
    x = (x ^ (x >> 13U)) * 3266489909U;
    return x ^ (x >> 16U);
  }

  std::uint32_t state_;
};

}  // namespace dikkat::lessons
