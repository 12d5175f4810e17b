#include "dikkat/inspect/order.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/interventions.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/series_run.h"
#include "dikkat/cli/suggest.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/text/utf8.h"
#include "dikkat/text/wrap.h"
#include "dikkat/train/series_parts.h"

namespace dikkat::cli {
namespace {

constexpr double kRounding = 1e-5;  // rounding moves a probability by less

double largest_of(const inspect::OrderTest& test) {
  return test.distances.empty() ? 0 : *std::max_element(test.distances.begin(), test.distances.end());
}

// `blind`: by its make, with nothing among what was shuffled that tells the order.
std::string verdict(bool blind, const inspect::OrderTest& test) {
  const double largest = largest_of(test);
  if (blind && largest == 0) return "By its make this model cannot tell orders apart: not one bit moved.\n";
  if (blind) {
    return fmt::format("By its make this model cannot tell orders apart; what moved ({:.1e} at most) is rounding.\n",
                       largest);
  }
  if (largest < kRounding) return "The order makes no difference that is more than rounding.\n";
  return "The order matters to this model.\n";
}

Json common_json(bool blind, const inspect::OrderTest& test) {
  return Json::object()
      .set("distance", Json::object()
                           .set("mean", finite_or_null(stats::mean(test.distances)))
                           .set("interval95", as_json(test.interval))
                           .set("largest", largest_of(test)))
      .set("other_answers", test.other_answers)
      .set("not_moved", test.unmoved)
      .set("blind_by_make", blind);
}

// Of a text.

std::string as_text(const inspect::OrderTest& test, const WindowsText& source) {
  const std::size_t windows = test.distances.size();
  std::string out = text::prose(fmt::format(
      "All tokens but the last in another order, positions kept: how far what the model says after the last one moves, "
      "mean of {} {} of {} tokens of {}; 95 % interval.\n\n",
      grouped(windows), windows == 1 ? "window" : "windows", test.length, measured_text(source)));
  out += text::prose(
      fmt::format("Distance of the two distributions: {}, at most {:.4f} (0: the same, 1: nothing in common)\n",
                  mean_text(test.distances), largest_of(test)));
  out += fmt::format("Loss of the token that follows, in nats: {}\n", mean_text(test.loss_changes, Sign::always));
  return out + fmt::format("Another most probable token in {} of {}; not moved at all: {}\n\n",
                           grouped(test.other_answers), grouped(windows), grouped(test.unmoved));
}

std::optional<std::string> named_file(const Arguments& arguments) {
  if (arguments.operands().size() < 2) return std::nullopt;
  return arguments.operands()[1];
}

int order_of_text(const Arguments& arguments, const inspect::OrderOptions& options, Output& output) {
  if (arguments.has("stay")) {
    throw Error(ErrorKind::usage, "a text has no channels", {.key = "--stay", .hint = "leave it out"});
  }
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  const WindowsText text = windows_text(run, named_file(arguments), unknown_policy(arguments));
  const bool blind = inspect::blind_to_order(run.model.config());
  const inspect::OrderTest test = inspect::order_test(run.model, execution.executor(), text.measured(), options);
  const auto few = few_windows(test.distances.size(), text, test.length, "dikkat order RUN ");
  if (arguments.json()) {
    output.line(text_of(common_json(blind, test)
                            .set("text", text.source)
                            .set("windows", test.distances.size())
                            .set("length", test.length)
                            .set("loss_change_nats", Json::object()
                                                         .set("mean", finite_or_null(stats::mean(test.loss_changes)))
                                                         .set("interval95", as_json(test.loss_interval)))
                            .set("warning", few ? Json(*few) : Json())));
    return 0;
  }
  output.write(as_text(test, text) + verdict(blind, test));
  if (few) output.write("\n" + text::prose(*few));
  return 0;
}

// Of series.

// "its channels are reading, step"; of a wide series the first ones.
std::string channels_text(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  std::string out = names.size() == 1 ? "its only channel is " : "its channels are ";
  for (std::size_t c = 0; c < std::min(kShown, names.size()); ++c)
    out += (c == 0 ? "" : ", ") + text::escaped(names[c]);
  return names.size() <= kShown ? out : out + fmt::format(" and {} more", names.size() - kShown);
}

std::vector<std::size_t> channels_that_stay(const Arguments& arguments, const data::SeriesCoding& coding) {
  std::vector<std::size_t> kept;
  const std::optional<std::string> list = arguments.text("stay");
  if (!list) return kept;
  for (const std::string& word : words_of_list("stay", *list)) {
    const auto found = std::find(coding.channel_names.begin(), coding.channel_names.end(), word);
    if (found == coding.channel_names.end()) {
      refuse_value("stay", word, "a channel of the series",
                   did_you_mean(word, coding.channel_names, "", channels_text(coding.channel_names)));
    }
    kept.push_back(static_cast<std::size_t>(found - coding.channel_names.begin()));
  }
  return kept;
}

data::CodedSeries of_rows(const data::CodedSeries& all, const std::vector<std::size_t>& rows) {
  data::CodedSeries picked{.channels = all.channels, .values = {}, .classes = {}, .numbers = {}};
  for (const std::size_t row : rows) {
    const auto value = [&](std::size_t step) {
      return all.values.begin() + static_cast<std::ptrdiff_t>(step * all.channels);
    };
    picked.values.insert(picked.values.end(), value(all.first_step[row]), value(all.first_step[row + 1]));
    picked.first_step.push_back(picked.first_step.back() + all.length(row));
  }
  return picked;
}

struct ChosenSeries {
  data::CodedSeries coded;
  std::string source;
};

// The named file, or what of its own file the run did not learn from; all of it where it learned from all.
ChosenSeries chosen_series(const Arguments& arguments, const train::LoadedSeriesRun& run) {
  if (named_file(arguments)) {
    SeriesFile file = series_file(arguments, run, data::Labels::if_there);
    return {std::move(file.coded), file.name};
  }
  const SeriesFile file = own_series(run);
  if (run.state.settings.validation_share <= 0) return {file.coded, file.name};
  const train::SeriesParts parts = train::series_parts(file.table, run.state.model.task, run.state.settings);
  return {of_rows(file.coded, parts.validation), "the validation part of " + file.name};
}

std::string as_text(const inspect::OrderTest& test, const std::string& source, bool numbers,
                    const std::optional<std::string>& stay) {
  const std::size_t count = test.distances.size();
  std::string out = text::prose(fmt::format(
      "The readings of each series in another order, positions kept{}: how far the model's {} moves, mean of {} series "
      "of {}; 95 % interval.\n\n",
      stay ? " (" + text::escaped(*stay) + " stay)" : "", numbers ? "number" : "probability", grouped(count),
      text::escaped(source)));
  out += fmt::format("Distance: {}{}, at most {:.4f}\n", mean_text(test.distances),
                     numbers ? " deviations of the training part" : " (0: the same, 1: another class for certain)",
                     largest_of(test));
  if (!numbers) out += fmt::format("Another class in {} of {}; ", grouped(test.other_answers), grouped(count));
  return out + fmt::format("{}ot moved at all: {}\n\n", numbers ? "N" : "n", grouped(test.unmoved));
}

std::optional<std::string> few_series(std::size_t count) {
  if (count >= inspect::kLeastWindows) return std::nullopt;
  return fmt::format(
      "Only {} series: intervals from fewer than {} hold 95 % only where the distances are near normal; name a FILE "
      "with more",
      count, inspect::kLeastWindows);
}

int order_of_series(const Arguments& arguments, const inspect::OrderOptions& options, Output& output) {
  for (const char* option : {"windows", "length", "skip-unknown"}) {
    if (!arguments.has(option)) continue;
    throw Error(ErrorKind::usage, fmt::format("--{} is for texts, and the run learned series", option),
                {.hint = "leave it out"});
  }
  const Execution execution(arguments);
  const train::LoadedSeriesRun run = open_series_run(arguments);
  const std::vector<std::size_t> kept = channels_that_stay(arguments, run.coding);
  const ChosenSeries series = chosen_series(arguments, run);
  const bool blind = kept.empty() && inspect::blind_to_order(run.model.config());
  const bool numbers = run.model.config().task == models::Task::regress;
  const inspect::OrderTest test =
      inspect::order_test(run.model, execution.executor(), series.coded, kept, options.seed);
  const auto few = few_series(test.distances.size());
  if (arguments.json()) {
    output.line(text_of(common_json(blind, test)
                            .set("file", series.source)
                            .set("series", test.distances.size())
                            .set("warning", few ? Json(*few) : Json())));
    return 0;
  }
  output.write(as_text(test, series.source, numbers, arguments.text("stay")) + verdict(blind, test));
  if (few) output.write("\n" + text::prose(*few + "."));
  return 0;
}

int run_order(const Arguments& arguments, Output& output) {
  inspect::OrderOptions options;
  options.windows = arguments.positive("windows", options.windows);
  options.length = arguments.has("length") ? arguments.positive("length", 1) : 0;
  options.seed = arguments.value("seed", options.seed);
  const bool text = train::task_of(arguments.operands().front()) == models::Task::next_token;
  return text ? order_of_text(arguments, options, output) : order_of_series(arguments, options, output);
}

}  // namespace

Command order_command() {
  const inspect::OrderOptions options;
  return {
      .name = "order",
      .summary = "test whether a trained model minds the order of what it reads",
      .description =
          "Of a text: in windows drawn at random every token but the last goes to another place, positions kept. Shows "
          "how far the distribution of the next token moves (half the sum of the changes of all probabilities) and by "
          "how much the loss of the token that follows rises, with 95 % intervals. A model without positions that "
          "looks both ways, or has one block only, cannot tell: it moves by rounding alone.\n"
          "Of series: the readings of each go to other places, channels named by --stay do not; shows how far the "
          "probabilities of the classes, or the number, move. Without blocks and positions, and pooled by "
          "attention-query, not one bit does.\n"
          "Without FILE: the validation part of what the run learned from, which the model has not seen. Where that "
          "is short, shorter windows (--length) give more of them; with the run's own text as FILE all of it is "
          "measured.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder},
                   {.name = "FILE", .help = "a text (- is standard input), or series", .least = 0}},
      .groups =
          {{"How to measure",
            {{.name = "windows", .value = "N", .help = "text: windows", .fallback = text_of(options.windows)},
             {.name = "length", .value = "N", .help = "text: tokens of a window, 3 or more (default: the context)"},
             skip_unknown_option("FILE"),
             {.name = "stay", .value = "LIST", .help = "series: channels that stay where they are, by name"},
             label_option(),
             {.name = "seed", .value = "N", .help = "which windows and orders", .fallback = text_of(options.seed)},
             checkpoint_option()}}},
      .examples = {{"dikkat order runs/first", "how much order matters on the validation part"}},
      .run = run_order};
}

}  // namespace dikkat::cli
