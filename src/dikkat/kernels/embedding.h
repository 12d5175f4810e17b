// Rows of a table by id, and their gradient.
//   forward:  y[r] = table[id[r]]           (Store::add: y[r] += table[id[r]])
//   backward: d_table[v] += for each chunk of rows, from zero, the chain c + dy[r] over the chunk's rows r with id v
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// table (V,C); ids (R) in [0,V), checked (Error{internal}); y (R,C).
template <class T>
void embedding_forward(const Executor& executor, const T* table, std::size_t vocabulary,
                       std::span<const std::uint32_t> ids, T* y, std::size_t width, Store store);
// d_table (V,C) is added to. chunks: boundaries of rows, first 0, last R.
template <class T>
void embedding_backward(const Executor& executor, const T* dy, std::span<const std::uint32_t> ids,
                        std::span<const std::size_t> chunks, T* d_table, std::size_t vocabulary, std::size_t width);

}  // namespace dikkat::kernels
