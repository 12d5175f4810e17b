// Keys and values of the positions a generation has already been through, in absolute order, one pair of matrices a
// block. Owned by generate/session; the attention module appends to it and reads it through Context::cache.
#pragma once

#include <cstddef>
#include <vector>

#include "dikkat/tensor/tensor.h"

namespace dikkat::nn {

struct KvCache {
  std::vector<Tensor> keys;    // L of (context, G D)
  std::vector<Tensor> values;  // L of (context, G D)
  std::size_t length = 0;      // positions held by every block; advanced by the model after a pass

  KvCache() = default;
  KvCache(std::size_t layers, std::size_t context, std::size_t width, DType dtype) {
    for (std::size_t l = 0; l < layers; ++l) {
      keys.push_back(Tensor::zeros({context, width}, dtype));
      values.push_back(Tensor::zeros({context, width}, dtype));
    }
  }
};

}  // namespace dikkat::nn
