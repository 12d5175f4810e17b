// What weights and optimiser moments are outside a model: tensors with the paths of their parameters, and the hash by
// which two sets of weights are compared.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "dikkat/tensor/tensor.h"

namespace dikkat::formats {

struct NamedTensor {
  std::string name;
  Tensor value;
};

// Takes a file's bytes, piece after piece.
using Sink = std::function<void(std::span<const std::byte>)>;

// SHA-256, 64 hex digits. For each tensor, in byte-wise order of the names: the name, NUL, the dtype ("F32", "F64"),
// NUL, the sizes in decimal digits joined by commas ("32,96"; empty for a scalar), NUL, the values row by row,
// little-endian.
[[nodiscard]] std::string weights_sha256(std::span<const NamedTensor> weights);

// The first tensor, in the order given, that holds a NaN or an infinity.
[[nodiscard]] std::optional<std::string> first_nonfinite(std::span<const NamedTensor> tensors);

}  // namespace dikkat::formats
