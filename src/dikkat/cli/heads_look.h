// What dikkat heads found, and how it is told: in words and tables, as JSON, as CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/inspect/head_report.h"
#include "dikkat/models/config.h"

namespace dikkat::cli {

enum class NullKind : std::uint8_t { untrained, shuffled };

struct HeadsLook {
  std::string run;
  std::uint64_t step = 0;
  models::Config model = {};
  std::string source;       // "the validation part of text.txt"
  std::size_t tokens = 0;   // of it
  std::size_t skipped = 0;  // characters of the text left out
  std::size_t length = 0;   // of a window
  std::size_t windows_wanted = 0;
  std::uint64_t seed = 0;
  NullKind null = NullKind::untrained;
  bool cached = false;  // the null was there already
  inspect::HeadsReport report;
};

// A layer, a head of every layer, or one head; neither: all of them.
struct HeadsShown {
  std::optional<std::size_t> layer = {};
  std::optional<std::size_t> head = {};

  [[nodiscard]] bool any() const { return layer || head; }
  [[nodiscard]] bool holds(const inspect::HeadReport& report) const {
    return (!layer || *layer == report.layer) && (!head || *head == report.head);
  }
};

// The overview of all heads and what is to be said of them, the largest first; of chosen ones every number. Lines of at
// most `columns`, but for names of files that are longer, and 60 for tables.
[[nodiscard]] std::string heads_text(const HeadsLook& look, const HeadsShown& choice, std::size_t columns);
// The part of it that says in words what was found.
[[nodiscard]] std::string findings_text(const HeadsLook& look, std::size_t columns);
[[nodiscard]] Json heads_json(const HeadsLook& look, const HeadsShown& choice);
// One line for each head and score, and for each bin of the profile:
//   layer,head,names,score,first_distance,last_distance,value,low,high,uniform,null_mean,null_deviation,tested,z,raw_p,
//   adjusted_p,finding
[[nodiscard]] std::string heads_csv(const HeadsLook& look, const HeadsShown& choice);

// At most six characters, as many digits as fit and mean something; a p; "layer 1 head 0".
[[nodiscard]] std::string short_number(double value);
[[nodiscard]] std::string p_text(double p);
[[nodiscard]] std::string place_text(const inspect::HeadReport& head);
[[nodiscard]] std::string null_name(const HeadsLook& look);
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const char* separator);
// Of the profile's score.
[[nodiscard]] const inspect::DistanceBin& bin_of(const HeadsLook& look, const inspect::ScoreReport& score);
// "1 back", "3 to 4 back", "2 ahead", "itself".
[[nodiscard]] std::string distance_text(const inspect::DistanceBin& bin);

}  // namespace dikkat::cli
