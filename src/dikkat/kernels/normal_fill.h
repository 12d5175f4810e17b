// Standard normals by Box and Muller (1958), from counters: element i of the stream takes counter {i / 2 low, i / 2
// high, 0, 0}, u1 = (words 0,1 as 53 bits + 1) / 2^53 in (0, 1], u2 = words 2,3 as 53 bits / 2^53 in [0, 1):
//   even i: sqrt(-2 log u1) * cos(2 pi u2);  odd i: ... * sin(2 pi u2)
// computed in double with the house's own functions, times `deviation`, rounded to T once.
#pragma once

#include <cstddef>

#include "dikkat/kernels/executor.h"
#include "dikkat/random/streams.h"

namespace dikkat::kernels {

template <class T>
void normal_fill(const Executor& executor, random::Stream stream, double deviation, T* out, std::size_t n);

}  // namespace dikkat::kernels
