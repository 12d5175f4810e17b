#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/run_settings.h"
#include "dikkat/cli/words.h"
#include "dikkat/train/check_training.h"

namespace dikkat::cli {
namespace {

using train::Finding;
using train::Findings;
using train::Severity;

std::size_t count_of(const Findings& findings, Severity severity) {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [&](const Finding& finding) { return finding.severity == severity; }));
}

std::string_view colour_of(Severity severity) {
  switch (severity) {
    case Severity::fine: return "\x1B[32m";
    case Severity::note: return "\x1B[36m";
    case Severity::warning: return "\x1B[33m";
    case Severity::trouble: return "\x1B[31m";
  }
  return {};
}

std::string text_of_finding(const Finding& finding, bool colour) {
  constexpr std::size_t kIndent = 22;
  const std::string_view word = text_of(finding.severity);
  std::string out = fmt::format("{}{:<9}{}{:<13}{}\n", colour ? colour_of(finding.severity) : "", word,
                                colour ? "\x1B[0m" : "", finding.check, harmless(finding.what));
  if (finding.severity == Severity::fine) return out;
  for (const std::string& line : {finding.where.empty() ? "" : "in " + finding.where, "-> " + finding.remedy}) {
    if (!line.empty()) out += std::string(kIndent, ' ') + harmless(line) + "\n";
  }
  return out;
}

Json as_json(const Finding& finding) {
  const bool trouble = finding.severity == Severity::trouble;
  return Json::object()
      .set("severity", text_of(finding.severity))
      .set("check", finding.check)
      .set("what", finding.what)
      .set("where", finding.where)
      .set("remedy", finding.remedy)
      .set("exit_code", trouble ? Json(exit_code(finding.kind)) : Json());
}

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count == 0 ? "no" : std::to_string(count), count == 1 ? one : several);
}

std::string summary(const Findings& findings, double seconds) {
  std::string line = counted(count_of(findings, Severity::trouble), "trouble", "troubles") + ", " +
                     counted(count_of(findings, Severity::warning), "warning", "warnings") + ", " +
                     counted(count_of(findings, Severity::note), "note", "notes") + " in " + duration_text(seconds);
  line.front() = line.front() == 'n' ? 'N' : line.front();
  return line;
}

double seconds_for_trial(const Arguments& arguments) {
  const double seconds = arguments.value("seconds", train::CheckOptions().seconds);
  if (seconds > 0) return seconds;
  refuse_value("seconds", *arguments.text("seconds"), "a number above 0", "write it like --seconds 5");
}

int run_check(const Arguments& arguments, Output& output) {
  const auto began = std::chrono::steady_clock::now();
  train::CheckOptions options{.seconds = seconds_for_trial(arguments)};
  const train::RunSpec spec = run_settings(arguments).spec;
  const Execution execution(arguments);
  const std::vector<std::filesystem::path> paths(arguments.operands().begin(), arguments.operands().end());
  const bool colour = !arguments.json() && has_colour(Stream::output);
  std::size_t said = 0;
  const auto say = [&](const Findings& found) {
    for (; said < found.size(); ++said) {
      output.write(arguments.json() ? text_of(as_json(found[said])) + "\n" : text_of_finding(found[said], colour));
    }
    output.flush();
  };
  options.before_trial = say;
  const Findings findings = train::check_training(spec, paths, execution.executor(), options);
  say(findings);
  if (!arguments.json()) {
    output.line(summary(findings, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()));
  }
  const Finding* trouble = train::first_trouble(findings);
  return trouble == nullptr ? 0 : exit_code(trouble->kind);
}

}  // namespace

Command check_command() {
  std::vector<OptionGroup> groups{{"The check",
                                   {{.name = "seconds",
                                     .value = "X",
                                     .help = "time for trying the model; a large one needs more",
                                     .fallback = std::string(text_of(train::CheckOptions().seconds))}}}};
  for (OptionGroup& group : setting_groups()) groups.push_back(std::move(group));
  return {
      .name = "check",
      .summary = "look for what would stop or spoil a training, before it",
      .description =
          "Takes what train takes, without --out, and writes nothing. Looks at the data: of texts encoding, line ends, "
          "size of the parts against the context, characters of the validation part only, passages that stand in both "
          "parts; of series (--task classify or regress) missing values, classes that are alone, absent from the "
          "validation part or far from even, constant channels, values far from all others, series that stand in both "
          "parts. Then tries the very model that would be trained: the loss before the first step, memory and time, "
          "whether it learns one batch by heart, and its gradients against differences of the loss in double.\n"
          "Every finding is fine, a note, a warning or a trouble, with its place and its remedy. With --json each is "
          "a row. The exit code is 0 without trouble, warnings or not; otherwise that of the first trouble, as train "
          "would give it: 3 for the data, 5 for a model that does not learn, 6 for memory.",
      .operands = {{.name = "FILE",
                    .help = "text files (- is standard input), or one table of series",
                    .most = std::string::npos}},
      .groups = std::move(groups),
      .examples = {{"dikkat check book.txt", "is this text fit to be trained on?"},
                   {"dikkat check days.csv --task classify --preset series", "are these series?"},
                   {"dikkat check book.txt --config settings.toml --seconds 20", "with these settings, more closely"}},
      .run = run_check};
}

}  // namespace dikkat::cli
