// Sums and small sweeps that the differentiable operations need.
//   tree16: 16 partial sums by index modulo 16, then partial i += partial i+8, then +4, +2, +1: the law for every row
//   sum.
#pragma once

#include <cstddef>
#include <span>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// out[i] = a[i] + b[i]; any two may be the same memory.
template <class T>
void add(const Executor& executor, const T* a, const T* b, T* out, std::size_t n);
// x[i] *= factor (rounded to T once).
template <class T>
void scale(const Executor& executor, T* x, std::size_t n, double factor);
// d_bias[c] += for each chunk of rows, from zero, the chain s + dy[r][c].
template <class T>
void column_sums(const Executor& executor, const T* dy, std::span<const std::size_t> chunks, T* d_bias,
                 std::size_t columns);
// tree16 of x in double, each element converted first.
template <class T>
[[nodiscard]] double sum(const Executor& executor, const T* x, std::size_t n);
// tree16 in double of x * x (product in double, rounded). On the caller's thread.
template <class T>
[[nodiscard]] double sum_of_squares(const Executor& executor, const T* x, std::size_t n);

}  // namespace dikkat::kernels
