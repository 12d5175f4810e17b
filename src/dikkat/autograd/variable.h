// Variable is data with a history: a tensor and the place where its gradient is gathered.
#pragma once

#include <cstdint>

#include "dikkat/tensor/tensor.h"

namespace dikkat {

// Number of a gradient on the tape of the present pass.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};  // no gradient is wanted

struct Variable {
  Tensor value;
  Slot slot = kNoSlot;

  [[nodiscard]] bool wants_gradient() const { return slot != kNoSlot; }
  [[nodiscard]] const Shape& shape() const { return value.shape(); }
};

}  // namespace dikkat
