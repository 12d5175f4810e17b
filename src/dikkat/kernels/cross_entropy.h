// Cross entropy of logits against target ids, in nats.
//   m = max x_v;  Z = tree16(exp(x_v - m));  loss = (log Z + m) - x_target
//   d_logit_v = (exp(x_v - m) * (1 / Z) - [v == target]) * scale
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

inline constexpr std::int32_t kNoTarget = -1;  // the row has no loss and no gradient

// logits (R,V); targets (R) in [0,V) or kNoTarget; losses, max, sum (R) assigned. Error{internal} on a target outside.
template <class T>
void cross_entropy_forward(const Executor& executor, const T* logits, const std::int32_t* targets, T* losses, T* max,
                           T* sum, std::size_t rows, std::size_t vocabulary);
// d_logits (R,V) assigned; may be the memory of logits. scale = 1 / (number of valid targets of the step), rounded to
// T.
template <class T>
void cross_entropy_backward(const Executor& executor, const T* logits, const std::int32_t* targets, const T* max,
                            const T* sum, T* d_logits, std::size_t rows, std::size_t vocabulary, double scale);

}  // namespace dikkat::kernels
