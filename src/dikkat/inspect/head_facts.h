// What a head's map says at a glance, and a small picture of it, gathered while the map's rows go by. Descriptions of
// this text, not tests: what chance would give is for head scores to say.
#pragma once

#include <cstddef>
#include <vector>

#include "dikkat/inspect/attention_maps.h"

namespace dikkat::inspect {

// Means over the rows of one head's map; p_ij is row i's weight on key j.
struct HeadFacts {
  double self = 0;      // p_ii
  double previous = 0;  // p_i,i-1; the first row counts with 0
  double first = 0;     // p_i0
  double distance = 0;  // sum over j of p_ij |i - j|, in tokens
  double spread = 0;    // 1 / sum over j of p_ij^2: over how many tokens the row is spread
  double evenness = 0;  // that over the number of visible keys: 1 is even
};

// Block maxima of a map: (side, side), the largest weight of the block of rows i and keys j with floor(i side / T) and
// floor(j side / T) its place; NaN where the block has no visible key.
struct SmallMap {
  std::size_t side = 0;
  std::vector<double> values = {};
};
inline constexpr std::size_t kSmallMapSide = 64;  // or T, where that is less

struct HeadSummary {
  std::size_t layer = 0;
  std::size_t head = 0;
  HeadFacts facts = {};
  SmallMap small = {};
};

// Takes the parts of one layer's maps in order.
class HeadSummaries {
 public:
  // Of heads [range.first, range.last) over T tokens.
  HeadSummaries(std::size_t layer, HeadRange range, std::size_t tokens, const kernels::Mask& mask);

  void add(const kernels::Executor& executor, const MapRows& part);
  // After the last part.
  [[nodiscard]] std::vector<HeadSummary> finish();

 private:
  template <class T>
  void add_row(HeadSummary& summary, const T* weights, std::size_t row) const;

  std::size_t tokens_;
  kernels::Mask mask_;
  std::vector<HeadSummary> summaries_;
};

}  // namespace dikkat::inspect
