// Dropout, differentiable (kernels/dropout.h). Acts only in training and for rate > 0; otherwise y is x itself. The
// draw of an element is a function of (seed, place, step, sample, position, channel).
#pragma once

#include <string_view>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// x (R,C). `place` is the parameter path of the module that drops ("blocks.0.attention").
[[nodiscard]] Variable dropout(Context& context, const Variable& x, double rate, std::string_view place);

}  // namespace dikkat::ops
