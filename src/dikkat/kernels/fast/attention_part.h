// The unit of attention's work: the same for every instruction set.
#pragma once

#include <cstddef>

namespace dikkat::kernels {

// Queries [first, last) of one head of one sample.
struct AttentionPart {
  std::size_t sample;
  std::size_t head;
  std::size_t first;
  std::size_t last;
};

}  // namespace dikkat::kernels
