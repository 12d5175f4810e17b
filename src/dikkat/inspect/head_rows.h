// The sums behind the scores of heads (head_scores.h), over a block of rows of one layer's map.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dikkat/inspect/head_scores.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/mask.h"

namespace dikkat::inspect {

// A window as the sums need it. period 0: a window of the text, of which all is summed but induction; otherwise a
// repeated one, of which only induction is.
struct LookedAt {
  std::span<const text::Token> tokens;  // (T)
  std::size_t period = 0;
};

// Where each token of a window stood before.
class EarlierEqual {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  explicit EarlierEqual(std::span<const text::Token> tokens);
  // The last position before i with the same token; kNone if there is none.
  [[nodiscard]] std::size_t before(std::size_t i) const { return before_[i]; }

 private:
  std::vector<std::size_t> before_;
};

// What is the same for all heads: the mask, the bins, the window.
struct RowFacts {
  const HeadColumns& columns;
  const kernels::Mask& mask;
  const LookedAt& window;
  const EarlierEqual& equal;

  [[nodiscard]] std::size_t length() const { return window.tokens.size(); }
  [[nodiscard]] kernels::KeyRange visible(std::size_t i) const { return mask.visible(i, length()); }
  // Whether query i has a choice at all.
  [[nodiscard]] bool counts(std::size_t i) const;
  // Calls use(j) for each visible key of a column's set, ascending or descending: the earlier equal tokens; what
  // followed the earlier occurrences.
  template <class Use>
  void each_equal(std::size_t i, Use&& use) const;
  template <class Use>
  void each_induction(std::size_t i, Use&& use) const;
  // The visible keys of a bin.
  [[nodiscard]] kernels::KeyRange keys_of(const DistanceBin& bin, std::size_t i) const;
};

// (S) How many queries count for each column. separation: those of centre.
[[nodiscard]] std::vector<std::size_t> rows_that_count(const RowFacts& facts);

// Adds rows [begin, end) of a window's map to sums (H, S); pairs (H, H) above the diagonal take
// 1/2 sum_j |p^h_ij - p^g_ij|. map: the window's first row; each row (H, keys).
template <class T>
struct HeadRows {
  const T* map = nullptr;
  std::size_t heads = 0;
  std::size_t keys = 0;  // from head to head; at least T
  std::size_t begin = 0;
  std::size_t end = 0;
};
template <class T>
void add_rows(const kernels::Executor& executor, const RowFacts& facts, const HeadRows<T>& rows, std::span<double> sums,
              std::span<double> pairs);

inline bool RowFacts::counts(std::size_t i) const {
  const kernels::KeyRange seen = visible(i);
  return seen.end >= seen.begin + 2;
}

template <class Use>
void RowFacts::each_equal(std::size_t i, Use&& use) const {
  const kernels::KeyRange seen = visible(i);
  for (std::size_t j = equal.before(i); j != EarlierEqual::kNone && j >= seen.begin; j = equal.before(j)) {
    if (j < seen.end) use(j);
  }
}

template <class Use>
void RowFacts::each_induction(std::size_t i, Use&& use) const {
  const kernels::KeyRange seen = visible(i);
  for (std::size_t back = window.period; back != 0 && back <= i; back += window.period) {
    const std::size_t j = i - back + 1;
    if (j >= seen.begin && j < seen.end) use(j);
  }
}

}  // namespace dikkat::inspect
