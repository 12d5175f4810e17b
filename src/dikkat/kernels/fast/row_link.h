// A chunk's rows with the same id as a linked list, for the gradient of the embedding.
#pragma once

#include <cstdint>

namespace dikkat::kernels {

struct RowLink {
  bool begins : 1;          // the chunk's first row with this id
  std::uint32_t next : 31;  // how many rows further the next one stands; 0: none
};

}  // namespace dikkat::kernels
