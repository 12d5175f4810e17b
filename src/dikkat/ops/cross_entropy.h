// The loss: cross entropy of logits against the next tokens, in nats (kernels/cross_entropy.h).
#pragma once

#include <cstdint>
#include <span>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// logits (R,V), targets (R) -> losses per row (R), 0 where there is no target. With a tape this is the root of
// backward: the gradient of (sum of losses) * gradient_scale is sent into the logits, whose memory it takes over.
// gradient_scale is 1 / (valid targets of the whole step). `targets` must stay valid until backward has run.
[[nodiscard]] Tensor cross_entropy(Context& context, const Variable& logits, std::span<const std::int32_t> targets,
                                   double gradient_scale);

}  // namespace dikkat::ops
