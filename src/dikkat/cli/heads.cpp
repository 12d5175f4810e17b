#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/heads_look.h"
#include "dikkat/cli/new_file.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/signals.h"
#include "dikkat/cli/words.h"
#include "dikkat/inspect/head_null_file.h"
#include "dikkat/inspect/token_order.h"
#include "dikkat/inspect/windows.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kWindows = 50;
constexpr std::size_t kLeastNullWindows = 10;
constexpr double kNullWork = 2e13;       // multiplications, some minutes of two cores
constexpr std::size_t kLeastDraws = 19;  // 1 / (19 + 1) = 5 %
constexpr std::size_t kMostNullBytes = std::size_t{1} << 30U;
constexpr std::size_t kOrderDraws = 199;
constexpr double kOrderLevel = 0.01;

constexpr std::array<std::pair<data::Split, std::string_view>, 3> kParts{
    {{data::Split::train, "the training part of "},
     {data::Split::validation, "the validation part of "},
     {data::Split::all, ""}}};

std::string_view words_of(data::Split split) {
  for (const auto& [part, words] : kParts) {
    if (part == split) return words;
  }
  return "";
}

struct Wish {
  std::size_t windows = kWindows;
  std::size_t null_windows = kWindows;
  std::size_t length = 0;
  std::size_t draws = inspect::kNullDraws;
  std::uint64_t seed = 1;
  NullKind null = NullKind::untrained;
  HeadChoice choice = {};
};

std::optional<std::size_t> number_below(const Arguments& arguments, const std::string& option, std::size_t bound) {
  if (!arguments.has(option)) return std::nullopt;
  const auto number = arguments.value(option, std::size_t{0});
  if (number < bound) return number;
  refuse_value(option, std::to_string(number), fmt::format("a number from 0 to {}", bound - 1));
}

std::size_t length_of(const Arguments& arguments, const models::Config& model) {
  if (model.context < 2) {
    throw Error(ErrorKind::incompatible, "a model that sees one token at a time has no attention to look at",
                {.hint = "take a model with a longer context"});
  }
  const std::size_t length = arguments.value("length", model.context);
  if (length >= 2 && length <= model.context) return length;
  refuse_value("length", std::to_string(length),
               fmt::format("a number from 2 to the model's context, {}", model.context));
}

std::size_t draws_of(const Arguments& arguments, const models::Config& model, std::size_t columns) {
  const std::size_t draws = arguments.value("draws", inspect::kNullDraws);
  if (draws < kLeastDraws) {
    refuse_value("draws", std::to_string(draws),
                 fmt::format("a number of at least {}: fewer draws cannot show 5 %", kLeastDraws));
  }
  const std::size_t each = model.layers * model.heads * columns * sizeof(float);
  if (draws <= kMostNullBytes / each) return draws;
  throw Error(ErrorKind::limit,
              fmt::format("{} draws of {} heads need more than {}", draws, model.layers * model.heads,
                          size_text(kMostNullBytes)),
              {.key = "draws", .hint = fmt::format("give --draws at most {}", kMostNullBytes / each)});
}

// All of them where that takes no more than some minutes; for a large model as many as do, but ten. Hangs on sizes
// alone.
std::size_t affordable_windows(const Wish& wish, const models::Config& model) {
  const double tokens = 2 * static_cast<double>(wish.draws) * static_cast<double>(wish.length);
  const double fit = kNullWork / (tokens * static_cast<double>(models::parameter_count(model)));
  const std::size_t least = std::min(kLeastNullWindows, wish.windows);
  return fit >= static_cast<double>(wish.windows) ? wish.windows : std::max(least, static_cast<std::size_t>(fit));
}

Wish wish_of(const Arguments& arguments, const models::Config& model) {
  Wish wish;
  wish.windows = arguments.positive("windows", kWindows);
  wish.length = length_of(arguments, model);
  const inspect::HeadColumns columns(wish.length, {.direction = model.direction, .window = model.window});
  wish.draws = draws_of(arguments, model, columns.count());
  wish.null_windows = arguments.positive("null-windows", affordable_windows(wish, model));
  if (wish.null_windows > wish.windows) {
    refuse_value("null-windows", std::to_string(wish.null_windows),
                 fmt::format("at most as many as --windows, {}", wish.windows));
  }
  wish.seed = arguments.value("seed", wish.seed);
  wish.null = arguments.has("shuffled") ? NullKind::shuffled : NullKind::untrained;
  wish.choice = {.layer = number_below(arguments, "layer", model.layers),
                 .head = number_below(arguments, "head", model.heads)};
  return wish;
}

