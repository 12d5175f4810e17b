// A fresh model and one batch, to try things on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dikkat/data/series_coding.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/config.h"
#include "dikkat/nn/parameter.h"
#include "dikkat/tensor/dtype.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::train {

class Probe {
 public:
  virtual ~Probe() = default;
  [[nodiscard]] virtual const nn::ParameterStore& parameters() const = 0;
  // Mean loss over the batch, dropout as in step 1; with `kept` the parameters' gradients are those of it.
  [[nodiscard]] virtual double loss(nn::ParameterStore::Gradients gradients) = 0;
  // The loss of who knows nothing: ln V, ln K, or the mean square of the batch's standardised numbers.
  [[nodiscard]] virtual double ignorance() const = 0;
};

struct ProbeOptions {
  models::Config model;  // with all that the data settles
  DType dtype = DType::f32;
  std::uint64_t seed = 1;
  std::size_t samples = 1;  // those of step 1
  std::size_t length = 1;   // at most the context; samples are cut to it
};

// A language model on the first training windows; `tokens` outlive it, as do the series below.
[[nodiscard]] std::unique_ptr<Probe> text_probe(const ProbeOptions& options, std::span<const text::Token> tokens,
                                                const kernels::Executor& executor);
// A series model on the first training series; `rows`: the training part.
[[nodiscard]] std::unique_ptr<Probe> series_probe(const ProbeOptions& options, const data::CodedSeries& series,
                                                  std::span<const std::size_t> rows, const kernels::Executor& executor);

}  // namespace dikkat::train
