#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dikkat/cli/heads_look.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/windows.h"

namespace dikkat::cli {
namespace {

using inspect::Finding;
using inspect::HeadReport;
using inspect::HeadScore;
using inspect::ScoreReport;

constexpr std::size_t kMostListed = 12;
constexpr std::size_t kLabel = 11;
constexpr std::size_t kCell = 8;

// At most six characters, as many digits as fit and mean something.
std::string short_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "-" : value < 0 ? "-inf" : "inf";
  const double size = std::abs(value);
  if (size < 10) return fmt::format("{:.3f}", value);
  return size < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

// Of a deviation: so small that three decimals would say nothing.
std::string deviation_text(double value) {
  return value > 0 && value < 0.001 ? fmt::format("{:.0e}", value) : short_number(value);
}

std::string p_text(double p) { return p < 0.001 ? fmt::format("{:.1e}", p) : fmt::format("{:.3f}", p); }

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
    case HeadScore::separation: return "separ.";
    case HeadScore::previous: return "prev.";
    case HeadScore::first: return "first";
    case HeadScore::induction: return "induct.";
    case HeadScore::same_character: return "same";
    default: return text_of(score);
  }
}

std::string place_text(const HeadReport& head) { return fmt::format("layer {} head {}", head.layer, head.head); }
std::string null_name(const HeadsLook& look) { return look.null == NullKind::untrained ? "untrained" : "shuffled"; }

const inspect::DistanceBin& bin_of(const HeadsLook& look, const ScoreReport& score) {
  return look.report.columns.bins[score.column - look.report.columns.of(HeadScore::distance).first];
}

// What a found score says of its head.
std::string words_of(const HeadsLook& look, const ScoreReport& score) {
  switch (score.score) {
    case HeadScore::centre: return score.test.z > 0 ? "looks farther back" : "looks nearer";
    case HeadScore::spread: return score.test.z > 0 ? "looks wider" : "looks narrower";
    case HeadScore::entropy: return "chooses sharply";
    case HeadScore::separation: return "unlike its siblings";
    case HeadScore::self: return "more to itself";
    case HeadScore::previous: return "more to the previous token";
    case HeadScore::first: return "more to the first token";
    case HeadScore::induction: return "more to what followed before";
    case HeadScore::same_character: return "more to equal characters";
    case HeadScore::distance: return "often " + distance_text(bin_of(look, score));
  }
  return "";
}

std::string figures_of(const HeadsLook& look, const ScoreReport& score) {
  std::string text = fmt::format("{} {}", text_of(score.score), short_number(score.value));
  if (score.interval) {
    text += fmt::format(" ({} to {})", short_number(score.interval->low), short_number(score.interval->high));
  }
  return text + fmt::format(", {} {}, uniform {}, p {}", null_name(look), short_number(score.test.null_mean),
                            short_number(score.uniform), p_text(score.test.adjusted_p));
}

std::string cell(const std::string& text, char mark) { return fmt::format("{:>{}}{}", text, kCell - 1, mark); }

void add_table_head(const HeadsLook& look, std::string& out) {
  out += std::string(kLabel, ' ');
  for (const ScoreReport& score : look.report.heads.front().scores) {
    if (score.score != HeadScore::distance) out += cell(std::string(heading_of(score.score)), ' ');
  }
  out += "\n";
}

void add_row(const std::string& label, const HeadReport& head,
             const std::function<std::string(const ScoreReport&)>& text,
             const std::function<char(const ScoreReport&)>& mark, std::string& out) {
  std::string row = fmt::format("{:<{}}", label, kLabel);
  for (const ScoreReport& score : head.scores) {
    if (score.score != HeadScore::distance) row += cell(text(score), mark(score));
  }
  row.erase(row.find_last_not_of(' ') + 1);
  out += row + "\n";
}

char no_mark(const ScoreReport&) { return ' '; }

// Where heads of a layer share a null, it stands once for each layer.
void add_null_rows(const HeadsLook& look, const HeadReport& head, std::string& out) {
  if (look.null != NullKind::untrained || inspect::group_of(look.model) != inspect::NullGroup::layer) return;
  add_row(
      "untrained", head, [](const ScoreReport& s) { return short_number(s.test.null_mean); }, no_mark, out);
  add_row(
      "  +-", head, [](const ScoreReport& s) { return deviation_text(s.test.null_deviation); }, no_mark, out);
}

