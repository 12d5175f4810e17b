// Rotary positions on the query and key heads of a projection, differentiable (kernels/rotary.h).
#pragma once

#include <cstddef>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// Rotates heads [0, heads) of width `width` of each row of x (R, >= heads * width), in x's own memory: x must not be
// needed by anyone else (a product's output is not). cosines, sines (positions, width / 2). Row r stands at
// context.rows->position[r].
[[nodiscard]] Variable rotary(Context& context, const Variable& x, const Tensor& cosines, const Tensor& sines,
                              std::size_t heads, std::size_t width);

}  // namespace dikkat::ops
