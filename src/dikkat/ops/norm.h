// Layer norm and RMS norm, differentiable (kernels/norm.h): x (R,C) -> (R,C).
#pragma once

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"
#include "dikkat/kernels/norm.h"

namespace dikkat::ops {

// gain, bias (C); a default Variable where there is none.
[[nodiscard]] Variable norm(Context& context, kernels::Norm kind, double epsilon, const Variable& x,
                            const Variable& gain, const Variable& bias = {});

}  // namespace dikkat::ops