struct Subject {
  data::Corpus corpus;
  data::Split split = data::Split::all;
  std::string name;  // of the file

  [[nodiscard]] std::span<const text::Token> tokens() const { return corpus.part(split); }
};

data::Split split_of(const Arguments& arguments, const Wish& wish, const data::Corpus& corpus) {
  if (arguments.has("split")) {
    const std::string name = arguments.choice("split");
    return name == "train" ? data::Split::train : name == "validation" ? data::Split::validation : data::Split::all;
  }
  // A text the model was not trained on where there is enough of it.
  const std::size_t held = inspect::windows_held(corpus.part(data::Split::validation).size(), wish.length);
  return !arguments.has("file") && held >= wish.windows ? data::Split::validation : data::Split::all;
}

Subject subject_of(const Arguments& arguments, const train::LoadedRun& run, const Wish& wish) {
  Subject subject;
  if (arguments.has("file")) {
    const std::string file = *arguments.text("file");
    try {
      subject.corpus = train::corpus_of(run, {file}, unknown_policy(arguments));
    } catch (const Error& error) {
      throw with_skip_hint(error);
    }
    subject.name = file == "-" ? "standard input" : file;
  } else {
    subject.corpus = train::corpus_of(run);
    subject.name = run.folder.data_paths().front().string();
  }
  subject.split = split_of(arguments, wish, subject.corpus);
  return subject;
}

