// Cutting the rows of a job into parts for the pool, from sizes alone.
#pragma once

#include <algorithm>
#include <cstddef>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// body(first_row, rows) for consecutive ranges of rows, each of at least `elements` elements (but the last): a job
// smaller than two of them stays on the caller's thread.
template <class Body>
void each_row_part(Pool& pool, std::size_t rows, std::size_t columns, std::size_t elements, Body&& body) {
  if (rows == 0) return;
  const std::size_t per_part = std::max<std::size_t>(1, elements / std::max<std::size_t>(1, columns));
  const std::size_t parts = std::max<std::size_t>(1, rows / per_part);
  if (parts == 1) return body(std::size_t{0}, rows);
  pool.run(parts, [&](std::size_t part, unsigned) {
    const std::size_t first = part * per_part;
    body(first, part + 1 == parts ? rows - first : per_part);
  });
}

}  // namespace dikkat::kernels
