// One row of logits as probabilities, in double, by the house's own exponential.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/tensor/tensor.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::inspect {

struct Readout {
  std::vector<double> logits;
  std::vector<double> probabilities;  // e^(logit - largest) / sum, sum by tree16

  // The most probable; of equals the lowest.
  [[nodiscard]] text::Token top() const;
  // 1 + the number of tokens with a larger logit.
  [[nodiscard]] std::size_t rank(text::Token token) const;
  // -ln of its probability, from the logits, so that it is finite where the probability is not told from 0.
  [[nodiscard]] double loss_nats(const kernels::Executor& executor, text::Token token) const;
};

// Row `row` of logits (R,V), contiguous.
[[nodiscard]] Readout readout_of(const kernels::Executor& executor, const Tensor& logits, std::size_t row);

// Half the sum of |p - q|: the largest change of the probability of anything.
[[nodiscard]] double total_variation(std::span<const double> p, std::span<const double> q);

}  // namespace dikkat::inspect
