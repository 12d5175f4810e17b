// Is B better than A? What runs of both on several seeds allow to say, in words that have been simulated.
//
// The unit is a pair: one seed in both arms, its difference turned so that more is better for B. The interval of the
// mean difference holds the truth for new seeds on the same evaluation text with probability 1 - error / comparisons.
// In order:
//   guards                                  too few pairs; same computation; too few non-zero differences; no spread
//   -delta < L and U < delta                no difference that matters
//   L > 0                                   better
//   U < 0                                   worse
//   otherwise                               undecided, and about how many pairs would decide
// A bootstrap over few seeds is none of it: at 10 pairs its 95 % interval covers 90 %, at 6 some 85.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "dikkat/base/fields.h"
#include "dikkat/stats/sequential.h"
#include "dikkat/stats/summary.h"

namespace dikkat::stats {

inline constexpr std::size_t kMostComparisons = 1000;  // ten pairs can speak of so many, and of not many more

struct Question {
  double smallest_difference = 0;  // that matters, delta, in the scores' unit; > 0
  Looks looks = Looks::any;
  std::size_t comparisons = 1;  // K arms against one baseline share the error; at most kMostComparisons
  double error = 0.05;

  [[nodiscard]] double error_of_one() const { return error / static_cast<double>(comparisons); }
};

enum class Answer : std::uint8_t {
  better,
  worse,
  no_difference,
  undecided,
  too_few_pairs,
  too_few_nonzero,
  same_computation
};

inline constexpr std::size_t kLeastNonzero = 6;
// Runs of each side, where seeds do not pair.
inline constexpr std::size_t kLeastUnpaired = 6;

// Pairs in all, for a next sample with the spread of this one; at most kMostPairs.
inline constexpr std::size_t kMostPairs = 1'000'000'000;
struct PairsNeeded {
  std::size_t better = 0;                   // "better" with probability 80 % if the truth is delta
  std::size_t none = 0;                     // "no difference that matters" with about 80 % if there is none
  std::size_t sure = 0;                     // an answer whatever the truth
  std::size_t none_low = 0, none_high = 0;  // of `none`: 80 % interval, as the spread itself is uncertain
};

struct Verdict {
  Answer answer = Answer::undecided;
  std::size_t pairs = 0;                   // 0 where runs do not pair
  std::size_t won = 0, lost = 0;           // pairs in which B is ahead, behind; the rest is equal
  double mean = 0;                         // of the differences, or difference of the means
  double deviation = 0;                    // of the differences; of unpaired runs the standard error of `mean`
  Interval interval;                       // infinite before the first look
  bool spread = true;                      // false: all differences are one number, and no interval means anything
  double sign_flip_p = 1;                  // a second opinion that decides nothing; 1 for unpaired runs
  std::optional<PairsNeeded> needed = {};  // of an undecided answer
};

// Error{usage} unless the question is as it must be. Differences must be finite (Error{internal}).
[[nodiscard]] Verdict verdict(std::span<const double> differences, const Question& question);

// Welch's t on runs whose seeds do not pair; scores turned so that more is better. Error{usage} for looks `any`: that
// interval is known for pairs only.
[[nodiscard]] Verdict unpaired_verdict(std::span<const double> a, std::span<const double> b, const Question& question);

// The least N >= 10 with (T_N + shift) * deviation / sqrt(N) <= bound; kMostPairs where it is no less.
[[nodiscard]] std::size_t pairs_for(const Question& question, double deviation, double shift, double bound);

}  // namespace dikkat::stats

namespace dikkat {

template <>
struct EnumNames<stats::Answer> {
  static constexpr std::array<std::pair<stats::Answer, std::string_view>, 7> names{
      {{stats::Answer::better, "better"},
       {stats::Answer::worse, "worse"},
       {stats::Answer::no_difference, "no difference that matters"},
       {stats::Answer::undecided, "undecided"},
       {stats::Answer::too_few_pairs, "too few pairs"},
       {stats::Answer::too_few_nonzero, "too few non-zero differences"},
       {stats::Answer::same_computation, "same computation"}}};
};

}  // namespace dikkat
