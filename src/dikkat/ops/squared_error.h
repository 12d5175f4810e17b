// The loss of a number: (y - t)^2 a sample, whose mean is the mean squared error (kernels/squared_error.h).
#pragma once

#include <span>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// outputs (B,1), targets (B) -> losses per sample (B). With a tape this is the root of backward: the gradient of
// (sum of losses) * gradient_scale, 2 (y - t) * gradient_scale, is sent into the outputs, whose memory it takes over.
// `targets` must stay valid until backward has run.
[[nodiscard]] Tensor squared_error(Context& context, const Variable& outputs, std::span<const double> targets,
                                   double gradient_scale);

}  // namespace dikkat::ops
