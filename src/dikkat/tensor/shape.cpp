#include "dikkat/tensor/shape.h"

#include <algorithm>

#include "dikkat/base/error.h"

namespace dikkat {

Shape::Shape(std::initializer_list<std::size_t> sizes)
    : Shape(std::span<const std::size_t>(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const std::size_t> sizes) : rank_(sizes.size()) {
  if (sizes.size() > kMaxRank) {
    throw Error(ErrorKind::internal, "shape: " + std::to_string(sizes.size()) + " axes; at most " +
                                         std::to_string(kMaxRank) + " are supported");
  }
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
}

std::size_t Shape::count() const {
  std::size_t total = 1;
  for (const std::size_t size : *this) {
    if (size != 0 && total > (std::size_t{1} << 62U) / size) {
      throw Error(ErrorKind::limit, "shape: the number of elements of " + text() + " does not fit");
    }
    total *= size;
  }
  return total;
}

std::string Shape::text() const {
  std::string text = "(";
  for (std::size_t axis = 0; axis < rank_; ++axis) {
    if (axis != 0) text += ',';
    text += std::to_string(sizes_[axis]);
  }
  return text + ")";
}

}  // namespace dikkat
