// A learned row at the end of every sample, differentiable. The samples are those of context.rows.
#pragma once

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// x (R,C), the last row of each sample zero; token (C) -> y (R,C): x, and token added to the last row of each sample.
// Gradients: dx = dy; d_token += for each chunk of samples (kernels/rows.h), from
// zero, the chain c + dy of their last rows.
[[nodiscard]] Variable class_token(Context& context, const Variable& x, const Variable& token);

}  // namespace dikkat::ops
