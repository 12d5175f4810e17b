// Which keys a query may look at: one contiguous range of key positions, so that masked keys are skipped, never
// multiplied by zero. Padding needs no mask: rows that are padding do not exist (see rows.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dikkat::kernels {

enum class Direction : std::uint8_t { causal, bidirectional };

struct KeyRange {
  std::size_t begin = 0;
  std::size_t end = 0;  // begin >= end: nothing to look at; the row's output and gradients are zero
};

struct Mask {
  Direction direction = Direction::causal;
  // Sliding window: |query - key| < window; 0 means no window.
  std::size_t window = 0;

  // query: absolute position; keys: how many key positions there are.
  [[nodiscard]] constexpr KeyRange visible(std::size_t query, std::size_t keys) const {
    std::size_t begin = 0;
    std::size_t end = direction == Direction::causal ? std::min(query + 1, keys) : keys;
    if (window != 0) {
      begin = query + 1 > window ? query + 1 - window : 0;
      end = std::min(end, query + window);
    }
    return {std::min(begin, end), end};
  }
};

}  // namespace dikkat::kernels
