// Softmax over the last axis, differentiable (kernels/softmax.h).
#pragma once

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// x (R,C) -> (R,C).
[[nodiscard]] Variable softmax(Context& context, const Variable& x);

}  // namespace dikkat::ops
