// Non-linearities, differentiable (kernels/activation.h).
#pragma once

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"
#include "dikkat/kernels/activation.h"

namespace dikkat::ops {

// x (R, F), or (R, 2F) for a gated activation -> (R, F).
[[nodiscard]] Variable activation(Context& context, kernels::Activation kind, const Variable& x);

}  // namespace dikkat::ops
