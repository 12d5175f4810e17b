// y = a + b, equal shapes: the residual connection. The gradient goes to both unchanged.
#pragma once

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

[[nodiscard]] Variable add(Context& context, const Variable& a, const Variable& b);

}  // namespace dikkat::ops
