// Dropout (Srivastava et al. 2014), inverted: y = x * keep, keep = 0 with probability `rate`, else 1 / (1 - rate).
// The draw of channel c of a row is a function of (stream, step, sample, position, c):
//   counter {(c / 64) * 16 + c % 16, position, sample, step}, word (c % 64) / 16, kept iff word >= floor(rate * 2^32).
// Sixteen neighbouring channels are one word of sixteen neighbouring counters, on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dikkat/kernels/executor.h"
#include "dikkat/random/streams.h"

namespace dikkat::kernels {

struct DropoutDraw {
  double rate = 0.0;  // in [0, 1)
  random::Stream stream = {};
  std::uint32_t step = 0;
  std::span<const std::uint32_t> sample;    // (R) number of the row's sample within the step
  std::span<const std::uint32_t> position;  // (R)
};

// x (R,C) -> y (R,C), may be the same memory; `store` adds to y. The gradient is the same call on dy.
template <class T>
void dropout(const Executor& executor, const DropoutDraw& draw, const T* x, T* y, std::size_t width, Store store);

}  // namespace dikkat::kernels