inspect::HeadWindows windows_of(const Subject& subject, const Wish& wish, std::size_t vocabulary) {
  try {
    return inspect::head_windows(
        subject.tokens(), {.length = wish.length, .count = wish.windows, .vocabulary = vocabulary, .seed = wish.seed});
  } catch (const Error& error) {
    ErrorPlace place = error.place();
    place.file = subject.name;
    if (subject.tokens().size() > 2) {
      place.hint = fmt::format("give a longer text, or --length at most {}", subject.tokens().size() - 1);
    }
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

// "120/999 draws, 23 s left", on a terminal that can take it back.
class DrawsView {
 public:
  explicit DrawsView(std::size_t draws) : draws_(draws) {}
  void show(std::size_t done) {
    const auto now = Clock::now();
    if (!shown_at_all() || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - began_).count();
    const double left = seconds / static_cast<double>(done) * static_cast<double>(draws_ - done);
    write_error(fmt::format("\r{}/{} untrained models, {} left\x1b[K", done, draws_, duration_text(left)));
    is_there_ = true;
  }
  void finish() {
    if (is_there_) write_error("\r\x1b[K");
    is_there_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static bool shown_at_all() { return is_terminal(Stream::error) && has_escapes(Stream::error); }

  std::size_t draws_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point last_ = began_;
  bool is_there_ = false;
};

struct FoundNull {
  std::optional<inspect::HeadNull> null = {};  // none: stopped
  bool cached = false;
};

class NullMaker {
 public:
  NullMaker(const train::LoadedRun& run, const Wish& wish, const inspect::HeadWindows& windows,
            const kernels::Executor& executor, const train::StopRequest& stop)
      : run_(run), wish_(wish), windows_(windows), executor_(executor), stop_(stop) {}

  [[nodiscard]] FoundNull make() const { return wish_.null == NullKind::untrained ? untrained() : shuffled(); }

 private:
  [[nodiscard]] FoundNull untrained() const {
    const models::Config& model = run_.model.config();
    const DType dtype = run_.model.parameters().dtype();
    const inspect::NullOptions options{.draws = wish_.draws, .seed = wish_.seed};
    const std::string key = inspect::null_key(model, dtype, windows_, options);
    const std::filesystem::path path = run_.folder.path() / "head-nulls" / key;
    inspect::StoredNull stored = inspect::read_null(path, key, shape());
    if (stored.null) return {std::move(stored.null), true};
    if (!stored.damage.empty()) warn(path.string() + " is damaged (" + stored.damage + "); it is made anew");
    FoundNull found{watched([&](const inspect::NullOptions& watched_options) {
      return inspect::untrained_null(model, dtype, windows_, watched_options, executor_);
    })};
    if (found.null) keep(path, key, *found.null);
    return found;
  }

  [[nodiscard]] FoundNull shuffled() const {
    const inspect::TokenOrder order = inspect::token_order(windows_, kOrderDraws, wish_.seed);
    if (order.p <= kOrderLevel) {
      throw Error(
          ErrorKind::incompatible,
          fmt::format("the order of this text tells something (neighbours share {:.2f} nats, {:.2f} when shuffled), "
                      "so shuffles of it are no chance to compare with",
                      order.nats, order.shuffled_nats),
          {.key = "--shuffled",
           .hint = "leave --shuffled out to compare with untrained models, or give a text whose order means "
                   "nothing"});
    }
    return {watched([&](const inspect::NullOptions& options) {
      return inspect::shuffled_null(run_.model, windows_, options, executor_);
    })};
  }

  template <class Make>
  [[nodiscard]] std::optional<inspect::HeadNull> watched(Make&& make) const {
    DrawsView view(wish_.draws);
    const auto progress = [&](std::size_t done) {
      view.show(done);
      return !stop_.asked();
    };
    std::optional<inspect::HeadNull> null =
        make(inspect::NullOptions{.draws = wish_.draws, .seed = wish_.seed, .progress = progress});
    view.finish();
    return null;
  }

  [[nodiscard]] inspect::HeadNull shape() const {
    const models::Config& model = run_.model.config();
    const inspect::HeadColumns columns(windows_.length, {.direction = model.direction, .window = model.window});
    return {
        .draws = wish_.draws, .layers = model.layers, .heads = model.heads, .columns = columns.count(), .values = {}};
  }

  static void warn(const std::string& what) { write_error("dikkat: warning: " + harmless(what) + "\n"); }

  // A folder that cannot be written to costs time at the next look, no more.
  static void keep(const std::filesystem::path& path, const std::string& key, const inspect::HeadNull& null) {
    try {
      inspect::write_null(path, key, null);
    } catch (const Error& error) {
      warn(std::string("the untrained models' scores are not kept: ") + error.what());
    }
  }

  const train::LoadedRun& run_;
  const Wish& wish_;
  const inspect::HeadWindows& windows_;
  const kernels::Executor& executor_;
  const train::StopRequest& stop_;
};

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

void say_skipped(std::size_t skipped) {
  if (skipped == 0) return;
  write_error("dikkat: left out " + grouped(skipped) + (skipped == 1 ? " character" : " characters") +
              " that the model has no token for\n");
}

HeadsLook look_of(const Arguments& arguments, const train::LoadedRun& run, const Wish& wish, const Subject& subject,
                  inspect::HeadsReport report, bool cached) {
  return {.run = arguments.operands().front(),
          .step = run.state.step,
          .model = run.model.config(),
          .source = std::string(words_of(subject.split)) + subject.name,
          .tokens = subject.tokens().size(),
          .skipped = subject.corpus.skipped,
          .length = wish.length,
          .windows_wanted = wish.windows,
          .seed = wish.seed,
          .null = wish.null,
          .cached = cached,
          .report = std::move(report)};
}

void tell(const HeadsLook& look, const Wish& wish, bool as_json, CsvTable& csv, Output& output) {
  if (csv) csv.write(heads_csv(look, wish.choice));
  if (as_json) {
    Json json = heads_json(look, wish.choice);
    if (csv) json.set("csv", csv.path());
    output.line(text_of(json));
  } else if (csv) {
    output.line(wrote_text(csv.path()));
  } else {
    output.write(harmless(heads_text(look, wish.choice)));
  }
}

int run_heads(const Arguments& arguments, Output& output) {
  if (arguments.has("split")) static_cast<void>(arguments.choice("split"));
  CsvTable csv(arguments);
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  const models::Config& model = run.model.config();
  const Wish wish = wish_of(arguments, model);
  const Subject subject = subject_of(arguments, run, wish);
  const inspect::HeadWindows windows = windows_of(subject, wish, model.vocabulary);
  say_skipped(subject.corpus.skipped);
  const train::StopRequest& stop = stop_on_signals("dikkat: stopping\n");

  inspect::Passes passes(run.model, execution.executor());
  const inspect::HeadValues values = inspect::score_heads(passes, windows);
  const inspect::HeadWindows of_null = windows.spread(wish.null_windows);
  const FoundNull found = NullMaker(run, wish, of_null, execution.executor(), stop).make();
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
              .fallback = std::to_string(kWindows)},
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
