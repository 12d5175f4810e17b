// The next token of a text: windows of tokens, cross entropy.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "dikkat/data/batch.h"
#include "dikkat/models/language_model.h"
#include "dikkat/random/streams.h"
#include "dikkat/train/objective.h"

namespace dikkat::train {

// Where a step's samples come from.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Fills `batch` with samples [first, first + count) of step t, keeping its memory.
  virtual void fill(std::uint64_t t, std::size_t first, std::size_t count, data::Batch& batch) = 0;
};

// Windows of a token stream (data/batch.h).
class WindowSource final : public BatchSource {
 public:
  WindowSource(std::span<const text::Token> tokens, std::size_t context, std::uint64_t seed);
  void fill(std::uint64_t t, std::size_t first, std::size_t count, data::Batch& batch) override;
  // First token of sample `sample` of step t.
  [[nodiscard]] std::uint64_t start_of(std::uint64_t t, std::size_t sample) const;

 private:
  std::span<const text::Token> tokens_;
  std::size_t context_;
  random::Stream sampler_;
};

class LanguageObjective final : public Objective {
 public:
  // model and source outlive it.
  LanguageObjective(const models::LanguageModel& model, BatchSource& source) : model_(model), source_(source) {}

  [[nodiscard]] const nn::ParameterStore& parameters() const override { return model_.parameters(); }
  [[nodiscard]] std::size_t longest_sample() const override { return model_.config().longest_sample(); }
  Drawn draw(std::size_t place, std::uint64_t t, std::size_t first, std::size_t count) override;
  [[nodiscard]] Tensor losses(Context& context, std::size_t place, double gradient_scale) override;

 private:
  const models::LanguageModel& model_;
  BatchSource& source_;
  std::deque<data::Batch> batches_;  // growing moves none: what was drawn points into them
};

}  // namespace dikkat::train
