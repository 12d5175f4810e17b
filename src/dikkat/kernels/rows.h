// The rows of a packed batch: sample after sample, only their valid positions. Padding is not multiplied by zero, it
// is not there; so a padded sample and the sample alone are the same rows.
//
// R rows; sample b owns rows [first_row[b], first_row[b+1]); row r is position r - first_row[b] of its sample.
// Gradients of parameters are sums of chunks of rows: as many whole samples as fit in 256 tokens of context, at least
// one; a longer sample is cut every 256 positions (the law of bits). Chunk c owns rows [chunks[c], chunks[c+1]). A
// batch may be one piece of a larger one, cut between any two samples: then its first chunk may be the end of one that
// began before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dikkat::kernels {

inline constexpr std::size_t kChunkTokens = 256;

struct Rows {
  std::vector<std::size_t> first_row{0};  // (B+1)
  std::vector<std::size_t> chunks{0};     // (number of chunks + 1)
  std::vector<std::uint32_t> sample;      // (R) number of the row's sample within the step, for dropout
  std::vector<std::uint32_t> position;    // (R) position within its sample (absolute: a cached prefix counts)
  bool continues = false;                 // the first chunk began with samples before first_sample

  [[nodiscard]] std::size_t count() const { return first_row.back(); }
  [[nodiscard]] std::size_t samples() const { return first_row.size() - 1; }

  // lengths (B), each at most `context`; first_sample: number of the batch's first sample within the step. Reuses
  // the memory of the previous call. Samples per chunk = max(1, 256 / context).
  void lay_out(std::span<const std::size_t> lengths, std::size_t context, std::size_t first_sample = 0);
  // One row a sample of `steps`: what pooling leaves. A chunk is the samples that begin in one chunk of steps.
  void lay_out_pooled(const Rows& steps);
  // One sample of `length` rows that follow `offset` cached positions.
  void lay_out_continuation(std::size_t length, std::size_t offset);
};

[[nodiscard]] constexpr std::size_t samples_per_chunk(std::size_t context) {
  return context >= kChunkTokens || context == 0 ? 1 : kChunkTokens / context;
}

}  // namespace dikkat::kernels
