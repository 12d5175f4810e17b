// Chunks of samples, for gradients of parameters that act once on a sample and not on each of its rows: a chunk of
// samples is those that begin in one chunk of rows (kernels/rows.h), so a sample that is cut is a chunk by itself.
#pragma once

#include <cstddef>

#include "dikkat/kernels/rows.h"

namespace dikkat::ops {

// use(first, end) for the samples of each chunk, in order.
template <class Use>
void each_chunk_of_samples(const kernels::Rows& rows, Use&& use) {
  std::size_t first = 0;
  for (std::size_t chunk = 0; chunk + 1 < rows.chunks.size(); ++chunk) {
    std::size_t end = first;
    while (end < rows.samples() && rows.first_row[end] < rows.chunks[chunk + 1]) ++end;
    if (end > first) use(first, end);
    first = end;
  }
}

}  // namespace dikkat::ops
