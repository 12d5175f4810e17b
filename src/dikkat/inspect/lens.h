// The logit lens (nostalgebraist 2020): what the model would say if it stopped here. The stream after each sublayer is
// read out by the model's own last norm and output layer; the last one's logits are the model's own, to the bit.
//
// It is done by the model's own pass, with the stream put in the place of what leaves the last block. In a model with
// its norms after the sublayers (placement post) the stream is what those norms leave, and there is no last norm.
// Without residual connections the stream is the sublayer's output alone. A bidirectional model sees the very token it
// is asked for: its losses are no measure of prediction.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dikkat/inspect/passes.h"
#include "dikkat/models/config.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::inspect {

// Where the stream is read: "embedding" (what enters the first block), then blocks.I.residual_mid and .residual_post of
// each block.
struct LensPoint {
  std::string path;
  std::string name;  // "embedding", "0.attention", "0.mlp", ...

  friend bool operator==(const LensPoint&, const LensPoint&) = default;
};
[[nodiscard]] std::vector<LensPoint> lens_points(const models::Config& config);

// What one row says. Probabilities are softmax of its logits, in double.
struct LensRow {
  text::Token top = 0;  // the most probable token; of equals the lowest
  double top_probability = 0;
  // Of the token that follows; there is none after the last row, and these are 0 there.
  std::size_t rank = 0;  // 1 + the number of tokens that are more probable
  double probability = 0;
  double loss_nats = 0;  // by the same operation as in training
};

struct LensReading {
  LensPoint point;
  std::vector<LensRow> rows;  // (R)
  Tensor logits;              // (R,V)
};

// One text of at most the context -> a reading for each point. Costs a pass a point.
[[nodiscard]] std::vector<LensReading> lens(Passes& passes, std::span<const text::Token> tokens);

// Mean loss of each window (windows.h) at each point: (points, windows), nats a token.
[[nodiscard]] std::vector<std::vector<double>> lens_losses(Passes& passes, std::span<const text::Token> tokens,
                                                           std::span<const std::size_t> starts, std::size_t length);

}  // namespace dikkat::inspect
