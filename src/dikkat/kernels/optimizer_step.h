// One update of n parameters, in place. g = gradient * gradient_factor (clipping), everything in T; t counts from 1.
//   sgd:   v = fma(momentum, v, g);  w = fma(-rate, v, w);  decay: w = w - rate * decay * w first
//   adam:  m = fma(b1, m, (1 - b1) * g);  v = fma(b2, v, ((1 - b2) * g) * g)
//          w = w - w * (rate * decay)                       (AdamW: Loshchilov, Hutter 2019; decay 0 is Adam)
//          w = w - (m * (rate / (1 - b1^t))) / (sqrt(v) * (1 / sqrt(1 - b2^t)) + eps)
// The bracketed scalars are computed in double by the caller's side of the kernel and rounded to T once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

struct SgdSettings {
  double rate = 0.01;
  double momentum = 0.0;
  double decay = 0.0;
  double gradient_factor = 1.0;
};
template <class T>
void sgd_step(const Executor& executor, const SgdSettings& settings, T* w, const T* gradient, T* velocity,
              std::size_t n);

struct AdamSettings {
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0.0;
  double gradient_factor = 1.0;
  std::uint64_t step = 1;  // t
};
template <class T>
void adam_step(const Executor& executor, const AdamSettings& settings, T* w, const T* gradient, T* m, T* v,
               std::size_t n);

}  // namespace dikkat::kernels
