#include "dikkat/tensor/scratch_memory.h"

#include <gtest/gtest.h>

#include "dikkat/base/error.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat {
namespace {

// Two tensors of 3 floats take a line of 64 bytes each; after the first round both come from one region.
TEST(ScratchMemory, ServesTheSecondRoundFromOneRegion) {
  ScratchMemory memory;
  for (int round = 0; round < 3; ++round) {
    {
      const Tensor a = Tensor::empty({3}, DType::f32, memory);
      const Tensor b = Tensor::empty({3}, DType::f32, memory);
      a.fill(1);
      b.fill(2);
      EXPECT_EQ(a.data<float>()[2], 1.0F);
      if (round > 0) {
        EXPECT_EQ(b.raw() - a.raw(), 64);
      }
    }
    memory.clear();
  }
}

TEST(ScratchMemory, RefusesToBeginAnewUnderATensor) {
  ScratchMemory memory;
  { const Tensor first = Tensor::empty({3}, DType::f32, memory); }
  memory.clear();
  const Tensor held = Tensor::empty({3}, DType::f32, memory);
  EXPECT_THROW(memory.clear(), Error);
}

}  // namespace
}  // namespace dikkat
