#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dikkat/cli/heads_look.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/text/wrap.h"

namespace dikkat::cli {
namespace {

using inspect::Finding;
using inspect::HeadReport;
using inspect::HeadScore;
using inspect::ScoreReport;

constexpr std::size_t kLabel = 11;
constexpr std::size_t kCell = 7;
constexpr std::size_t kTail = 16;  // where what is said of a row begins that has no room beside it
constexpr std::size_t kMostBar = 30;

// Of a deviation: so small that three decimals would say nothing.
std::string deviation_text(double value) {
  return value > 0 && value < 0.001 ? fmt::format("{:.0e}", value) : short_number(value);
}

char mark_of(Finding finding) {
  switch (finding) {
    case Finding::found: return '*';
    case Finding::alone: return '+';
    case Finding::chance: return '?';
    case Finding::none: return ' ';
  }
  return ' ';
}

std::string_view heading_of(HeadScore score) {
  switch (score) {
    case HeadScore::entropy: return "entr.";
    case HeadScore::separation: return "separ.";
    case HeadScore::previous: return "prev.";
    case HeadScore::first: return "first";
    case HeadScore::induction: return "induct";
    case HeadScore::same_character: return "same";
    default: return text_of(score);
  }
}

std::string cell(const std::string& text, char mark) { return fmt::format("{:>{}}{}", text, kCell - 1, mark); }

void add_line(std::string line, std::string& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

// The overview's columns [first, last) of the single scores: as many as a line holds.
class Overview {
 public:
  Overview(const HeadsLook& look, std::size_t first, std::size_t last) : look_(look), first_(first), last_(last) {}

  void add(std::string& out) const {
    const HeadReport& head_0 = look_.report.heads.front();
    add_row(
        "", head_0, [](const ScoreReport& s) { return std::string(heading_of(s.score)); }, no_mark, out);
    add_row(
        "uniform", head_0, [](const ScoreReport& s) { return short_number(s.uniform); }, no_mark, out);
    for (const HeadReport& head : look_.report.heads) {
      if (head.head == 0) {
        out += fmt::format("layer {}\n", head.layer);
        add_null_rows(head, out);
      }
      add_row(
          fmt::format("  head {}", head.head), head, [](const ScoreReport& s) { return short_number(s.value); },
          [](const ScoreReport& s) { return mark_of(s.finding); }, out);
    }
  }

 private:
  static char no_mark(const ScoreReport&) { return ' '; }

  void add_row(const std::string& label, const HeadReport& head,
               const std::function<std::string(const ScoreReport&)>& text,
               const std::function<char(const ScoreReport&)>& mark, std::string& out) const {
    std::string row = fmt::format("{:<{}}", label, kLabel);
    for (std::size_t s = first_; s < last_; ++s) row += cell(text(head.scores[s]), mark(head.scores[s]));
    add_line(row, out);
  }

  // Where heads of a layer share a null, it stands once for each layer.
  void add_null_rows(const HeadReport& head, std::string& out) const {
    if (look_.null != NullKind::untrained || inspect::group_of(look_.model) != inspect::NullGroup::layer) return;
    add_row(
        "untrained", head, [](const ScoreReport& s) { return short_number(s.test.null_mean); }, no_mark, out);
    add_row(
        "  +-", head, [](const ScoreReport& s) { return deviation_text(s.test.null_deviation); }, no_mark, out);
  }

  const HeadsLook& look_;
  std::size_t first_;
  std::size_t last_;
};

// The profile, last of the scores, has no column.
void add_overview(const HeadsLook& look, std::size_t columns, std::string& out) {
  const auto& scores = look.report.heads.front().scores;
  const auto single = static_cast<std::size_t>(
      std::ranges::count_if(scores, [](const ScoreReport& s) { return s.score != HeadScore::distance; }));
  const std::size_t fit = std::max<std::size_t>(1, columns > kLabel ? (columns - kLabel) / kCell : 0);
  for (std::size_t first = 0; first < single; first += fit) {
    Overview(look, first, std::min(first + fit, single)).add(out);
    out += "\n";
  }
  out += text::wrapped_to(fmt::format("* counts among all {} scores together, + counts for this score alone, ? chance",
                                      look.report.scores),
                          columns, 0) +
         "\n";
}

std::string subject_line(const HeadsLook& look) {
  return fmt::format("{}, step {}: {} x {} heads on {} windows of {} tokens of {}", look.run, grouped(look.step),
                     look.model.layers, look.model.heads, grouped(look.report.windows), grouped(look.length),
                     look.source);
}

std::string chance_line(const HeadsLook& look) {
  const std::string draws = grouped(look.report.draws);
  if (look.null == NullKind::shuffled) {
    return fmt::format("chance: {} other orders of the same tokens, {} windows", draws,
                       grouped(look.report.null_windows));
  }
  return fmt::format("chance: {} untrained models of this shape, {} of the windows{}", draws,
                     grouped(look.report.null_windows), look.cached ? " (kept from an earlier look)" : "");
}

std::vector<std::string> notes_on(const HeadsLook& look) {
  const inspect::HeadsReport& report = look.report;
  std::vector<std::string> notes;
  if (!report.can_find()) {
    const double needed = std::ceil(static_cast<double>(report.scores) / inspect::kHeadLevel) - 1;
    notes.push_back(
        fmt::format("{} draws cannot give a p below {}; to speak of all {} scores together takes --draws {:.0f}.",
                    report.draws, p_text(1 / static_cast<double>(report.draws + 1)), report.scores, needed));
  }
  if (report.null_windows < report.windows) {
    notes.push_back(
        fmt::format("p is about the {} windows of the untrained models, values about all {} (--null-windows).",
                    report.null_windows, report.windows));
  }
  if (report.windows >= inspect::kLeastWindows) {
    notes.emplace_back("Ranges are 95 % over windows of this kind of text.");
  } else {
    notes.push_back(fmt::format(
        "No ranges: they need {} windows, here are {}; {}.", inspect::kLeastWindows, report.windows,
        look.windows_wanted < inspect::kLeastWindows ? "ask for more with --windows"
                                                     : "give a longer text, or shorter windows by --length"));
  }
  return notes;
}

std::string verdict_words(Finding finding) {
  switch (finding) {
    case Finding::found: return "does this";
    case Finding::alone: return "alone";
    case Finding::chance: return "chance";
    case Finding::none: return "";
  }
  return "";
}

// "does this (3 to 4 back), 95 % 0.412 to 0.431"
std::string said_of(const HeadsLook& look, const ScoreReport& score) {
  std::vector<std::string> parts;
  if (const std::string verdict = verdict_words(score.finding); !verdict.empty()) {
    parts.push_back(score.finding == Finding::found && !score.is_large() ? verdict + ", a little" : verdict);
  }
  if (score.score == HeadScore::distance) parts.push_back(distance_text(bin_of(look, score)));
  if (score.interval) {
    parts.push_back(
        fmt::format("95 % {} to {}", short_number(score.interval->low), short_number(score.interval->high)));
  }
  return joined(parts, "; ");
}

void add_score(const HeadsLook& look, const ScoreReport& score, std::size_t columns, std::string& out) {
  const std::string line = fmt::format(
      "  {:<14}{:>7}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}", text_of(score.score), short_number(score.value),
      short_number(score.uniform), short_number(score.test.null_mean), deviation_text(score.test.null_deviation),
      short_number(score.test.z), p_text(score.test.raw_p), p_text(score.test.adjusted_p));
  const std::string said = said_of(look, score);
  if (said.empty() || line.size() + 2 + said.size() <= columns) {
    add_line(line + "  " + said, out);
  } else {
    add_line(line, out);
    out += text::wrapped_to(std::string(kTail, ' ') + said, columns, 0);
  }
}

void add_bin(const inspect::BinReport& bin, std::size_t columns, std::string& out) {
  if (std::isnan(bin.value)) return;
  const std::string line =
      fmt::format("  {:>14}{:>7}{:>8}{:>10}{:>8}  ", distance_text(bin.bin), short_number(bin.value),
                  short_number(bin.uniform), short_number(bin.null_mean), deviation_text(bin.null_deviation));
  const std::size_t most = columns > line.size() ? std::min(kMostBar, columns - line.size()) : 0;
  const auto bar = std::lround(static_cast<double>(most) * std::clamp(bin.value, 0.0, 1.0));
  add_line(line + std::string(static_cast<std::size_t>(bar), '#'), out);
}

void add_details(const HeadsLook& look, const HeadReport& head, std::size_t columns, std::string& out) {
  out +=
      text::wrapped_to(place_text(head) + (head.names.empty() ? "" : ": " + joined(head.names, " and ")), columns, 2);
  out += fmt::format("  {:<14}{:>7}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}\n", "score", "value", "uniform", null_name(look),
                     "+-", "z", "raw p", "p");
  for (const ScoreReport& score : head.scores) add_score(look, score, columns, out);
  out += "  profile\n";
  for (const inspect::BinReport& bin : head.profile) add_bin(bin, columns, out);
  out += "\n";
}

}  // namespace

std::string short_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "-" : value < 0 ? "-inf" : "inf";
  const double size = std::abs(value);
  if (size < 10) return fmt::format("{:.3f}", value);
  return size < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

std::string p_text(double p) { return p < 0.001 ? fmt::format("{:.1e}", p) : fmt::format("{:.3f}", p); }

std::string place_text(const HeadReport& head) { return fmt::format("layer {} head {}", head.layer, head.head); }

std::string null_name(const HeadsLook& look) { return look.null == NullKind::untrained ? "untrained" : "shuffled"; }

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

const inspect::DistanceBin& bin_of(const HeadsLook& look, const ScoreReport& score) {
  return look.report.columns.bins[score.column - look.report.columns.of(HeadScore::distance).first];
}

std::string distance_text(const inspect::DistanceBin& bin) {
  if (bin.first == 0 && bin.last == 0) return "itself";
  const bool back = bin.first > 0;
  const std::ptrdiff_t near = back ? bin.first : -bin.last;
  const std::ptrdiff_t far = back ? bin.last : -bin.first;
  const std::string range = near == far ? fmt::format("{}", near) : fmt::format("{} to {}", near, far);
  return range + (back ? " back" : " ahead");
}

std::string heads_text(const HeadsLook& look, const HeadsShown& choice, std::size_t columns) {
  std::string out =
      text::wrapped_to(subject_line(look), columns, 2) + text::wrapped_to(chance_line(look), columns, 2) + "\n";
  if (choice.any()) {
    for (const HeadReport& head : look.report.heads) {
      if (choice.holds(head)) add_details(look, head, columns, out);
    }
  } else {
    add_overview(look, columns, out);
    const std::string findings = findings_text(look, columns);
    if (!findings.empty()) out += findings + "\n";
  }
  for (const std::string& note : notes_on(look)) out += text::wrapped_to(note, columns, 0);
  return out;
}

}  // namespace dikkat::cli
