// Layer norm (Ba, Kiros, Hinton 2016) and RMS norm (Zhang, Sennrich 2019) over the last axis of x (R,C).
//   layer: mean = tree16(x) / C;  xm = x - mean;  rstd = 1 / sqrt(tree16(xm * xm) / C + eps);  xhat = xm * rstd
//   rms:   mean = 0;              rstd = 1 / sqrt(tree16(x * x) / C + eps);                    xhat = x * rstd
//   y = xhat * gain + bias, as fma(xhat, gain, bias) (without bias: one product; without gain: xhat)
// Backward, with h = dy * gain (dy without gain):
//   layer: dx = rstd * ((h - tree16(h) / C) - xhat * (tree16(h * xhat) / C))
//   rms:   dx = rstd * (h - xhat * (tree16(h * xhat) / C))
//   dgain += per chunk of rows, from zero, chain fma(dy, xhat, c);  dbias: kernels/elementwise.h, column_sums of dy
// Divisions by C are true divisions; sqrt and 1/x are correctly rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

enum class Norm : std::uint8_t { layer, rms };

struct NormShape {
  Norm norm = Norm::layer;
  std::size_t rows = 0;     // R
  std::size_t columns = 0;  // C >= 1
  double epsilon = 1e-5;    // rounded to T once
};

// gain, bias (C) may be null. mean, rstd (R); mean may be null for rms.
template <class T>
struct NormForward {
  const T* x;
  const T* gain;
  const T* bias;
  T* y;
  T* mean;
  T* rstd;
};
template <class T>
void norm_forward(const Executor& executor, const NormShape& shape, const NormForward<T>& tensors);

// d_x by `store`.
template <class T>
struct NormBackward {
  const T* x;
  const T* gain;
  const T* mean;
  const T* rstd;
  const T* dy;
  T* dx;
};
template <class T>
void norm_backward(const Executor& executor, const NormShape& shape, const NormBackward<T>& tensors, Store store);

// d_gain (C) is added to, chunk by chunk.
template <class T>
struct NormGain {
  const T* x;
  const T* mean;
  const T* rstd;
  const T* dy;
  T* d_gain;
};
template <class T>
void norm_gain_gradient(const Executor& executor, const NormShape& shape, const NormGain<T>& tensors,
                        std::span<const std::size_t> chunks);

}  // namespace dikkat::kernels
