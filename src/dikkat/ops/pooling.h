// Pooling of each sample's rows into one, differentiable (kernels/pooling.h has the mathematics). The samples are those
// of context.rows.
#pragma once

#include <cstddef>
#include <functional>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"
#include "dikkat/kernels/pooling.h"

namespace dikkat::ops {

struct AttentionPoolingOptions {
  std::size_t heads = 1;  // H
  std::size_t width = 1;  // D
  // How the sums over a sample's rows are formed (Z and the weighted sum of the values): `chain` as everywhere, or
  // `compensated`, which does not depend on the order of the rows.
  kernels::RowSum sum = kernels::RowSum::compensated;
};

// key_values (R, 2 H D): keys of H heads, then values; query (H D) -> out (B, H D):
//   s[r,h] = query[h] . key[r,h] / sqrt(D);  a = softmax of s over the sample's rows;  out[b,h] = sum over r of a[r,h]
//   v[r,h]
[[nodiscard]] Variable attention_pooling(Context& context, const Variable& key_values, const Variable& query,
                                         const AttentionPoolingOptions& options);
// For looking inside, as ops::attention_with_map: the map a (R,H) is handed to `look`, which may change it; then the
// output from that map. Equal to attention_pooling to the bit if nothing is changed; the gradient is that of the
// unchanged map.
[[nodiscard]] Variable attention_pooling_with_map(Context& context, const Variable& key_values, const Variable& query,
                                                  const AttentionPoolingOptions& options,
                                                  const std::function<void(Tensor&)>& look);

// x (R,C) -> (B,C): the mean of a sample's rows; its last row.
[[nodiscard]] Variable mean_pooling(Context& context, const Variable& x);
[[nodiscard]] Variable last_pooling(Context& context, const Variable& x);

}  // namespace dikkat::ops
