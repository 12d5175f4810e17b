#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/chosen_text.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/heads_chance.h"
#include "dikkat/cli/heads_look.h"
#include "dikkat/cli/heads_request.h"
#include "dikkat/cli/new_file.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/signals.h"
#include "dikkat/cli/words.h"

namespace dikkat::cli {
namespace {

// --csv FILE, refused before anything is computed where it cannot be made.
class CsvTable {
 public:
  explicit CsvTable(const Arguments& arguments) : path_(new_file(arguments, "csv")) {
    if (path_) file_.emplace(*path_);
  }
  explicit operator bool() const { return path_.has_value(); }
  [[nodiscard]] const std::string& path() const { return *path_; }
  void write(const std::string& table) {
    file_->write(table);
    file_->finish();
  }

 private:
  std::optional<std::string> path_;
  std::optional<FileReplacement> file_;
};

HeadsLook look_of(const Arguments& arguments, const train::LoadedRun& run, const HeadsWish& wish,
                  const HeadsSubject& subject, inspect::HeadsReport report, bool cached) {
  return {.run = arguments.operands().front(),
          .step = run.state.step,
          .model = run.model.config(),
          .source = subject.source(),
          .tokens = subject.tokens().size(),
          .skipped = subject.corpus.skipped,
          .length = wish.length,
          .windows_wanted = wish.windows,
          .seed = wish.seed,
          .null = wish.null,
          .cached = cached,
          .report = std::move(report)};
}

void tell(const HeadsLook& look, const HeadsWish& wish, bool as_json, CsvTable& csv, Output& output) {
  if (csv) csv.write(heads_csv(look, wish.choice));
  if (as_json) {
    Json json = heads_json(look, wish.choice);
    if (csv) json.set("csv", csv.path());
    output.line(text_of(json));
  } else if (csv) {
    output.line(wrote_text(csv.path()));
  } else {
    output.write(harmless(heads_text(look, wish.choice, columns(Stream::output))));
  }
}

int run_heads(const Arguments& arguments, Output& output) {
  if (arguments.has("split")) static_cast<void>(arguments.choice("split"));
  CsvTable csv(arguments);
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  const models::Config& model = run.model.config();
  const HeadsWish wish = heads_wish(arguments, model);
  const HeadsSubject subject = heads_subject(arguments, run, wish);
  const inspect::HeadWindows windows = windows_of(subject, wish, model.vocabulary);
  say_skipped(subject.corpus.skipped);
  const train::StopRequest& stop = stop_on_signals("dikkat: stopping\n");

  inspect::Passes passes(run.model, execution.executor());
  const auto began = std::chrono::steady_clock::now();
  const inspect::HeadValues values = inspect::score_heads(passes, windows, [&] { return stop.asked(); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (stop.asked()) return exit_code_of_signal(stop.signal.load());
  const inspect::HeadWindows of_null = windows.spread(wish.null_windows);
  const double share = static_cast<double>(of_null.count()) / static_cast<double>(windows.count());
  const FoundNull found = NullMaker(run, wish, of_null, seconds * share, execution.executor(), stop).make();
  if (!found.null) return exit_code_of_signal(stop.signal.load());

  const kernels::Mask mask{.direction = model.direction, .window = model.window};
  const auto group = wish.null == NullKind::shuffled ? inspect::NullGroup::head : inspect::group_of(model);
  const inspect::HeadTests tests(*found.null, inspect::HeadColumns(windows.length, mask), group);
  const inspect::HeadsReport report =
      inspect::report_heads(values, wish.null_windows, tests, wish.draws, inspect::uniform_head(windows, mask));
  tell(look_of(arguments, run, wish, subject, report, found.cached), wish, arguments.json(), csv, output);
  return 0;
}

}  // namespace

Command heads_command() {
  return {
      .name = "heads",
      .summary = "say which attention heads of a trained model do something, and which only look so",
      .description =
          "Scores every head on windows spread over a text: where its centre of mass lies (tokens back), its spread, "
          "its "
          "entropy, its distance to the nearest sibling, what it gives to itself, to the previous and the first token, "
          "to "
          "equal characters, to each distance, and, on repeated random tokens, to what followed the earlier occurrence "
          "of "
          "the present token (induction).\n"
          "Each number stands beside that of a head that looks everywhere alike (uniform), and against chance: "
          "untrained models of the same shape on the same windows. The largest of all heads of an untrained model is "
          "what "
          "a head must exceed (adjusted p), and ten scores are ten tests, so a head is said to do something at 5 % "
          "over "
          "their number. Untrained models are kept in RUN/head-nulls for the next look.\n"
          "--shuffled compares with other orders of the same tokens instead. That is chance only for a text whose "
          "order "
          "means nothing, such as dice; others are refused.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups =
          {{"Text",
            {{.name = "file",
              .value = "FILE",
              .help = "look at this text instead of the run's own; - is standard input",
              .completes = Completes::file},
             {.name = "split",
              .value = "PART",
              .help = "which part of it (default: of the run's own text validation, where it holds enough windows)",
              .choices = {"train", "validation", "all"}},
             skip_unknown_option("FILE"),
             {.name = "windows",
              .value = "N",
              .help = "how many windows to score",
              .fallback = std::to_string(kHeadsWindows)},
             {.name = "length", .value = "N", .help = "tokens in a window (default: the model's context)"},
             checkpoint_option()}},
           {"Chance",
            {{.name = "draws",
              .value = "N",
              .help = "how many untrained models, or shuffles",
              .fallback = std::to_string(inspect::kNullDraws)},
             {.name = "null-windows",
              .value = "N",
              .help = "how many of the windows they are scored on, which p is about (default: all; of a large model as "
                      "many as "
                      "some minutes allow, at least ten)"},
             {.name = "shuffled", .help = "compare with shuffles of the text instead of untrained models"},
             {.name = "seed", .value = "N", .help = "seed of windows, models and shuffles", .fallback = "1"}}},
           {"What to show",
            {{.name = "layer", .value = "N", .help = "every number of this layer's heads; the first is 0"},
             {.name = "head", .value = "N", .help = "every number of this head; the first is 0"},
             {.name = "csv", .value = "FILE", .help = "write every number as a table", .completes = Completes::file}}}},
      .examples = {{"dikkat heads runs/first", "which heads do something"},
                   {"dikkat heads runs/first --layer 1 --head 2", "everything about one head"},
                   {"dikkat heads runs/first --file other.txt --draws 199", "on another text, quicker"}},
      .run = run_heads};
}

}  // namespace dikkat::cli
