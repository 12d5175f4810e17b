// Orders at random: Fisher and Yates' swaps, each by a draw of its own number, so that every order is equally likely
// and none hangs on what was drawn before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "dikkat/random/streams.h"

namespace dikkat::random {

// The first `count` of `items` become a random choice of them in a random order; with all of them it is a random order.
// Swap i (from the front, i < count) is by counter {i low, i high, 0, 0} of the stream.
template <class T>
void shuffle_first(std::span<T> items, std::size_t count, Stream stream) {
  for (std::size_t i = 0; i < count && i + 1 < items.size(); ++i) {
    const Counter counter{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U), 0, 0};
    std::swap(items[i], items[i + static_cast<std::size_t>(below(stream, counter, items.size() - i))]);
  }
}

// All of `items`, from the end: swap i (0 < i < size) is by counter_of(i). For orders that are numbered themselves.
template <class T, class CounterOf>
void shuffle(std::span<T> items, Stream stream, CounterOf&& counter_of) {
  for (std::size_t i = items.size(); i-- > 1;) {
    std::swap(items[i], items[static_cast<std::size_t>(below(stream, counter_of(i), i + 1))]);
  }
}

}  // namespace dikkat::random
