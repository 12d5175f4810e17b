// What a step of training minimises: samples drawn for it, and a model's losses on them. The stepper knows nothing
// else; next tokens of a text and classes or numbers of series are two such objectives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/autograd/context.h"
#include "dikkat/nn/parameter.h"

namespace dikkat::train {

// Samples of a step as they were drawn; valid until their place is drawn into anew.
struct Drawn {
  const kernels::Rows* rows = nullptr;
  std::size_t losses = 0;   // that it gives: one a row or one a sample
  std::size_t targets = 0;  // of them that count: the divisor of the mean
};

class Objective {
 public:
  virtual ~Objective() = default;

  [[nodiscard]] virtual const nn::ParameterStore& parameters() const = 0;
  // Rows of the longest sample it may draw.
  [[nodiscard]] virtual std::size_t longest_sample() const = 0;
  // Draws samples [first, first + count) of step t into `place` (0, 1, ...), keeping its memory. A function of (seed,
  // t, sample) alone.
  virtual Drawn draw(std::size_t place, std::uint64_t t, std::size_t first, std::size_t count) = 0;
  // The forward pass over the samples of `place`: their losses. With a tape they are the root of backward, whose
  // gradient is that of (sum of losses) * gradient_scale. Threads may call it for different places at the same time.
  [[nodiscard]] virtual Tensor losses(Context& context, std::size_t place, double gradient_scale) = 0;
};

}  // namespace dikkat::train
