// Matrix product with weights, differentiable.
//   linear:            y (R,N) = x (R,K) . w (K,N) + bias (N)
//   linear_transposed: y (R,V) = x (R,C) . table (V,C)^T + bias (V)         (an output layer tied to the embedding)
// Gradients: dx = dy . w^T; dw += x^T . dy and dbias += column sums of dy, chunk by chunk of context.rows (law of
// bits).
#pragma once

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// bias: a default Variable where there is none. Error{internal} naming the shapes when they do not fit.
[[nodiscard]] Variable linear(Context& context, const Variable& x, const Variable& weight, const Variable& bias = {});
[[nodiscard]] Variable linear_transposed(Context& context, const Variable& x, const Variable& table,
                                         const Variable& bias = {});

}  // namespace dikkat::ops
