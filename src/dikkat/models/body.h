// What every model has between its input and its output, by its config:
//
//   x = x (+ positions), dropout;  x = block(x) for each block;  x = norm(x)
//
// The norm at the end stands with pre-norm blocks only: post-norm blocks end with theirs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"
#include "dikkat/models/config.h"
#include "dikkat/nn/block.h"
#include "dikkat/nn/norm.h"
#include "dikkat/nn/parameter.h"
#include "dikkat/nn/position/position.h"

namespace dikkat::models {

// Deviations of the initial weights, by scheme (InitKind). `input` is the embedding of tokens, the map of a series'
// channels, and the class token.
struct Deviations {
  double input, position, projection, attention_output, up, down, output;
};
[[nodiscard]] Deviations deviations_of(const Config& config);

class Body {
 public:
  // Parameters position_embedding.weight, blocks.I.*, final_norm.*. `positions`: rows of the longest sample.
  Body(const Config& config, nn::ParameterStore& store, std::size_t positions);
  // After the parameters have been laid out: tables in the model's number.
  void prepare(DType dtype);

  // x (R,C), the embedded input, given away so that its memory can be used again -> (R,C). Shows embedding, blocks.I.*,
  // final_norm at the tap.
  [[nodiscard]] Variable forward(Context& context, Variable x) const;

 private:
  double dropout_;
  std::unique_ptr<nn::Position> position_;
  std::vector<nn::Block> blocks_;
  std::optional<nn::Norm> final_norm_;
};

}  // namespace dikkat::models
