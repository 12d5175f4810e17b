// Non-linearities, differentiable (kernels/activation.h).
#pragma once

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"
#include "dikkat/kernels/activation.h"

namespace dikkat::ops {

// x of any shape -> the same shape.
[[nodiscard]] Variable activation(Context& context, kernels::Activation kind, const Variable& x);
// x (R, 2F), gate then up -> (R, F).
[[nodiscard]] Variable swiglu(Context& context, const Variable& x);

}  // namespace dikkat::ops
