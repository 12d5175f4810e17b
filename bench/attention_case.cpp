#include "attention_case.h"

#include <cmath>
#include <cstdint>

namespace dikkat::bench {

std::vector<float> made_up_numbers(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto mixed = static_cast<std::uint32_t>(i * 2654435761U);  // Knuth's multiplicative hash: the high bits mix
    numbers[i] = static_cast<float>(mixed >> 8U) * 0x1p-23F - 1;
  }
  return numbers;
}

AttentionCase::AttentionCase(const AttentionSizes& sizes) : channels_(sizes.heads * sizes.width) {
  rows_.lay_out(std::vector<std::size_t>(sizes.samples, sizes.queries), sizes.queries);
  for (std::size_t b = 0; b <= sizes.samples; ++b) key_first_row_.push_back(b * sizes.keys);
  for (std::size_t i = 0; i < sizes.queries; ++i) pairs_ += static_cast<double>(sizes.keys - sizes.queries + i + 1);
  pairs_ *= static_cast<double>(sizes.samples * channels_);
  qkv_ = made_up_numbers(sizes.samples * sizes.keys * 3 * channels_);
  d_out_ = made_up_numbers(rows_.count() * channels_);
  d_qkv_.resize(qkv_.size());
  out_.resize(d_out_.size());
  max_.resize(rows_.count() * sizes.heads);
  sum_.resize(max_.size());
  shape_ = {.heads = sizes.heads,
            .kv_heads = sizes.heads,
            .width = sizes.width,
            .scale = 1 / std::sqrt(static_cast<double>(sizes.width)),
            .rows = &rows_};
  if (sizes.queries != sizes.keys) shape_.key_first_row = key_first_row_;
}

kernels::Heads<const float> AttentionCase::part(std::size_t which) const {
  return {qkv_.data() + which * channels_, 3 * channels_};
}

kernels::Heads<float> AttentionCase::gradient(std::size_t which) {
  return {d_qkv_.data() + which * channels_, 3 * channels_};
}

void AttentionCase::forward(const kernels::Executor& executor) {
  kernels::attention_forward<float>(executor, shape_,
                                    {part(0), part(1), part(2), {out_.data(), channels_}, max_.data(), sum_.data()});
}

void AttentionCase::backward(const kernels::Executor& executor) {
  kernels::attention_backward<float>(executor, shape_,
                                     {part(0),
                                      part(1),
                                      part(2),
                                      {out_.data(), channels_},
                                      max_.data(),
                                      sum_.data(),
                                      {d_out_.data(), channels_},
                                      gradient(0),
                                      gradient(1),
                                      gradient(2)});
}

}  // namespace dikkat::bench
