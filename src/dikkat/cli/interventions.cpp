#include "dikkat/cli/interventions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dikkat/cli/open_run.h"
#include "dikkat/cli/shell_word.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

using inspect::Part;

std::string dashed(std::string_view option) { return "--" + std::string(option); }

// The part a word of the option means, its refusal with the option's name.
template <class Named>
Part part_of(std::string_view option, std::string_view word, const models::Config& config, Named&& named) {
  try {
    return named(config, word);
  } catch (const Error& error) {
    ErrorPlace place = error.place();
    place.key = dashed(option);
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

template <class Named, class All>
void add_parts(const Arguments& arguments, std::string_view option, const models::Config& config, Named&& named,
               All&& all, std::vector<Part>& parts) {
  const std::optional<std::string> list = arguments.text(option);
  if (!list) return;
  const auto add = [&](Part part) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
  };
  if (*list == "all") {
    for (Part& part : all(config)) add(std::move(part));
    return;
  }
  for (const std::string& word : words_of_list(option, *list)) add(part_of(option, word, config, named));
}

std::size_t number_below(std::string_view option, std::string_view word, std::size_t bound) {
  const std::optional<std::uint64_t> number = count_from(word);
  if (!number) refuse_value(option, word, "a list of whole numbers and ranges", "write it like 0,3-7");
  if (*number >= bound) {
    refuse_value(option, word, fmt::format("numbers below {}", bound), fmt::format("the last is {}", bound - 1));
  }
  return static_cast<std::size_t>(*number);
}

data::Corpus corpus_of_file(const train::LoadedRun& run, const std::string& file, text::UnknownPolicy unknown) {
  try {
    return train::corpus_of(run, {file}, unknown);
  } catch (const Error& error) {
    throw with_skip_hint(error);
  }
}

}  // namespace

std::vector<std::string> words_of_list(std::string_view option, std::string_view list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    if (comma == begin) refuse_value(option, list, "a list with something between its commas");
    words.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

std::vector<std::size_t> numbers_of_list(std::string_view option, std::string_view list, std::size_t bound) {
  std::set<std::size_t> numbers;
  for (const std::string& word : words_of_list(option, list)) {
    const std::size_t dash = word.find('-');
    if (dash == std::string::npos) {
      numbers.insert(number_below(option, word, bound));
      continue;
    }
    const std::size_t first = number_below(option, word.substr(0, dash), bound);
    const std::size_t last = number_below(option, word.substr(dash + 1), bound);
    if (first > last) refuse_value(option, word, "ranges that ascend", fmt::format("write it like {}-{}", last, first));
    for (std::size_t number = first; number <= last; ++number) numbers.insert(number);
  }
  return {numbers.begin(), numbers.end()};
}

std::vector<Option> part_options() {
  return {{.name = "heads", .value = "LIST", .help = "heads, as layer.head from 0: 0.1,1.3, or all"},
          {.name = "blocks",
           .value = "LIST",
           .help = "whole blocks or one side of them: 0,1.attention,2.mlp, or all (blocks)"},
          {.name = "residuals", .value = "LIST", .help = "residual connections: 0.attention,1.mlp, or all"},
          {.name = "paths", .value = "LIST", .help = "activations by path: blocks.1.mlp.post,final_norm"}};
}

std::vector<Part> named_parts(const Arguments& arguments, const models::Config& config) {
  std::vector<Part> parts;
  add_parts(arguments, "heads", config, inspect::head_named, inspect::all_heads, parts);
  add_parts(arguments, "blocks", config, inspect::block_named, inspect::all_blocks, parts);
  add_parts(arguments, "residuals", config, inspect::skip_named, inspect::all_skips, parts);
  const auto all_paths = [](const models::Config& of) {
    std::vector<Part> all;
    for (const std::string& path : inspect::activation_paths(of)) all.push_back(inspect::activation_named(of, path));
    return all;
  };
  add_parts(arguments, "paths", config, inspect::activation_named, all_paths, parts);
  return parts;
}

std::vector<Option> windows_text_options() {
  return {{.name = "file",
           .value = "FILE",
           .help = "a text (default: the validation part of the run's own); - is standard input",
           .completes = Completes::file},
          skip_unknown_option("the text")};
}

WindowsText windows_text(const train::LoadedRun& run, const std::optional<std::string>& file,
                         text::UnknownPolicy unknown) {
  if (file) {
    return {.corpus = corpus_of_file(run, *file, unknown), .source = *file == "-" ? "standard input" : *file};
  }
  const std::vector<std::filesystem::path> files = run.folder.data_paths();
  return {.corpus = train::corpus_of(run),
          .source = "the validation part of " + files.front().string(),
          .own = true,
          .whole = files.size() == 1 ? files.front().string() : ""};
}

std::string measured_text(const WindowsText& text) {
  return text::escaped(text.source) + (text.own ? ", which the model did not learn from" : "");
}

std::optional<std::string> few_windows(std::size_t windows, const WindowsText& text, std::size_t length,
                                       std::string_view naming) {
  if (windows >= inspect::kLeastWindows) return std::nullopt;
  const std::size_t tokens = text.measured().size();
  std::string line =
      fmt::format("Only {} {}: intervals from fewer than {} hold 95 % only where the differences are near normal.",
                  windows, windows == 1 ? "window" : "windows", inspect::kLeastWindows);
  const std::size_t held = inspect::windows_held(tokens, length);
  if (held >= inspect::kLeastWindows) return line + fmt::format(" The text holds {}: give more --windows.", held);
  const std::size_t shorter = tokens == 0 ? 0 : (tokens - 1) / inspect::kLeastWindows;
  if (shorter >= 2) line += fmt::format(" Shorter windows: --length {} gives {}.", shorter, inspect::kLeastWindows);
  if (!text.own || text.whole.empty()) return line + " A longer text gives more too.";
  return line +
         fmt::format(" With {}{} all of the text is measured, what the model learned from included ({} windows).",
                     naming, shell_word(text.whole), inspect::windows_held(text.corpus.tokens.size(), length));
}

bool nothing_measurable(double mean, double half) {
  constexpr double kShown = 0.00005;  // rounds to 0.0001
  return std::abs(mean) < kShown && half < kShown;
}

std::string mean_text(std::span<const double> numbers, Sign sign) {
  const double mean = stats::mean(numbers);
  if (!std::isfinite(mean)) return "not finite";
  std::string out = sign == Sign::always ? fmt::format("{:+.4f}", mean) : fmt::format("{:.4f}", mean);
  const stats::Interval interval = stats::t_interval(numbers);
  const double half = (interval.high - interval.low) / 2;
  if (sign == Sign::always && nothing_measurable(mean, half)) return std::string(kNothingMeasurable);
  return std::isfinite(half) ? out + fmt::format(" ± {:.4f}", half) : out;
}

Json as_json(const stats::Interval& interval) {
  return Json::array().push(finite_or_null(interval.low)).push(finite_or_null(interval.high));
}

}  // namespace dikkat::cli
