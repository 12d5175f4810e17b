// What kernel tests share: executors over every body and instruction set, random shapes and values from a seed.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <random>
#include <vector>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels::testing {

// How many random cases a test draws: DIKKAT_RANDOM_CASES where set (the sanitizer runs use a tenth), else `full`.
inline std::size_t random_cases(std::size_t full) {
  const char* text = std::getenv("DIKKAT_RANDOM_CASES");
  return text == nullptr ? full : std::min<std::size_t>(full, std::strtoull(text, nullptr, 10));
}

inline std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::avx2, InstructionSet::avx512}) {
    if (supports(set)) sets.push_back(set);
  }
  return sets;
}

// 0, 1, small, odd, prime and a few long sizes, the short ones most often.
inline std::size_t random_size(std::mt19937_64& draw, std::size_t largest) {
  static constexpr std::size_t kSizes[] = {0,  1,  2,  3,  5,  7,  8,  9,  13, 15, 16,  17, 23,
                                           31, 32, 33, 47, 48, 49, 61, 64, 65, 97, 127, 129};
  const std::size_t size = kSizes[draw() % std::size(kSizes)];
  return size <= largest ? size : draw() % (largest + 1);
}

template <class T>
std::vector<T> random_values(std::mt19937_64& draw, std::size_t n, double spread = 1.0) {
  std::vector<T> values(n);
  for (T& value : values) {
    value = static_cast<T>(spread * (static_cast<double>(draw() >> 11U) * 0x1.0p-52 - 1.0));
  }
  return values;
}

}  // namespace dikkat::kernels::testing
