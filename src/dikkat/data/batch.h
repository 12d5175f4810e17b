// Batches: which windows of the token stream a step sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dikkat/kernels/rows.h"
#include "dikkat/random/streams.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::data {

// B samples in R packed rows: inputs (R), targets (R), the id that follows each input, lengths (B). See kernels/rows.h.
struct Batch {
  std::vector<text::Token> inputs;
  std::vector<std::int32_t> targets;
  std::vector<std::size_t> lengths;
  kernels::Rows rows;
};

// Training windows: sample s of step t starts at below(stream(seed, "sampler"), {s, 0, t low, t high}, n - context), so
// a step's windows depend on nothing but (seed, t, s); n tokens have n - context windows of context + 1. Fills samples
// [first, first + count) of the step; keeps the batch's memory. At least context + 1 tokens are needed (check_windows).
void training_batch(std::span<const text::Token> tokens, std::size_t context, random::Stream sampler,
                    std::uint64_t step, std::size_t first, std::size_t count, Batch& batch);

// Where sample `sample` of step `step` starts, of so many windows.
[[nodiscard]] std::uint64_t window_start(std::size_t windows, random::Stream sampler, std::uint64_t step,
                                         std::size_t sample);

// Evaluation windows of `context` inputs that do not overlap; the last, shorter one counts. Every token but the first
// is a target once. context >= 1.
struct EvaluationWindows {
  std::span<const text::Token> tokens;
  std::size_t context = 1;

  [[nodiscard]] std::size_t targets() const { return tokens.size() < 2 ? 0 : tokens.size() - 1; }
  [[nodiscard]] std::size_t count() const { return (targets() + context - 1) / context; }
  // Windows [first, first + count).
  void fill(std::size_t first, std::size_t count, Batch& batch) const;
};

}  // namespace dikkat::data
