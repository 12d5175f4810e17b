#include "dikkat/cli/ablate_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dikkat/cli/interventions.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/display_width.h"
#include "dikkat/text/wrap.h"

namespace dikkat::cli {
namespace {

using inspect::Ablation;
using inspect::Effect;
using inspect::Estimate;

constexpr std::size_t kColumn = 20;  // "+0.0123 ± 0.0045 **" and a blank: a table of heads is within 80

std::string stars(const Estimate& estimate) {
  if (!estimate.holm || *estimate.holm >= 0.05) return "";
  return *estimate.holm < 0.01 ? " **" : " *";
}

std::string padded(std::string text, std::size_t columns) {
  const std::size_t has = text::label_columns(text);
  text.append(columns > has ? columns - has : 1, ' ');
  return text;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string cell(const Effect& effect) {
  if (!effect.undefined.empty()) return "not defined";
  if (effect.change.none()) return "changed nothing";
  return estimate_text(effect.loss);
}

std::size_t name_columns(const Ablation& ablation) {
  std::size_t columns = 5;
  for (const Effect& effect : ablation.effects)
    columns = std::max(columns, text::label_columns(names_of(ablation, effect)));
  return columns + 2;
}

bool is_pair(const Ablation& ablation, const Effect& effect) {
  return effect.parts.size() == 2 && ablation.options.pairs == inspect::Pairs::all;
}

// Effects of the same parts stand side by side, one for each substitute.
std::string singles_text(const Ablation& ablation, std::size_t columns) {
  std::string out = padded("part", columns);
  for (const inspect::Substitute by : ablation.options.by) out += padded(std::string(text_of(by)), kColumn);
  out = trimmed(std::move(out));
  for (std::size_t e = 0; e < ablation.effects.size(); e += ablation.options.by.size()) {
    if (is_pair(ablation, ablation.effects[e])) continue;
    std::string line = padded(names_of(ablation, ablation.effects[e]), columns);
    for (std::size_t b = 0; b < ablation.options.by.size(); ++b) line += padded(cell(ablation.effects[e + b]), kColumn);
    out += trimmed(std::move(line));
  }
  return out;
}

std::string pairs_text(const Ablation& ablation, std::size_t columns) {
  std::string out;
  for (const Effect& effect : ablation.effects) {
    if (!is_pair(ablation, effect)) continue;
    if (out.empty()) {
      out = "\n" + text::prose("Pairs: both away at once; interaction: what that costs beyond the two alone.\n\n") +
            trimmed(padded("pair", columns) + padded("by", 10) + padded("both away", kColumn) + "interaction");
    }
    std::string line = padded(names_of(ablation, effect), columns) + padded(std::string(text_of(effect.by)), 10);
    line += padded(cell(effect), kColumn);
    if (effect.interaction) line += estimate_text(*effect.interaction);
    out += trimmed(std::move(line));
  }
  return out;
}

// What is to be said of an effect besides its figures; empty for nothing.
std::string note_of(const Effect& effect, std::size_t windows) {
  if (!effect.undefined.empty()) return effect.undefined;
  if (effect.change.none()) return "nothing changed, for what was put there is what was there";
  if (effect.loss.differing >= inspect::kLeastDiffering) return "";
  return fmt::format("the loss differs in {} of {} windows only, which is no test", effect.loss.differing, windows);
}

// One line for each note on the same parts: "head 0.1 by zero, mean: changed nothing ...".
std::string notes_text(const Ablation& ablation) {
  std::vector<std::array<std::string, 3>> notes;  // parts, substitutes, note
  for (const Effect& effect : ablation.effects) {
    const std::string note = note_of(effect, ablation.starts.size());
    if (note.empty()) continue;
    const std::string names = names_of(ablation, effect);
    const auto same = std::find_if(notes.begin(), notes.end(),
                                   [&](const auto& known) { return known[0] == names && known[2] == note; });
    if (same == notes.end()) {
      notes.push_back({names, std::string(text_of(effect.by)), note});
    } else {
      (*same)[1] += ", " + std::string(text_of(effect.by));
    }
  }
  std::string out;
  for (const auto& [names, by, note] : notes) {
    if (out.empty()) out = "\n";
    out += text::prose(fmt::format("{} by {}: {}.\n", names, by, note));
  }
  return out;
}

Json as_json(const Estimate& estimate) {
  return Json::object()
      .set("mean_nats", finite_or_null(estimate.mean))
      .set("interval95", cli::as_json(estimate.interval))
      .set("windows_that_differ", estimate.differing)
      .set("p", estimate.p ? Json(*estimate.p) : Json())
      .set("p_holm", estimate.holm ? Json(*estimate.holm) : Json());
}

Json list_of(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) list.push(finite_or_null(number));
  return list;
}

Json list_of(const std::vector<std::size_t>& numbers) {
  Json list = Json::array();
  for (const std::size_t number : numbers) list.push(number);
  return list;
}

Json as_json(const Ablation& ablation, const Effect& effect) {
  Json parts = Json::array();
  for (const std::size_t part : effect.parts) parts.push(ablation.parts[part].name);
  Json object = Json::object().set("parts", std::move(parts)).set("by", text_of(effect.by));
  if (!effect.undefined.empty()) return object.set("undefined", effect.undefined);
  object.set("loss", as_json(effect.loss))
      .set("interaction", effect.interaction ? as_json(*effect.interaction) : Json())
      .set("changed", Json::object()
                          .set("elements", effect.change.elements)
                          .set("changed", effect.change.changed)
                          .set("relative", finite_or_null(effect.change.relative())))
      .set("differences_nats", list_of(effect.differences));
  return object;
}

}  // namespace

std::string estimate_text(const Estimate& estimate) {
  if (!std::isfinite(estimate.mean)) return "not finite";
  const double half = (estimate.interval.high - estimate.interval.low) / 2;
  if (!std::isfinite(half)) return fmt::format("{:+.4f}", estimate.mean);
  if (nothing_measurable(estimate.mean, half)) return std::string(kNothingMeasurable);
  return fmt::format("{:+.4f} ± {:.4f}{}", estimate.mean, half, stars(estimate));
}

std::string names_of(const Ablation& ablation, const Effect& effect) {
  if (effect.parts.size() > 2 || (effect.parts.size() == 2 && ablation.options.pairs == inspect::Pairs::none)) {
    return "all of these";
  }
  std::string names = ablation.parts[effect.parts[0]].name;
  if (effect.parts.size() == 2) names += " + " + ablation.parts[effect.parts[1]].name;
  return names;
}

std::string ahead_text(std::size_t parts, const inspect::AblationOptions& options, std::size_t done, std::size_t passes,
                       double seconds) {
  const std::size_t pairs = options.pairs == inspect::Pairs::all ? parts * (parts - 1) / 2 : 0;
  const std::size_t by = options.by.size();
  std::string out = pairs == 0 ? fmt::format("{} {}", grouped(parts), parts == 1 ? "part" : "parts")
                               : fmt::format("{} {} of {} parts", grouped(pairs), pairs == 1 ? "pair" : "pairs", parts);
  out +=
      fmt::format(", by {} {}: {} passes over a window", by, by == 1 ? "substitute" : "substitutes", grouped(passes));
  if (done == 0 || done >= passes) return out;
  return out + fmt::format(", {} to go",
                           about_text(seconds * static_cast<double>(passes - done) / static_cast<double>(done)));
}

std::string ablation_text(const Ablation& ablation) {
  const std::size_t columns = name_columns(ablation);
  return singles_text(ablation, columns) + pairs_text(ablation, columns) + notes_text(ablation);
}

Json as_json(const Ablation& ablation) {
  Json effects = Json::array();
  for (const Effect& effect : ablation.effects) effects.push(as_json(ablation, effect));
  return Json::object()
      .set("windows", ablation.starts.size())
      .set("length", ablation.options.length)
      .set("reference_windows", ablation.reference_starts.size())
      .set("reference_apart", ablation.reference_apart)
      .set("starts", list_of(ablation.starts))
      .set("losses_nats", list_of(ablation.losses))
      .set("tests", ablation.tests)
      .set("effects", std::move(effects));
}

}  // namespace dikkat::cli
