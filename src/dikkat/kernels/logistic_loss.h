// The loss of one logit against a class of two, in nats: cross entropy of the logits 0 and z.
//   s = z for class 0, -z for class 1 (how far the logit is on the wrong side);  e = exp(-|s|)
//   loss = max(s, 0) + log(1 + e), which is log(1 + exp(s)) without overflow
//   d_z = +-sigma(s) * scale, + for class 0, - for class 1;  sigma(s) = 1 / (1 + e) for s >= 0, e / (1 + e) below
// d_z / scale is p - y with p the probability of class 1, without the cancellation of p - 1.
//
// One number a sample: there is one body, the plain one. Beside a pass over the samples' steps it costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// logits (B); targets (B): 0, 1 or kNoTarget (cross_entropy.h); losses (B) assigned. Error{internal} on another target.
template <class T>
void logistic_loss_forward(const Executor& executor, const T* logits, const std::int32_t* targets, T* losses,
                           std::size_t samples);
// d_logits (B) assigned; may be the memory of logits. scale is rounded to T.
template <class T>
void logistic_loss_backward(const Executor& executor, const T* logits, const std::int32_t* targets, T* d_logits,
                            std::size_t samples, double scale);

}  // namespace dikkat::kernels
