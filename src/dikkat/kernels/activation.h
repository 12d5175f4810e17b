// Element-wise non-linearities.
//   relu       y = x < 0 ? 0 : x, so that NaN stays NaN               dy/dx at 0 is 0
//   gelu       y = 0.5 x (1 + erf(x / sqrt 2))                      (Hendrycks, Gimpel 2016)
//   gelu_tanh  y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//   silu       y = x / (1 + exp(-x))
//   swiglu     y = silu(gate) * up                                  (Shazeer 2020), gate and up side by side in one row
// The exact order of operations is the plain body's (reference/activation-inl.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

enum class Activation : std::uint8_t { relu, gelu, gelu_tanh, silu };

// x, y (n). x and y may be the same memory.
template <class T>
void activation_forward(const Executor& executor, Activation activation, const T* x, T* y, std::size_t n);
// dx by `store`; dx may be the memory of dy (with assign).
template <class T>
void activation_backward(const Executor& executor, Activation activation, const T* x, const T* dy, T* dx,
                         std::size_t n, Store store);

// x (R, 2F): gate in columns [0, F), up in [F, 2F); y (R, F).
template <class T>
void swiglu_forward(const Executor& executor, const T* x, T* y, std::size_t rows, std::size_t width);
template <class T>
void swiglu_backward(const Executor& executor, const T* x, const T* dy, T* dx, std::size_t rows, std::size_t width,
                     Store store);

}  // namespace dikkat::kernels
