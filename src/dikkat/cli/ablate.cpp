#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "dikkat/cli/ablate_view.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/interventions.h"
#include "dikkat/cli/made_run.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/signals.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/ablation.h"
#include "dikkat/inspect/ablation_prune.h"
#include "dikkat/text/utf8.h"
#include "dikkat/text/wrap.h"
#include "dikkat/train/run_folder.h"

namespace dikkat::cli {
namespace {

using inspect::Substitute;

// Told apart from everything named: nothing named means all heads.
std::vector<inspect::Part> parts_of(const Arguments& arguments, const models::Config& config) {
  std::vector<inspect::Part> parts = named_parts(arguments, config);
  if (arguments.has("positions")) parts.push_back(inspect::positions_of(config));
  return parts.empty() ? inspect::all_heads(config) : parts;
}

inspect::AblationOptions options_of(const Arguments& arguments, const models::Config& config) {
  inspect::AblationOptions options;
  if (arguments.has("by") && arguments.choice("by") != "all") {
    options.by = {*enum_named<Substitute>(arguments.choice("by"))};
  }
  options.windows = arguments.positive("windows", options.windows);
  options.references = options.windows;
  options.length = arguments.positive("length", config.context);
  options.seed = arguments.value("seed", options.seed);
  if (arguments.has("pairs")) options.pairs = inspect::Pairs::all;
  if (arguments.has("together") || arguments.has("keep")) options.together = inspect::Together::yes;
  if (const auto list = arguments.text("at")) options.positions = numbers_of_list("at", *list, options.length);
  return options;
}

// What --keep asks for can be made, before anything is measured.
void check_kept(const Arguments& arguments) {
  if (!arguments.has("keep")) return;
  if (arguments.has("at")) {
    throw Error(ErrorKind::usage, "weights act at every position: --keep and --at do not go together",
                {.key = "--keep", .hint = "leave out one of them"});
  }
  try {
    train::require_absent(*arguments.text("keep"));
  } catch (const Error& error) {
    ErrorPlace place = error.place();
    place.hint = "choose another name for --keep";
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

// On standard error, where it takes its time: once how much is ahead, then, where somebody watches, a line that is
// written over.
class Meter {
 public:
  Meter(const train::StopRequest& stop, std::size_t parts, const inspect::AblationOptions& options)
      : stop_(stop), parts_(parts), options_(options), shown_(is_terminal(Stream::error)) {}
  ~Meter() {
    if (last_ != 0) write_error("\r\033[K");
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  bool operator()(std::size_t done, std::size_t passes) {
    announce(done, passes);
    const std::size_t percent = passes == 0 ? 100 : done * 100 / passes;
    if (shown_ && percent != last_) write_error(fmt::format("\rdikkat: {} % of {} windows", percent, grouped(passes)));
    last_ = shown_ ? percent : 0;
    return !stop_.asked();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // After a second, that the time ahead is known; of what is done by then there is nothing to say.
  void announce(std::size_t done, std::size_t passes) {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    if (announced_ || seconds < 1 || done >= passes) return;
    announced_ = true;
    write_error(fmt::format("{}dikkat: {}\n", last_ != 0 ? "\r\033[K" : "",
                            ahead_text(parts_, options_, done, passes, seconds)));
  }

  const train::StopRequest& stop_;
  std::size_t parts_;
  const inspect::AblationOptions& options_;
  bool shown_;
  bool announced_ = false;
  Clock::time_point began_ = Clock::now();
  std::size_t last_ = 0;
};

std::string reference_text(const inspect::Ablation& ablation) {
  if (ablation.reference_starts.empty()) return "";
  const std::size_t count = ablation.reference_starts.size();
  return fmt::format("Mean and resample are of {} other {} of {}. ", grouped(count), count == 1 ? "window" : "windows",
                     ablation.reference_apart ? "the training part" : "the same text");
}

std::string head_text(const inspect::Ablation& ablation, const WindowsText& text) {
  const std::size_t windows = ablation.starts.size();
  std::string out = fmt::format(
      "What each part is worth: loss without it minus loss with it, in nats a token (more: it helps), mean of {} {} of "
      "{} tokens of {}; 95 % interval. ",
      grouped(windows), windows == 1 ? "window" : "windows", ablation.options.length, measured_text(text));
  out += reference_text(ablation);
  if (!ablation.options.positions.empty()) {
    const std::size_t places = ablation.options.positions.size();
    out += fmt::format("Taken away at {} {} of each window only. ", places, places == 1 ? "position" : "positions");
  }
  out += fmt::format("Loss with everything: {}. * p < 0.05, ** p < 0.01, corrected over {} {} here (Holm).\n\n",
                     loss_text(stats::mean(ablation.losses)), grouped(ablation.tests),
                     ablation.tests == 1 ? "test" : "tests");
  return text::prose(out);
}

struct Kept {
  std::string run;
  std::string sha256;
  inspect::Pruned pruned;
};

Kept keep(const std::string& run, const train::LoadedRun& like, const std::vector<inspect::Part>& parts) {
  Kept kept{.run = run, .sha256 = {}, .pruned = inspect::prune(like.model, parts)};
  kept.sha256 = make_run(run, like, like.model);
  return kept;
}

std::string as_text(const Kept& kept) {
  std::string out =
      fmt::format("\nMade {}: {} {} zero now, weights sha256 {}\n", text::escaped(kept.run),
                  grouped(kept.pruned.weights), kept.pruned.weights == 1 ? "weight is" : "weights are", kept.sha256);
  if (kept.pruned.grows.empty()) return out + "Training it on leaves them at zero.\n";
  out += "Training it on leaves them at zero, but for\n";
  for (const std::string& line : kept.pruned.grows) out += "  " + line + "\n";
  return out;
}

Json as_json(const Kept& kept) {
  Json grows = Json::array();
  for (const std::string& line : kept.pruned.grows) grows.push(line);
  return Json::object()
      .set("run", kept.run)
      .set("weights_sha256", kept.sha256)
      .set("weights_made_zero", kept.pruned.weights)
      .set("may_grow", std::move(grows));
}

void show(const inspect::Ablation& ablation, const std::optional<Kept>& kept, const WindowsText& text, bool json,
          Output& output) {
  const auto few = few_windows(ablation.starts.size(), text, ablation.options.length, "--file ");
  if (json) {
    Json object = cli::as_json(ablation);
    object.set("text", text.source).set("warning", few ? Json(*few) : Json());
    output.line(text_of(object.set("kept", kept ? as_json(*kept) : Json())));
    return;
  }
  output.write(head_text(ablation, text));
  output.write(ablation_text(ablation));
  if (few) output.write("\n" + text::prose(*few));
  if (kept) output.write(as_text(*kept));
}

int run_ablate(const Arguments& arguments, Output& output) {
  if (arguments.has("by")) static_cast<void>(arguments.choice("by"));
  check_kept(arguments);
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  const std::vector<inspect::Part> parts = parts_of(arguments, run.model.config());
  if (arguments.has("keep")) inspect::require_prunable(run.model.config(), parts);
  const inspect::AblationOptions options = options_of(arguments, run.model.config());
  const WindowsText text = windows_text(run, arguments.text("file"), unknown_policy(arguments));
  const train::StopRequest& stop = stop_on_signals("");
  std::optional<inspect::Ablation> ablation;
  {
    Meter meter(stop, parts.size(), options);
    const auto tell = [&](std::size_t done, std::size_t passes) { return meter(done, passes); };
    ablation =
        inspect::ablate(run.model, execution.executor(), {text.measured(), text.reference()}, parts, options, tell);
  }
  if (!ablation) return exit_code_of_signal(stop.signal.load());
  std::optional<Kept> kept;
  if (const auto to = arguments.text("keep")) kept = keep(*to, run, parts);
  show(*ablation, kept, text, arguments.json(), output);
  return 0;
}

}  // namespace

Command ablate_command() {
  const inspect::AblationOptions options;
  std::vector<Option> what = part_options();
  what.push_back({.name = "positions", .help = "what the model knows of positions"});
  what.push_back({.name = "at", .value = "LIST", .help = "only at these positions of the windows: 0,3-7"});
  std::vector<Option> how = windows_text_options();
  std::vector<Option> more = {
      {.name = "by",
       .value = "WHAT",
       .help = "what stands in place of a part: nothing, its mean over other windows, its value in another window",
       .fallback = "all",
       .choices = {"zero", "mean", "resample", "all"}},
      {.name = "pairs", .help = "each two of the parts as well, and what is more than the two alone"},
      {.name = "together", .help = "all the parts at once as well"},
      {.name = "windows", .value = "N", .help = "windows to measure", .fallback = text_of(options.windows)},
      {.name = "length", .value = "N", .help = "tokens of a window (default: the model's context)"},
      {.name = "seed", .value = "N", .help = "which windows, which others", .fallback = text_of(options.seed)},
      checkpoint_option()};
  how.insert(how.end(), more.begin(), more.end());
  return {
      .name = "ablate",
      .summary = "take parts of a trained model away and measure what each is worth",
      .description =
          "Runs the model over windows drawn at random from a text, as it is and without each part, and shows the "
          "difference of the loss with its 95 % interval over windows (paired, Student's t), significance corrected "
          "over everything tested. In place of the part stands nothing (zero), its mean, or its value in another "
          "window (resample); mean and resample are of windows that are not measured: of the training part, or of "
          "another part of FILE. Without any part named: all heads.\n"
          "Without FILE the validation part of the run's own text is measured: what a part is worth on a text the "
          "model "
          "has learned is not what it is worth on others. Where that part is short, shorter windows (--length) give "
          "more of them, and --file with the run's own text measures all of it.\n"
          "A part whose activation was already what is put there is said to have changed nothing.\n"
          "--keep writes the model without the parts as a new run: the weights that carry them are zero, its loss is "
          "what ablation by zero says, to the bit, and it can be measured, used and trained on.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups = {{"What to take away", std::move(what)},
                 {"How to measure", std::move(how)},
                 {"What to keep",
                  {{.name = "keep",
                    .value = "NEWRUN",
                    .help = "write the model without the parts as this run",
                    .completes = Completes::folder}}}},
      .examples = {{"dikkat ablate runs/first", "every head, by zero, mean and resample"},
                   {"dikkat ablate runs/first --blocks all --positions --pairs --by mean", "blocks and their pairs"},
                   {"dikkat ablate runs/first --heads 0.1,1.3 --keep runs/pruned", "prune two heads"}},
      .run = run_ablate};
}

}  // namespace dikkat::cli
