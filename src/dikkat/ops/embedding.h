// Rows of a table by id, differentiable (kernels/embedding.h): ids (R) -> (R,C). A one-hot product is the same numbers.
#pragma once

#include <cstdint>
#include <span>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::ops {

// `ids` must stay valid until backward has run.
[[nodiscard]] Variable embedding(Context& context, const Variable& table, std::span<const std::uint32_t> ids);

}  // namespace dikkat::ops
