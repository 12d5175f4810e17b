// Attention maps of a forward pass: where each token looks, in each head, to the bit as the pass itself weighted it
// (before dropout); rows sum to one, keys that the mask hides are exactly zero.
//
// They are computed from the pass's own queries and keys, layer by layer and in chunks of rows while the pass runs, so
// that no map of T x T is ever held. (Exception: a model that looks both ways with a window or ALiBi; there the maps of
// one layer are held at once.)
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/mask.h"
#include "dikkat/models/config.h"
#include "dikkat/nn/tap.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::inspect {

// How a model's queries and keys become weights (kernels/attention.h).
struct MapRule {
  std::size_t heads = 1;     // H
  std::size_t kv_heads = 1;  // G
  std::size_t width = 1;     // D
  double scale = 1.0;
  kernels::Mask mask = {};
  std::vector<double> slopes = {};  // (H) of ALiBi; empty: none
};
[[nodiscard]] MapRule map_rule(const models::Config& config);

// What a layer's maps are made of.
struct LayerHeads {
  std::size_t layer = 0;
  Tensor q;  // (T,H,D), after rotation, contiguous
  Tensor k;  // (T,G,D)
};

// Hands over the queries and keys of the chosen layers, one layer after the other, while the pass runs: one sample
// only.
class HeadsTap final : public nn::Tap {
 public:
  using Take = std::function<void(const LayerHeads&)>;
  HeadsTap(std::vector<std::size_t> layers, Take take);

  [[nodiscard]] bool wants(std::string_view path) const override;
  void see(std::string_view path, Tensor& activation) override;

 private:
  std::vector<std::size_t> layers_;
  Take take_;
  Tensor q_;
};

// A part of a layer's maps.
struct MapRows {
  std::size_t layer = 0;
  std::size_t first_row = 0;
  std::size_t first_head = 0;
  Tensor weights;  // (rows, heads, T)
};

inline constexpr std::size_t kMapRows = 128;  // of a part, at most

// Heads [first, last) of a layer: calls use(part) for its rows, ascending. The part's memory is used again.
struct HeadRange {
  std::size_t first = 0;
  std::size_t last = 0;
};
void visit_maps(const kernels::Executor& executor, const MapRule& rule, const LayerHeads& heads, HeadRange range,
                const std::function<void(const MapRows&)>& use);

// m and Z of every row and head, (T,H) each: the row maxima and sums of the forward pass.
struct RowSums {
  Tensor max;
  Tensor sum;
};
[[nodiscard]] RowSums row_sums(const kernels::Executor& executor, const MapRule& rule, const LayerHeads& heads);

}  // namespace dikkat::inspect
