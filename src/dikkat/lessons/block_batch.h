// The batch of the lesson on the block, the same at every step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/data/batch.h"
#include "dikkat/lessons/block.h"
#include "dikkat/train/language_objective.h"

namespace dikkat::lessons {

class LessonBatch final : public train::BatchSource {
 public:
  void fill(std::uint64_t /*t*/, std::size_t /*first*/, std::size_t /*count*/, data::Batch& batch) override {
    if (batch.inputs.empty()) batch = block_lesson_batch();
  }
};

}  // namespace dikkat::lessons
