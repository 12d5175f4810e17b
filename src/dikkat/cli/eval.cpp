#include <fmt/format.h>

#include <cmath>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/chosen_text.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/eval_series.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/series_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/train/evaluator.h"

namespace dikkat::cli {
namespace {

constexpr std::array<std::pair<data::Split, std::string_view>, 3> kSplits{
    {{data::Split::train, "train"}, {data::Split::validation, "validation"}, {data::Split::all, "all"}}};

data::Split split_named(std::string_view name) {
  for (const auto& [split, known] : kSplits) {
    if (known == name) return split;
  }
  return data::Split::all;
}

std::string_view name_of(data::Split split) {
  for (const auto& [known, name] : kSplits) {
    if (known == split) return name;
  }
  return "";
}

// A run's own text gives its validation part, any other the whole; --split overrides.
data::Split split_of(const Arguments& arguments, const train::LoadedRun& run, const data::Corpus& corpus) {
  if (arguments.has("split")) return split_named(arguments.choice("split"));
  return corpus.fingerprint == run.state.data_fingerprint ? data::Split::validation : data::Split::all;
}

data::Corpus corpus_of(const Arguments& arguments, const train::LoadedRun& run) {
  if (arguments.operands().size() < 2) return train::corpus_of(run);
  try {
    return train::corpus_of(run, {arguments.operands()[1]}, unknown_policy(arguments));
  } catch (const Error& error) {
    throw with_skip_hint(error);
  }
}

std::string name_of_text(const Arguments& arguments, const train::LoadedRun& run) {
  if (arguments.operands().size() < 2) return run.folder.data_paths().front().string();
  return arguments.operands()[1] == "-" ? "standard input" : arguments.operands()[1];
}

train::Evaluation evaluated(train::Evaluator& evaluator, const data::Corpus& corpus, data::Split split,
                            const std::string& name) {
  const train::StopRequest never;
  try {
    return *evaluator.evaluate(corpus.part(split), never);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::malformed) throw;
    ErrorPlace place = error.place();
    place.file = name;
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

Json as_json(const train::Evaluation& evaluation, const data::Corpus& corpus, data::Split split, std::uint64_t step) {
  const double loss = evaluation.loss_nats;
  return Json::object()
      .set("loss_nats", finite_or_null(loss))
      .set("tokens", evaluation.targets)
      .set("split", name_of(split))
      .set("bits_per_token", finite_or_null(loss / std::log(2.0)))
      .set("perplexity", finite_or_null(std::exp(loss)))
      .set("step", step)
      .set("skipped", corpus.skipped);
}

int run_eval(const Arguments& arguments, Output& output) {
  if (arguments.has("split")) static_cast<void>(arguments.choice("split"));
  if (train::task_of(arguments.operands().front()) != models::Task::next_token) return eval_series(arguments, output);
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  const data::Corpus corpus = corpus_of(arguments, run);
  const data::Split split = split_of(arguments, run, corpus);
  train::Evaluator evaluator(run.model, execution.executor());
  const train::Evaluation evaluation = evaluated(evaluator, corpus, split, name_of_text(arguments, run));
  const double loss = evaluation.loss_nats;
  say_skipped(corpus.skipped);
  if (arguments.json()) {
    output.line(text_of(as_json(evaluation, corpus, split, run.state.step)));
  } else {
    output.line(fmt::format("{}: {} nats a token ({:.3f} bits, perplexity {:.2f}) over {} tokens, step {}",
                            name_of(split), loss_text(loss), loss / std::log(2.0), std::exp(loss),
                            grouped(evaluation.targets), run.state.step));
  }
  return 0;
}

}  // namespace

Command eval_command() {
  return {
      .name = "eval",
      .summary = "measure how good a trained model is on a text or on series",
      .description =
          "Of a text: measures the mean loss over windows of the context that do not overlap; the last, shorter one "
          "counts. "
          "Without FILE, and for the training text itself, that is the validation part; for another text the whole.\n"
          "Of series with their labels: accuracy, macro F1 and confusion of classes beside what always saying the most "
          "frequent one would reach; of numbers the errors in their own unit.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder},
                   {.name = "FILE", .help = "a text (- is standard input), or series with labels", .least = 0}},
      .groups = {{"What to measure",
                  {{.name = "split",
                    .value = "PART",
                    .help = "which part of the data",
                    .choices = {"train", "validation", "all"}},
                   skip_unknown_option("FILE"),
                   label_option(),
                   checkpoint_option()}}},
      .examples = {{"dikkat eval runs/first", "how good the newest checkpoint is"},
                   {"dikkat eval runs/first other.txt --checkpoint best", "how well the best one knows another text"}},
      .run = run_eval};
}

}  // namespace dikkat::cli
