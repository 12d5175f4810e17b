// What the page is told about each head beside q and k: from the weights of the forward pass themselves, computed in
// chunks of rows, so that no T x T map is ever held (but where a two-way mask has a window or slopes: there, that of
// one head).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dikkat/inspect/page.h"

namespace dikkat::inspect {

inline constexpr std::size_t kThumbnailSide = 128;
// Rows of a map that are checked against the page's formula: all where there are no more, else as many, spread evenly.
inline constexpr std::size_t kCheckedRows = 128;

// Means over the rows of one head's map.
struct PageHeadFacts {
  double self = 0;      // weight on the row's own token
  double previous = 0;  // on the token before (the first row counts with zero)
  double first = 0;     // on the first token
  double distance = 0;  // sum of weight * |i - j|, in tokens
  double spread = 0;    // 1 / sum of squared weights: over how many tokens the row is spread
};

struct PageHeadMap {
  std::size_t head = 0;  // h of the H
  PageHeadFacts facts;
  // (n,n), n = min(T, kThumbnailSide): the largest weight of the block of rows i and keys j with floor(i n / T) and
  // floor(j n / T) its row and column. 0: nothing visible; else 1 + 254 * (1 + log10(weight) / 5), at least 1.
  std::vector<std::uint8_t> thumbnail;
};

struct PageLayerMaps {
  std::vector<float> q;            // (H,T,D)
  std::vector<float> k;            // (G,T,D)
  std::vector<float> max;          // (H,T)  m
  std::vector<float> sum;          // (H,T)  Z
  std::vector<PageHeadMap> heads;  // those shown
  double largest_difference = 0;   // between the page's weights and the forward pass's
};

[[nodiscard]] PageLayerMaps layer_maps(const PageData& data, const PageLayer& layer, const kernels::Executor& executor);

}  // namespace dikkat::inspect
