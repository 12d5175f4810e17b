// What dikkat heads says in words.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "dikkat/cli/heads_look.h"
#include "dikkat/text/wrap.h"

namespace dikkat::cli {
namespace {

using inspect::Finding;
using inspect::HeadReport;
using inspect::HeadScore;
using inspect::ScoreReport;

constexpr std::size_t kMostListed = 12;
constexpr std::size_t kHang = 2;

// What a found score says of its head: "looks nearer" where it is large, "a little nearer" where it is not.
std::string words_of(const HeadsLook& look, const ScoreReport& score) {
  const bool more = score.test.z > 0;
  const std::string looks = score.is_large() ? "looks " : "a little ";
  const std::string degree = score.is_large() ? "" : "a little ";
  switch (score.score) {
    case HeadScore::centre: return looks + (more ? "farther back" : "nearer");
    case HeadScore::spread: return looks + (more ? "wider" : "narrower");
    case HeadScore::entropy: return score.is_large() ? "chooses sharply" : "a little sharper than chance";
    case HeadScore::separation: return degree + "unlike its siblings";
    case HeadScore::self: return degree + "more to itself";
    case HeadScore::previous: return degree + "more to the previous token";
    case HeadScore::first: return degree + "more to the first token";
    case HeadScore::induction: return degree + "more to what followed before";
    case HeadScore::same_character: return degree + "more to equal characters";
    case HeadScore::distance: return degree + "more at " + distance_text(bin_of(look, score));
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

// A name says it already.
bool is_said(const HeadsLook& look, const HeadReport& head, const ScoreReport& score) {
  if (score.score != HeadScore::distance) return false;
  const inspect::DistanceBin& bin = bin_of(look, score);
  return (head.is_called("self head") && bin.first == 0 && bin.last == 0) ||
         (head.is_called("previous-token head") && bin.first == 1 && bin.last == 1);
}

std::vector<const ScoreReport*> found_by_size(const HeadReport& head) {
  std::vector<const ScoreReport*> found;
  for (const ScoreReport& score : head.scores) {
    if (score.finding == Finding::found) found.push_back(&score);
  }
  std::ranges::stable_sort(found, std::greater(), &ScoreReport::size);
  return found;
}

// layer 1 head 0: induction head
//   more to what followed before: induction 0.946 (0.94 to 0.95), untrained 0.069, uniform 0.069, p 0.001
//   a little nearer (centre 5.320, untrained 6.133, uniform 6.500)
std::string found_text(const HeadsLook& look, const HeadReport& head, std::size_t columns) {
  std::string out = "  " + place_text(head);
  if (!head.names.empty()) out += ": " + joined(head.names, " and ");
  out = text::wrapped_to(out, columns, kHang);
  std::vector<std::string> little;
  for (const ScoreReport* score : found_by_size(head)) {
    if (is_said(look, head, *score)) continue;
    const std::string words = words_of(look, *score);
    if (score->is_large()) {
      out += text::wrapped_to("    " + words + ": " + figures_of(look, *score), columns, kHang);
    } else {
      little.push_back(fmt::format("{} ({} {}, {} {}, uniform {})", words, text_of(score->score),
                                   short_number(score->value), null_name(look), short_number(score->test.null_mean),
                                   short_number(score->uniform)));
    }
  }
  if (!little.empty()) out += text::wrapped_to("    " + joined(little, ", "), columns, kHang);
  return out;
}

std::string list_text(const HeadsLook& look, Finding finding, const std::string& title,
                      const std::function<std::string(const ScoreReport&)>& p, std::size_t columns) {
  std::vector<std::string> items;
  for (const HeadReport& head : look.report.heads) {
    for (const ScoreReport& score : head.scores) {
      if (score.finding != finding) continue;
      items.push_back(fmt::format("  {}: {} {}, {} {} ({})", place_text(head), text_of(score.score),
                                  short_number(score.value), null_name(look), short_number(score.test.null_mean),
                                  p(score)));
    }
  }
  if (items.empty()) return "";
  std::string out = text::wrapped_to(title, columns, 0);
  for (std::size_t i = 0; i < std::min(items.size(), kMostListed); ++i)
    out += text::wrapped_to(items[i], columns, kHang);
  if (items.size() > kMostListed) {
    out += text::wrapped_to(fmt::format("  and {} more; --json and --csv hold them all", items.size() - kMostListed),
                            columns, kHang);
  }
  return out;
}

std::vector<const HeadReport*> doing_by_size(const HeadsLook& look) {
  std::vector<const HeadReport*> doing;
  for (const HeadReport& head : look.report.heads) {
    if (head.does_something()) doing.push_back(&head);
  }
  std::ranges::stable_sort(doing, std::greater(), &HeadReport::size);
  return doing;
}

std::string summary_of(const HeadsLook& look, const std::vector<const HeadReport*>& doing) {
  const std::string level = p_text(look.report.level());
  const std::size_t scores = look.report.scores;
  if (doing.empty()) {
    if (!look.report.can_find()) return "";
    return fmt::format("No head does anything that chance would not (adjusted p <= {}, all {} scores together).", level,
                       scores);
  }
  const auto large = std::ranges::count_if(
      doing, [](const HeadReport* head) { return std::ranges::any_of(head->scores, &ScoreReport::is_large); });
  return fmt::format(
      "{} of {} heads do something that chance would not (adjusted p <= {}: 5 % over {} scores), {} of them something "
      "large. The largest first:",
      doing.size(), look.report.heads.size(), level, scores, large);
}

}  // namespace

std::string findings_text(const HeadsLook& look, std::size_t columns) {
  const std::vector<const HeadReport*> doing = doing_by_size(look);
  const std::string summary = summary_of(look, doing);
  std::string out = summary.empty() ? "" : text::wrapped_to(summary, columns, 0);
  for (const HeadReport* head : doing) out += found_text(look, *head, columns);
  out += list_text(
      look, Finding::alone, "Counts only for who asked for that one score (adjusted p <= 0.05):",
      [](const ScoreReport& s) { return "p " + p_text(s.test.adjusted_p); }, columns);
  return out +
         list_text(
             look, Finding::chance,
             fmt::format("Looks like something, and is what chance gives among {} heads:", look.report.heads.size()),
             [](const ScoreReport& s) {
               return fmt::format("p {} for this head alone, {} among all", p_text(s.test.raw_p),
                                  p_text(s.test.adjusted_p));
             },
             columns);
}

}  // namespace dikkat::cli
