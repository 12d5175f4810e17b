// What is to be said of each head: its scores with reference, null and interval, and the words that follow from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/inspect/head_null.h"
#include "dikkat/inspect/head_scores.h"
#include "dikkat/stats/summary.h"

namespace dikkat::inspect {

inline constexpr double kHeadLevel = 0.05;

// Whether there is more than chance, however little:
//   found   adjusted p <= 5 % / number of scores: said of all scores together, wrong for one untrained model in 20
//   alone   adjusted p <= 5 %: counts for whoever asked for this one score; with ten, a quarter of untrained models
//           have one
//   chance  raw p <= 5 % only: looks like something, and is what chance gives among so many heads
//   none    does not even look like something
enum class Finding : std::uint8_t { none, chance, alone, found };

struct ScoreReport {
  HeadScore score = HeadScore::centre;
  std::size_t column = 0;  // the profile: of the bin that stands out most
  double value = 0;        // mean over all windows
  std::optional<stats::Interval> interval =
      {};              // 95 % over windows (Student's t), where there are at least kLeastWindows
  double uniform = 0;  // what a uniform head has
  double tested = 0;   // mean over the windows of the null, which is what p is about
  HeadTest test = {};
  // How far it lies from the untrained mean m, in the score's own unit and in the direction that speaks of a head that
  // does something (below 0: the other one):
  //   self, previous, first, induction, same_character, distance, separation   value - m, a share of the attention
  //   entropy           (m - value) / m: the share of an untrained head's entropy that is gone
  //   centre, spread    |value - m| / (spread of a uniform head)
  double size = 0;
  Finding finding = Finding::none;

  [[nodiscard]] bool is_large() const;  // found, and size >= kLargeSize
};
inline constexpr double kLargeSize = 0.2;

// A bin of the profile; NaN where no query has such a key.
struct BinReport {
  DistanceBin bin = {};
  double value = 0;
  double uniform = 0;
  double null_mean = 0;
  double null_deviation = 0;
};

struct HeadReport {
  std::size_t layer = 0;
  std::size_t head = 0;
  std::vector<ScoreReport> scores;  // those that have a value, in the order of HeadScore
  std::vector<BinReport> profile;
  // What the head is called, the largest first: "induction head", "previous-token head", "first-token head", "self
  // head", "same-character head". A head is called so where that score is large and takes at least kNamedAttention of
  // its attention.
  std::vector<std::string> names;

  [[nodiscard]] const ScoreReport* of(HeadScore score) const;
  [[nodiscard]] bool does_something() const;  // some score is found
  [[nodiscard]] double size() const;          // the largest of what is found; 0 where nothing is
  [[nodiscard]] bool is_called(std::string_view name) const;
};
inline constexpr double kNamedAttention = 0.3;
// "induction head"; empty for scores that give no name.
[[nodiscard]] std::string_view name_of_head(HeadScore score);

struct HeadsReport {
  std::size_t windows = 0;
  std::size_t null_windows = 0;
  std::size_t draws = 0;
  std::size_t scores = 0;  // that have a value: how many tests there are
  HeadColumns columns;
  std::vector<HeadReport> heads;  // layer after layer

  [[nodiscard]] double level() const { return kHeadLevel / static_cast<double>(scores); }
  // Whether so many draws can find anything: 1 / (N + 1) <= level.
  [[nodiscard]] bool can_find() const;
};

// values over all windows; `tests` of a null on values.spread(null_windows); uniform over all windows.
[[nodiscard]] HeadsReport report_heads(const HeadValues& values, std::size_t null_windows, const HeadTests& tests,
                                       std::size_t draws, std::span<const double> uniform);

struct HeadsOptions {
  HeadWindowsOptions windows = {};  // length 0: the model's context; the vocabulary is the model's
  std::size_t null_windows = 10;
  NullOptions null = {};
};
// All of it, for a model and a text, against untrained models.
[[nodiscard]] HeadsReport look_at_heads(const models::LanguageModel& model, std::span<const text::Token> tokens,
                                        HeadsOptions options, const kernels::Executor& executor);

}  // namespace dikkat::inspect

namespace dikkat {

template <>
struct EnumNames<inspect::Finding> {
  static constexpr std::array<std::pair<inspect::Finding, std::string_view>, 4> names{
      {{inspect::Finding::none, "none"},
       {inspect::Finding::chance, "chance"},
       {inspect::Finding::alone, "alone"},
       {inspect::Finding::found, "found"}}};
};

}  // namespace dikkat
