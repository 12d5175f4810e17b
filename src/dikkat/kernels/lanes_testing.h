// Packing values of several models into lanes, and taking one lane out again.
#pragma once

#include <cstddef>
#include <vector>

#include "dikkat/kernels/lanes.h"

namespace dikkat::kernels::testing {

// models[i][k] becomes lane i of element k.
template <class L>
std::vector<L> packed(const std::vector<std::vector<scalar_t<L>>>& models) {
  std::vector<L> result(models.front().size());
  for (std::size_t k = 0; k < result.size(); ++k) {
    for (std::size_t i = 0; i < lanes_of<L>; ++i) result[k].lane[i] = models[i][k];
  }
  return result;
}

template <class L>
std::vector<scalar_t<L>> lane(const std::vector<L>& values, std::size_t i) {
  std::vector<scalar_t<L>> result;
  for (const L& value : values) result.push_back(value.lane[i]);
  return result;
}

}  // namespace dikkat::kernels::testing
