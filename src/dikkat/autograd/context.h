// What travels through every operation and module, and nothing else does: how to compute, where memory comes from, what
// is being recorded, which mode, whose randomness, which rows, and who is looking. No globals, no mode strings.
#pragma once

#include <cstdint>

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/rows.h"
#include "dikkat/tensor/storage.h"

namespace dikkat {

class Tape;
namespace nn {
class Tap;
struct KvCache;
}  // namespace nn

enum class Mode : std::uint8_t { evaluation, training };  // dropout acts in training only

struct Context {
  kernels::Executor executor;
  Allocator& memory;
  const kernels::Rows* rows = nullptr;  // layout of the batch that flows through
  Tape* tape = nullptr;                 // null: nothing is recorded
  Mode mode = Mode::evaluation;
  std::uint64_t seed = 0;  // every draw is a function of (seed, purpose, step, sample, position)
  std::uint32_t step = 0;
  nn::KvCache* cache = nullptr;  // generation: keys and values of earlier positions
  nn::Tap* tap = nullptr;        // looks at activations and may replace them
};

}  // namespace dikkat
