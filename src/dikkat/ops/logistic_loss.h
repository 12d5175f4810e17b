// The loss of a class of two: one logit a sample against class 0 or 1, in nats (kernels/logistic_loss.h).
#pragma once

#include <cstdint>
#include <span>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// logits (B,1), targets (B) 0, 1 or none (kernels/cross_entropy.h) -> losses per sample (B), 0 where there is no
// target. With a tape this is the root of backward: the gradient of (sum of losses) * gradient_scale, (p - y) *
// gradient_scale, is sent into the logits, whose memory it takes over. `targets` must stay valid until backward has
// run.
[[nodiscard]] Tensor logistic_loss(Context& context, const Variable& logits, std::span<const std::int32_t> targets,
                                   double gradient_scale);

}  // namespace dikkat::ops
