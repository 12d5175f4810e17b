#include "dikkat/inspect/lens.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/file.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/chosen_text.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/interventions.h"
#include "dikkat/cli/lens_view.h"
#include "dikkat/cli/new_file.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/token_labels.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/text/utf8.h"
#include "dikkat/text/wrap.h"

namespace dikkat::cli {
namespace {

// What there is to know before the figures are read.
std::vector<std::string> notices(const models::Config& config) {
  std::vector<std::string> lines;
  if (config.direction == models::Direction::bidirectional) {
    lines.emplace_back(
        "The model looks both ways and sees the token it is asked for: its losses measure no prediction.");
  }
  if (config.placement == models::Placement::post) {
    lines.emplace_back("The model's norms stand after its sublayers: the stream is read as they leave it.");
  }
  if (config.residuals == models::Residuals::off) {
    lines.emplace_back("Without residual connections the stream is the last sublayer's output alone.");
  }
  return lines;
}

void say(const std::vector<std::string>& lines, Output& output) {
  for (const std::string& line : lines) output.write(text::prose(line));
  if (!lines.empty()) output.line("");
}

Json list_of(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push(line);
  return list;
}

int lens_of_text(const Arguments& arguments, const Execution& execution, const train::LoadedRun& run, Output& output) {
  const std::optional<std::string> csv = new_file(arguments, "csv");
  const ChosenText text = chosen_text(arguments, run, run.model.config().context);
  inspect::Passes passes(run.model, execution.executor());
  const LensSubject subject{.readings = inspect::lens(passes, text.tokens),
                            .tokens = text.tokens,
                            .tokenizer = *run.tokenizer,
                            .first = text.first};
  if (csv) replace_file(*csv, lens_csv(subject));
  if (arguments.json()) {
    output.line(text_of(lens_json(subject)
                            .set("text", text.where())
                            .set("skipped", text.skipped)
                            .set("notices", list_of(notices(run.model.config())))));
    return 0;
  }
  output.write(text::prose(fmt::format(
      "What the model would say next if it stopped there: {}. An asterisk: it is the true next token.", text.where())));
  say(notices(run.model.config()), output);
  const auto points = arguments.has("all-points") ? LensPoints::all : LensPoints::blocks;
  output.write(lens_table(subject, points, columns(Stream::output)));
  output.write("\n" + lens_summary(subject));
  if (csv) output.line("\n" + wrote_text(*csv));
  return 0;
}

int lens_of_windows(const Arguments& arguments, const Execution& execution, const train::LoadedRun& run,
                    Output& output) {
  for (const char* option : {"text", "from", "last", "csv"}) {
    if (!arguments.has(option)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--windows draws windows from a whole text; --{} is for one text", option),
                {.key = "--windows", .hint = "leave out one of them"});
  }
  const std::size_t length = arguments.positive("length", run.model.config().context);
  const std::size_t count = arguments.positive("windows", 1);
  const WindowsText text = windows_text(run, arguments.text("file"), unknown_policy(arguments));
  const std::vector<std::size_t> starts =
      inspect::windows_over(text.measured(), length, count, arguments.value("seed", std::uint64_t{0}));
  inspect::Passes passes(run.model, execution.executor());
  const auto losses = inspect::lens_losses(passes, text.measured(), starts, length);
  const auto points = inspect::lens_points(run.model.config());
  const auto few = few_windows(starts.size(), text, length, "--file ");
  if (arguments.json()) {
    output.line(text_of(lens_losses_json(points, losses)
                            .set("text", text.source)
                            .set("windows", starts.size())
                            .set("length", length)
                            .set("notices", list_of(notices(run.model.config())))
                            .set("warning", few ? Json(*few) : Json())));
    return 0;
  }
  output.write(text::prose(
      fmt::format("Loss of the next token, in nats, if the model stopped there: mean of {} {} of {} tokens of {}; "
                  "95 % interval.",
                  grouped(starts.size()), starts.size() == 1 ? "window" : "windows", length, measured_text(text))));
  say(notices(run.model.config()), output);
  output.write(lens_losses_table(points, losses));
  if (few) output.write("\n" + text::prose(*few));
  return 0;
}

int run_lens(const Arguments& arguments, Output& output) {
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  return arguments.has("windows") ? lens_of_windows(arguments, execution, run, output)
                                  : lens_of_text(arguments, execution, run, output);
}

}  // namespace

Command lens_command() {
  return {
      .name = "lens",
      .summary = "show what a trained model would say if it stopped after each layer",
      .description =
          "Reads the stream after the embedding and after each sublayer out by the model's own last norm and output "
          "layer (the logit lens): for every position the most probable next token and its probability, an asterisk "
          "where it is the one that follows; then the loss and the rank of the token that follows, layer by layer. "
          "The last layer is the model's own output, to the bit.\n"
          "With --windows N: the loss at each point over N windows drawn at random, with its interval; without --file "
          "of the validation part of the run's own text, which the model did not learn from. --length is the tokens of "
          "a window there: shorter ones give more of them.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups = {{"Text", text_options()},
                 {"What to show",
                  {{.name = "all-points", .help = "after attention too, not only after each block"},
                   {.name = "windows", .value = "N", .help = "instead: mean losses over N windows of the text"},
                   {.name = "seed", .value = "N", .help = "which windows", .fallback = "0"},
                   {.name = "csv", .value = "FILE", .help = "write a table", .completes = Completes::file},
                   checkpoint_option()}}},
      .examples = {{"dikkat lens runs/first --text \"Bir elin nesi var\"", "each layer's guess at every position"},
                   {"dikkat lens runs/first --windows 200", "how much each layer adds"}},
      .run = run_lens};
}

}  // namespace dikkat::cli
