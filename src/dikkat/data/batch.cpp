#include "dikkat/data/batch.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/error.h"

namespace dikkat::data {
namespace {

void clear(Batch& batch) {
  batch.inputs.clear();
  batch.targets.clear();
  batch.lengths.clear();
}

// `window` is one token longer than the sample.
void append_window(std::span<const text::Token> window, Batch& batch) {
  const std::span<const text::Token> inputs = window.first(window.size() - 1);
  batch.inputs.insert(batch.inputs.end(), inputs.begin(), inputs.end());
  for (const text::Token target : window.subspan(1)) batch.targets.push_back(static_cast<std::int32_t>(target));
  batch.lengths.push_back(inputs.size());
}

random::Counter window_counter(std::size_t sample, std::uint64_t step) {
  return {static_cast<std::uint32_t>(sample), 0, static_cast<std::uint32_t>(step),
          static_cast<std::uint32_t>(step >> 32U)};
}

}  // namespace

void training_batch(std::span<const text::Token> tokens, std::size_t context, random::Stream sampler,
                    std::uint64_t step, std::size_t first, std::size_t count, Batch& batch) {
  if (context >= tokens.size()) {
    throw Error(ErrorKind::internal, fmt::format("no window of {} + 1 tokens in {}", context, tokens.size()));
  }
  clear(batch);
  for (std::size_t sample = first; sample < first + count; ++sample) {
    const std::uint64_t start = window_start(tokens.size() - context, sampler, step, sample);
    append_window(tokens.subspan(start, context + 1), batch);
  }
  batch.rows.lay_out(batch.lengths, context, first);
}

std::uint64_t window_start(std::size_t windows, random::Stream sampler, std::uint64_t step, std::size_t sample) {
  return random::below(sampler, window_counter(sample, step), windows);
}

void EvaluationWindows::fill(std::size_t first, std::size_t windows, Batch& batch) const {
  if (first > count() || windows > count() - first) {
    throw Error(ErrorKind::internal, fmt::format("windows {} to {} of {}", first, first + windows, count()));
  }
  clear(batch);
  for (std::size_t window = first; window < first + windows; ++window) {
    const std::size_t start = window * context;
    const std::size_t length = std::min(context, targets() - start);
    append_window(tokens.subspan(start, length + 1), batch);
  }
  batch.rows.lay_out(batch.lengths, context, first);
}

}  // namespace dikkat::data
