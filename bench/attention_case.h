// Attention on made-up numbers, for the benchmarks: causal, q, k and v side by side in rows of 3 C, as the product
// before attention leaves them.
#pragma once

#include <cstddef>
#include <vector>

#include "dikkat/kernels/attention.h"

namespace dikkat::bench {

// In [-1, 1), without a pattern that a kernel could notice.
[[nodiscard]] std::vector<float> made_up_numbers(std::size_t count);

struct AttentionSizes {
  std::size_t samples, queries, keys, heads,
      width;  // of a sample: queries, keys; where they differ there is no backward
};

class AttentionCase {
 public:
  explicit AttentionCase(const AttentionSizes& sizes);

  void forward(const kernels::Executor& executor);
  void backward(const kernels::Executor& executor);  // after forward
  // Multiplications and additions of the pairs of query and key that see each other: 2 products forward, 5 backward.
  [[nodiscard]] double forward_operations() const { return 4 * pairs_; }
  [[nodiscard]] double backward_operations() const { return 10 * pairs_; }

 private:
  [[nodiscard]] kernels::Heads<const float> part(std::size_t which) const;
  [[nodiscard]] kernels::Heads<float> gradient(std::size_t which);

  std::size_t channels_;
  double pairs_ = 0;  // times channels
  kernels::Rows rows_;
  std::vector<std::size_t> key_first_row_;
  std::vector<float> qkv_, d_qkv_, out_, d_out_, max_, sum_;
  kernels::AttentionShape shape_;
};

}  // namespace dikkat::bench
