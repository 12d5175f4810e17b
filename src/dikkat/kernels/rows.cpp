#include "dikkat/kernels/rows.h"

#include <algorithm>

namespace dikkat::kernels {

void Rows::lay_out(std::span<const std::size_t> lengths, std::size_t context, std::size_t first_sample) {
  first_row.assign(1, 0);
  chunks.assign(1, 0);
  sample.clear();
  position.clear();
  const std::size_t per_chunk = samples_per_chunk(context);
  continues = first_sample % per_chunk != 0;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const std::size_t begin = first_row.back();
    for (std::size_t t = 0; t < lengths[b]; ++t) {
      sample.push_back(static_cast<std::uint32_t>(first_sample + b));
      position.push_back(static_cast<std::uint32_t>(t));
    }
    first_row.push_back(begin + lengths[b]);
    for (std::size_t cut = kChunkTokens; cut < lengths[b]; cut += kChunkTokens) chunks.push_back(begin + cut);
    const bool chunk_full = (first_sample + b + 1) % per_chunk == 0;
    if ((chunk_full || b + 1 == lengths.size()) && first_row.back() > chunks.back()) chunks.push_back(first_row.back());
  }
}

void Rows::lay_out_pooled(const Rows& steps) {
  first_row.assign(1, 0);
  chunks.assign(1, 0);
  sample.clear();
  position.assign(steps.samples(), 0);
  continues = steps.continues;
  std::size_t end = 0;
  for (std::size_t chunk = 0; chunk + 1 < steps.chunks.size(); ++chunk) {
    while (end < steps.samples() && steps.first_row[end] < steps.chunks[chunk + 1]) {
      sample.push_back(steps.sample[steps.first_row[end]]);
      first_row.push_back(++end);
    }
    if (end > chunks.back()) chunks.push_back(end);
  }
}

void Rows::lay_out_continuation(std::size_t length, std::size_t offset) {
  first_row.assign({0, length});
  chunks.assign({0, length});
  continues = false;
  sample.assign(length, 0);
  position.resize(length);
  for (std::size_t t = 0; t < length; ++t) position[t] = static_cast<std::uint32_t>(offset + t);
}

}  // namespace dikkat::kernels
