#include "dikkat/formats/named_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <vector>

#include "dikkat/base/sha256.h"

namespace dikkat::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "values are hashed and written as they lie in memory");

std::string sizes_text(const Shape& shape) {
  std::string text;
  for (const std::size_t size : shape) {
    if (!text.empty()) text += ',';
    text += std::to_string(size);
  }
  return text;
}

bool finite(const Tensor& tensor) {
  return with_number(tensor.dtype(), [&]<class T>() {
    const std::span<const T> values = tensor.span<T>();
    return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
  });
}

}  // namespace

std::string weights_sha256(std::span<const NamedTensor> weights) {
  std::vector<const NamedTensor*> ordered;
  for (const NamedTensor& tensor : weights) ordered.push_back(&tensor);
  std::sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return a->name < b->name; });

  constexpr std::string_view kNul("\0", 1);
  Sha256 hash;
  for (const NamedTensor* tensor : ordered) {
    const Tensor value = tensor->value.contiguous() ? tensor->value : tensor->value.clone();
    hash.update(tensor->name);
    hash.update(kNul);
    hash.update(name_of(value.dtype()));
    hash.update(kNul);
    hash.update(sizes_text(value.shape()));
    hash.update(kNul);
    hash.update(std::span<const std::byte>(value.raw(), value.bytes()));
  }
  return hash.hex();
}

std::optional<std::string> first_nonfinite(std::span<const NamedTensor> tensors) {
  for (const NamedTensor& tensor : tensors) {
    if (!finite(tensor.value.contiguous() ? tensor.value : tensor.value.clone())) return tensor.name;
  }
  return std::nullopt;
}

}  // namespace dikkat::formats