void add_overview(const HeadsLook& look, std::string& out) {
  add_table_head(look, out);
  add_row(
      "uniform", look.report.heads.front(), [](const ScoreReport& s) { return short_number(s.uniform); }, no_mark, out);
  for (const HeadReport& head : look.report.heads) {
    if (head.head == 0) {
      out += fmt::format("layer {}\n", head.layer);
      add_null_rows(look, head, out);
    }
    add_row(
        fmt::format("  head {}", head.head), head, [](const ScoreReport& s) { return short_number(s.value); },
        [](const ScoreReport& s) { return mark_of(s.finding); }, out);
  }
  out += fmt::format("* counts among all {} scores together   + counts for this score alone   ? chance\n\n",
                     look.report.scores);
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// A name says it already.
bool is_said(const HeadsLook& look, const HeadReport& head, const ScoreReport& score) {
  if (score.score != HeadScore::distance) return head.is_called(inspect::name_of_head(score.score));
  const inspect::DistanceBin& bin = bin_of(look, score);
  return (head.is_called("self head") && bin.last == 0) ||
         (head.is_called("previous-token head") && bin.first == 1 && bin.last == 1);
}

// "layer 1 head 0: induction head. induction 0.946 (...), untrained 0.069, uniform 0.069, p 0.001. Also: ..."
void add_found(const HeadsLook& look, const HeadReport& head, std::string& out) {
  std::vector<std::string> figures;
  std::vector<std::string> also;
  for (const ScoreReport& score : head.scores) {
    if (score.finding != Finding::found) continue;
    if (head.is_called(inspect::name_of_head(score.score))) figures.push_back(figures_of(look, score));
    if (!is_said(look, head, score)) {
      also.push_back(words_of(look, score));
    }
  }
  out +=
      "  " + place_text(head) + ": " + (head.names.empty() ? "of no named kind" : joined(head.names, " and ")) + "\n";
  for (const std::string& line : figures) out += "      " + line + "\n";
  if (!also.empty()) out += "      " + joined(also, ", ") + "\n";
}

void add_list(const HeadsLook& look, Finding finding, const std::string& title,
              const std::function<std::string(const ScoreReport&)>& p, std::string& out) {
  std::vector<std::string> items;
  for (const HeadReport& head : look.report.heads) {
    for (const ScoreReport& score : head.scores) {
      if (score.finding != finding) continue;
      items.push_back(
          fmt::format("  {}: {} {} ({})", place_text(head), text_of(score.score), short_number(score.value), p(score)));
    }
  }
  if (items.empty()) return;
  out += title + "\n";
  for (std::size_t i = 0; i < std::min(items.size(), kMostListed); ++i) out += items[i] + "\n";
  if (items.size() > kMostListed) {
    out += fmt::format("  and {} more; --json and --csv hold them all\n", items.size() - kMostListed);
  }
}

void add_findings(const HeadsLook& look, std::string& out) {
  const auto& heads = look.report.heads;
  const auto doing = std::ranges::count_if(heads, [](const HeadReport& head) { return head.does_something(); });
  const std::string level = p_text(look.report.level());
  if (doing == 0 && look.report.can_find()) {
    out += fmt::format("No head does anything that chance would not (adjusted p <= {}, all {} scores together).\n",
                       level, look.report.scores);
  }
  if (doing > 0) {
    out += fmt::format("{} of {} heads do something (adjusted p <= {}: 5 % over {} scores):\n", doing, heads.size(),
                       level, look.report.scores);
  }
  for (const HeadReport& head : heads) {
    if (head.does_something()) add_found(look, head, out);
  }
  add_list(
      look, Finding::alone, "Counts only for who asked for that one score (adjusted p <= 0.05):",
      [](const ScoreReport& s) { return "p " + p_text(s.test.adjusted_p); }, out);
  add_list(
      look, Finding::chance,
      fmt::format("Looks like something, and is what chance gives among {} heads:", heads.size()),
      [](const ScoreReport& s) {
        return fmt::format("p {} for this head alone, {} among all", p_text(s.test.raw_p), p_text(s.test.adjusted_p));
      },
      out);
}

std::string subject_line(const HeadsLook& look) {
  return fmt::format("{}, step {}: {} x {} heads on {} windows of {} tokens of {}\n", look.run, grouped(look.step),
                     look.model.layers, look.model.heads, grouped(look.report.windows), grouped(look.length),
                     look.source);
}

std::string chance_line(const HeadsLook& look) {
  const std::string draws = grouped(look.report.draws);
  if (look.null == NullKind::shuffled) {
    return fmt::format("chance: {} other orders of the same tokens, {} windows\n\n", draws,
                       grouped(look.report.null_windows));
  }
  return fmt::format("chance: {} untrained models of this shape, {} of the windows{}\n\n", draws,
                     grouped(look.report.null_windows), look.cached ? " (kept from an earlier look)" : "");
}

void add_notes(const HeadsLook& look, std::string& out) {
  const inspect::HeadsReport& report = look.report;
  if (!report.can_find()) {
    const double needed = std::ceil(static_cast<double>(report.scores) / inspect::kHeadLevel) - 1;
    out += fmt::format("{} draws cannot give a p below {}; to speak of all {} scores together takes --draws {:.0f}.\n",
                       report.draws, p_text(1 / static_cast<double>(report.draws + 1)), report.scores, needed);
  }
  if (report.null_windows < report.windows) {
    out += fmt::format("p is about the {} windows of the untrained models, values about all {} (--null-windows).\n",
                       report.null_windows, report.windows);
  }
  if (report.windows >= inspect::kLeastWindows) {
    out += "Ranges in parentheses are 95 % over windows of this kind of text.\n";
  } else {
    out += fmt::format("No ranges: they need {} windows, here are {}; {}.\n", inspect::kLeastWindows, report.windows,
                       look.windows_wanted < inspect::kLeastWindows
                           ? "ask for more with --windows"
                           : "give a longer text, or shorter windows by --length");
  }
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

void add_details(const HeadsLook& look, const HeadReport& head, std::string& out) {
  out += place_text(head) + (head.names.empty() ? "" : ": " + joined(head.names, " and ")) + "\n";
  out += fmt::format("  {:<15}{:>8}  {:<17}{:>8}{:>11}{:>9}{:>9}{:>8}{:>8}\n", "score", "value", "95 % range",
                     "uniform", null_name(look), "+-", "z", "raw p", "p");
  for (const ScoreReport& score : head.scores) {
    const std::string range = score.interval
                                  ? short_number(score.interval->low) + " to " + short_number(score.interval->high)
                                  : std::string("-");
    std::string line =
        fmt::format("  {:<15}{:>8}  {:<17}{:>8}{:>11}{:>9}{:>9}{:>8}{:>8}  {}", text_of(score.score),
                    short_number(score.value), range, short_number(score.uniform), short_number(score.test.null_mean),
                    deviation_text(score.test.null_deviation), short_number(score.test.z), p_text(score.test.raw_p),
                    p_text(score.test.adjusted_p), verdict_words(score.finding));
    if (score.score == HeadScore::distance) line += " (" + distance_text(bin_of(look, score)) + ")";
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  out += "  profile\n";
  for (const inspect::BinReport& bin : head.profile) {
    if (std::isnan(bin.value)) continue;
    const auto bar = static_cast<std::size_t>(std::lround(30 * std::clamp(bin.value, 0.0, 1.0)));
    std::string line = fmt::format("  {:>15}{:>8}  {:<17}{:>8}{:>11}{:>9}  {}", distance_text(bin.bin),
                                   short_number(bin.value), "", short_number(bin.uniform), short_number(bin.null_mean),
                                   deviation_text(bin.null_deviation), std::string(bar, '#'));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  out += "\n";
}

}  // namespace

std::string distance_text(const inspect::DistanceBin& bin) {
  if (bin.first == 0 && bin.last == 0) return "itself";
  const bool back = bin.first > 0;
  const std::ptrdiff_t near = back ? bin.first : -bin.last;
  const std::ptrdiff_t far = back ? bin.last : -bin.first;
  const std::string range = near == far ? fmt::format("{}", near) : fmt::format("{} to {}", near, far);
  return range + (back ? " back" : " ahead");
}

std::string heads_text(const HeadsLook& look, const HeadChoice& choice) {
  std::string out = subject_line(look) + chance_line(look);
  if (choice.any()) {
    for (const HeadReport& head : look.report.heads) {
      if (choice.holds(head)) add_details(look, head, out);
    }
  } else {
    add_overview(look, out);
    add_findings(look, out);
    out += "\n";
  }
  add_notes(look, out);
  return out;
}

}  // namespace dikkat::cli
