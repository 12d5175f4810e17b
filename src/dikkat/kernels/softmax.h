// Softmax over the last axis.
//   m = max x_c;  e_c = exp(x_c - m);  Z = tree16(e);  y_c = e_c * (1 / Z)
//   dx_c = y_c * (dy_c - tree16(y_c * dy_c))
// tree16: 16 partial sums by index modulo 16, then partial i += partial i+8, i+4, i+2, i+1 (the law for row sums).
#pragma once

#include <cstddef>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// x, y (R,C) contiguous; may be the same memory. C = 0 is nothing.
template <class T>
void softmax_forward(const Executor& executor, const T* x, T* y, std::size_t rows, std::size_t columns);
template <class T>
void softmax_backward(const Executor& executor, const T* y, const T* dy, T* dx, std::size_t rows, std::size_t columns,
                      Store store);

}  // namespace dikkat::kernels
