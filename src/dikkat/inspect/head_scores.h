// Scores of attention heads, each with the value that a head would have which looks at all it may see alike.
//
// p_ij is the weight of query i on key j of a window of T tokens, before dropout: exactly what the model used. Query i
// sees the keys [b_i, e_i) that its mask leaves it, n_i of them. Queries that see a single key have no choice and never
// count (a causal mask's first row). A window's value is the mean over the queries that count; a head's value is the
// mean over windows.
//
//   centre          sum_j p_ij (i - j): how many tokens back the centre of mass lies (below 0: ahead)
//   spread          sqrt(sum_j p_ij (j - c_i)^2), c_i = sum_j p_ij j: in tokens
//   entropy         -sum_j p_ij ln p_ij: in nats
//   separation      distance to the nearest sibling: min over the layer's other heads g of the mean of
//                   1/2 sum_j |p_ij - p^g_ij| (total variation). The nearest, since one odd head would move the mean
//                   over siblings of every other head of its layer. None for a single head
//   self            p_ii
//   previous        p_i,i-1                                    (Voita et al. 2019, "positional heads")
//   first           p_i0, i >= 1                               (Xiao et al. 2023, "attention sinks")
//   induction       on repeated random tokens of period n: sum_m p_i,i-mn+1, m = 1, 2, ...: the weight on what followed
//   the
//                   earlier occurrences of the present token, over the queries i >= n (Olsson et al. 2022, "In-context
//                   learning and induction heads", prefix matching)
//   same_character  sum of p_ij over j < i with the same token, over the queries that have such a key
//   distance        the profile: sum of p_ij over the keys at i - j = 0, 1, 2, 3-4, 5-8, 9-16, ... (and ahead, -1, -2,
//   ...,
//                   for a mask that looks ahead), each over the queries that have such a key
//
// Sums run over keys in 16 partial sums in the model's number, over rows in order in double, in blocks of rows that
// hang on sizes alone: no number of threads shows in the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/fields.h"
#include "dikkat/inspect/head_windows.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/kernels/mask.h"

namespace dikkat::inspect {

enum class HeadScore : std::uint8_t {
  centre,
  spread,
  entropy,
  separation,
  self,
  previous,
  first,
  induction,
  same_character,
  distance
};
inline constexpr std::size_t kHeadScores = 10;
constexpr std::size_t column(HeadScore score) { return static_cast<std::size_t>(score); }
// What speaks of a head that does something: more than chance, less, or either.
enum class Alternative : std::uint8_t { greater, less, two_sided };
// entropy: less (a head that chooses); centre and spread: two-sided; all the others: greater.
[[nodiscard]] Alternative alternative_of(HeadScore score);

// Keys at distances first <= i - j <= last.
struct DistanceBin {
  std::ptrdiff_t first = 0;
  std::ptrdiff_t last = 0;
};

// The numbers a head has: one for each score but the last, then one for each bin of the profile.
struct HeadColumns {
  std::vector<DistanceBin> bins;

  // Bins that a window of `length` can fill under the mask.
  HeadColumns(std::size_t length, const kernels::Mask& mask);
  [[nodiscard]] std::size_t count() const { return kHeadScores - 1 + bins.size(); }
  [[nodiscard]] HeadScore score_of(std::size_t column) const;
  // Columns [first, second) of a score.
  [[nodiscard]] std::pair<std::size_t, std::size_t> of(HeadScore score) const;
};

// Values (W, L, H, S): window, layer, head, column. NaN where no query of the window counts.
struct HeadValues {
  std::size_t windows = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t columns = 0;
  std::vector<double> values;

  [[nodiscard]] double at(std::size_t window, std::size_t layer, std::size_t head, std::size_t column) const {
    return values[((window * layers + layer) * heads + head) * columns + column];
  }
  // Of the windows that have a value: all of them, and their mean (L, H, S), NaN where none has.
  [[nodiscard]] std::vector<double> over_windows(std::size_t layer, std::size_t head, std::size_t column) const;
  [[nodiscard]] std::vector<double> means() const;
  // Those of HeadWindows::spread(count).
  [[nodiscard]] HeadValues spread(std::size_t count) const;
};

// All scores of all heads; a pass over each window, some 256 tokens at a time: no more than one layer's map of one
// window (or of 256 tokens) is held. `stopped`, where there is one, is asked before each pass; once it says true the
// rest of the values is NaN, and the caller, who can ask as well, has no use for them.
[[nodiscard]] HeadValues score_heads(Passes& passes, const HeadWindows& windows,
                                     const std::function<bool()>& stopped = {});
// The same for a model whose only layer has these maps: (W, T, H, T) for the text, and for the repeated tokens where
// there are any. Error{internal} for other shapes.
[[nodiscard]] HeadValues score_maps(const Tensor& text, const Tensor& repeated, const HeadWindows& windows,
                                    const kernels::Mask& mask, const kernels::Executor& executor);

// (S) The values of a head with p_ij = 1 / n_i, in closed form over these windows: self, previous and first 1 / n_i,
// centre i - (b_i + e_i - 1) / 2, spread sqrt((n_i^2 - 1) / 12), entropy ln n_i, separation 0, the others the number of
// their keys over n_i. A reference, not a null: no model starts out there.
[[nodiscard]] std::vector<double> uniform_head(const HeadWindows& windows, const kernels::Mask& mask);

// What the values' meaning hangs on beyond the model and the windows: changes with every change of a definition.
inline constexpr std::uint64_t kHeadScoresLaw = 1;

}  // namespace dikkat::inspect

namespace dikkat {

template <>
struct EnumNames<inspect::HeadScore> {
  static constexpr std::array<std::pair<inspect::HeadScore, std::string_view>, inspect::kHeadScores> names{
      {{inspect::HeadScore::centre, "centre"},
       {inspect::HeadScore::spread, "spread"},
       {inspect::HeadScore::entropy, "entropy"},
       {inspect::HeadScore::separation, "separation"},
       {inspect::HeadScore::self, "self"},
       {inspect::HeadScore::previous, "previous-token"},
       {inspect::HeadScore::first, "first-token"},
       {inspect::HeadScore::induction, "induction"},
       {inspect::HeadScore::same_character, "same-character"},
       {inspect::HeadScore::distance, "distance"}}};
};
template <>
struct EnumNames<inspect::Alternative> {
  static constexpr std::array<std::pair<inspect::Alternative, std::string_view>, 3> names{
      {{inspect::Alternative::greater, "greater"},
       {inspect::Alternative::less, "less"},
       {inspect::Alternative::two_sided, "two-sided"}}};
};

}  // namespace dikkat
