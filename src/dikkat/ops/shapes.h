// Shape checks that operations share; every refusal names the operation, what it got and what it expected.
#pragma once

#include <string>
#include <string_view>

#include "dikkat/base/error.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::ops {

inline void require_shape(std::string_view operation, std::string_view what, const Tensor& got, const Shape& expected) {
  if (got.shape() == expected) return;
  throw Error(ErrorKind::internal, std::string(operation) + ": " + std::string(what) + " has shape " +
                                       got.shape().text() + "; expected " + expected.text());
}

inline void require_rank(std::string_view operation, std::string_view what, const Tensor& got, std::size_t rank) {
  if (got.shape().rank() == rank) return;
  throw Error(ErrorKind::internal, std::string(operation) + ": " + std::string(what) + " has shape " +
                                       got.shape().text() + "; expected " + std::to_string(rank) + " axes");
}

}  // namespace dikkat::ops
