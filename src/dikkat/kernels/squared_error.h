// The loss of one number against its target: (y - t)^2, whose mean over the samples is the mean squared error.
//   d = y - t;  loss = d * d;  d_y = (d + d) * scale
//
// One number a sample: there is one body, the plain one. Beside a pass over the samples' steps it costs nothing.
#pragma once

#include <cstddef>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// outputs (B); targets (B), each rounded to T; losses (B) assigned.
template <class T>
void squared_error_forward(const Executor& executor, const T* outputs, const double* targets, T* losses,
                           std::size_t samples);
// d_outputs (B) assigned; may be the memory of outputs. scale is rounded to T.
template <class T>
void squared_error_backward(const Executor& executor, const T* outputs, const double* targets, T* d_outputs,
                            std::size_t samples, double scale);

}  // namespace dikkat::kernels
