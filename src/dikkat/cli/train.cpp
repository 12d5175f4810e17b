#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/run_settings.h"
#include "dikkat/cli/shell_word.h"
#include "dikkat/cli/signals.h"
#include "dikkat/cli/training_plan.h"
#include "dikkat/cli/training_view.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"
#include "dikkat/train/run_folder.h"
#include "dikkat/train/trainer.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kCurveWidth = 60;
constexpr std::size_t kCurveHeight = 8;

train::TrainRequest request_of(const Arguments& arguments) {
  train::TrainRequest request;
  const bool resume = arguments.has("resume");
  const std::optional<std::string> out = arguments.text("out");
  if (!out && (resume || !arguments.has("dry-run"))) {
    throw Error(ErrorKind::usage, "where should the run go?",
                {.key = "--out",
                 .hint = resume ? "add --out and the folder of the run to go on with"
                                : "add --out and the name of a folder to be made, like --out runs/first"});
  }
  if (out && out->empty()) refuse_value("out", "", "the name of a folder", "write it like --out runs/first");
  request.run = out.value_or("");
  request.files.assign(arguments.operands().begin(), arguments.operands().end());
  request.resume = resume;
  request.override_settings = arguments.has("override");
  if (request.files.empty() && !request.resume) {
    throw Error(ErrorKind::usage, "there is nothing to train on",
                {.key = "FILE", .hint = "name one or several text files, - for standard input, or a table of series"});
  }
  if (request.override_settings && !request.resume) {
    throw Error(ErrorKind::usage, "--override is for resuming a run",
                {.key = "override", .hint = "add --resume, or leave it out"});
  }
  if (out && !resume) train::require_absent(request.run);
  return request;
}

void set_settings(const Arguments& arguments, train::TrainRequest& request) {
  std::optional<SettingsBase> recorded;
  if (request.resume) {
    const train::RunRecord record = train::RunFolder::open(request.run, train::Access::read).record();
    recorded =
        SettingsBase{.spec = {record.model, record.settings, record.conduct}, .origin = "run " + request.run.string()};
  }
  request.spec = run_settings(arguments, recorded).spec;
}

// Stopped while the data was read: there is no run to tell of.
bool never_began(const train::Outcome& outcome) {
  return outcome.ending == train::Ending::interrupted && outcome.step == 0 && outcome.weights_sha256.empty();
}

Json as_json(const train::TrainRequest& request, const train::Outcome& outcome) {
  const auto given = [&](const std::optional<double>& value) { return value ? finite_or_null(*value) : Json(); };
  Json json = Json::object();
  json.set("run", request.run.string())
      .set("step", outcome.step)
      .set("loss_nats", never_began(outcome) ? Json() : finite_or_null(outcome.loss_nats))
      .set("validation_loss_nats", given(outcome.validation_loss_nats))
      .set("best_validation_loss_nats", given(outcome.best_validation_loss_nats))
      .set("best_step", outcome.best_validation_loss_nats ? Json(outcome.best_step) : Json());
  if (outcome.validation_accuracy) json.set("validation_accuracy", *outcome.validation_accuracy);
  json.set("weights_sha256", never_began(outcome) ? Json() : Json(outcome.weights_sha256));
  return json;
}

std::string how_it_ended(const train::Outcome& outcome, const TrainingView& view) {
  switch (outcome.ending) {
    case train::Ending::finished:
      if (view.steps_seen() == 0) return fmt::format("Nothing left to do: step {} is the last", outcome.step);
      return fmt::format("Trained {} steps in {}, up to step {}", view.steps_seen(), duration_text(view.seconds()),
                         outcome.step);
    case train::Ending::early_stop:
      return fmt::format("Stopped early at step {}: the validation loss no longer fell", outcome.step);
    case train::Ending::interrupted: return fmt::format("Stopped at step {}; the checkpoint is safe", outcome.step);
  }
  return {};
}

std::string what_next(const train::TrainRequest& request, const train::Outcome& outcome, const std::string& program) {
  const std::string dikkat = shell_word(program);
  const std::string run = shell_word(request.run.string());
  const std::string measure = "Measure:   " + dikkat + " eval " + run + "\n";
  if (outcome.ending == train::Ending::interrupted)
    return "Go on:     " + dikkat + " train --out " + run + " --resume\n";
  if (request.spec.model.task != models::Task::next_token) {
    return "Measure:   " + dikkat + " eval " + run + " FILE\n" + "Predict:   " + dikkat + " predict " + run + " FILE\n";
  }
  if (request.spec.model.direction == models::Direction::bidirectional) return measure;  // it has no next token
  return "Write:     " + dikkat + " generate " + run + " --tokens 300 --temperature 0.8\n" + measure;
}

std::string loss_name(models::Task task) {
  switch (task) {
    case models::Task::next_token: return "Loss in nats a token";
    case models::Task::classify: return "Loss in nats a series";
    case models::Task::regress: return "Squared error of standardised numbers";
  }
  return {};
}

// Columns for the curve itself, beside its scale.
std::size_t curve_width() {
  constexpr std::size_t kScale = 11;
  if (!is_terminal(Stream::output)) return kCurveWidth;
  const std::size_t width = columns(Stream::output);
  return width > kScale ? std::min(kCurveWidth, width - kScale) : 0;
}

std::string summary(const train::TrainRequest& request, const train::Outcome& outcome, const TrainingView& view,
                    const std::string& program) {
  if (never_began(outcome)) return "Stopped while reading the data; nothing was written\n";
  std::string out = drawn(view.curve(), curve_width(), kCurveHeight);
  if (!out.empty())
    out = loss_name(request.spec.model.task) + ": * training" +
          std::string(view.curve().validation.empty() ? "" : ", o validation") + "\n" + out + "\n";
  out += how_it_ended(outcome, view) + "\n";
  out += "Loss:      " + loss_text(outcome.loss_nats);
  if (outcome.validation_loss_nats) out += ", validation " + loss_text(*outcome.validation_loss_nats);
  if (outcome.validation_accuracy) out += fmt::format(", accuracy {:.4f}", *outcome.validation_accuracy);
  if (outcome.best_validation_loss_nats && outcome.best_step < outcome.step) {
    out += fmt::format("\nBest:      validation {} at step {}; --checkpoint best takes that one",
                       loss_text(*outcome.best_validation_loss_nats), outcome.best_step);
  }
  out += "\nRun:       " + text::escaped(request.run.string()) + "\nWeights:   sha256 " + outcome.weights_sha256 + "\n";
  return out + what_next(request, outcome, program);
}

int run_training(const train::TrainRequest& request, const Arguments& arguments, Output& output) {
  const Execution execution(arguments);
  const train::StopRequest& stop =
      stop_on_signals("dikkat: stopping after this step, with a checkpoint; a second signal stops at once\n");
  const auto samples = arguments.json() ? TrainingView::Samples::error : TrainingView::Samples::output;
  TrainingView view(request.spec.settings.steps, samples, output, execution.executor());
  train::Outcome outcome;
  try {
    outcome = train::train(request, execution.executor(), stop, view);
  } catch (...) {
    view.finish();
    throw;
  }
  view.finish();
  if (arguments.json()) {
    output.line(text_of(as_json(request, outcome)));
  } else {
    output.write(summary(request, outcome, view, arguments.program()));
  }
  return outcome.ending == train::Ending::interrupted ? exit_code_of_signal(outcome.signal) : 0;
}

// Somebody may well want prose out of a table, but hardly without knowing it.
void warn_of_tables(const train::TrainRequest& request) {
  if (request.spec.model.task != models::Task::next_token || request.resume) return;
  for (const std::filesystem::path& file : request.files) {
    const std::string kind = file.extension().string();
    if (kind != ".csv" && kind != ".tsv" && kind != ".ts") continue;
    write_error("dikkat: warning: " + harmless(file.string()) +
                " is read as prose; if it is a table of series, add --task classify or --task regress\n");
  }
}

int run_train(const Arguments& arguments, Output& output) {
  train::TrainRequest request = request_of(arguments);
  set_settings(arguments, request);
  warn_of_tables(request);
  if (!arguments.has("dry-run")) return run_training(request, arguments, output);
  const Execution execution(arguments);
  output.write(plan_text(make_plan(request, execution), arguments.json()));
  return 0;
}

}  // namespace

Command train_command() {
  std::vector<OptionGroup> groups{
      {"The run",
       {{.name = "out",
         .value = "RUN",
         .help = "folder of the run: new, or with --resume the one to go on with",
         .completes = Completes::folder,
         .required = true},
        {.name = "resume", .help = "go on exactly where the newest good checkpoint stands; needs no FILE"},
        {.name = "override", .help = "with --resume: go on although settings have changed"},
        {.name = "dry-run", .help = "print the plan (settings, parameters, memory, time) and write nothing"}}}};
  for (OptionGroup& group : setting_groups()) groups.push_back(std::move(group));
  return {
      .name = "train",
      .summary = "train a model on text or on series, or go on with a training",
      .description =
          "Trains on the first nine tenths of the texts, joined, and validates on the rest. The finished weights are "
          "the same to the last bit for every number of threads, straight or stopped and resumed.\n"
          "Texts are UTF-8: a byte order mark is dropped and CR LF becomes LF; --tokenizer byte takes any bytes as "
          "they "
          "are.\n"
          "With --task classify or regress FILE is a table of series (CSV, TSV or .ts): one row a series, its label in "
          "the column --label names or the first; or one step a row with --id-column and --time-column. "
          "--validation-share 0.1 cuts a tenth of each label's series off to validate on; the preset series cuts "
          "none.\n"
          "A checkpoint is saved every --save-every steps, at the end, and whenever an evaluation is the best so far. "
          "Ctrl-C stops after a durable checkpoint; --resume goes on from it.",
      .operands = {{.name = "FILE",
                    .help = "text files (- is standard input), or one table of series",
                    .least = 0,
                    .most = std::string::npos}},
      .groups = std::move(groups),
      .examples = {{"dikkat train data/atasozleri.txt --out runs/first --steps 600",
                    "a first model, in less than a minute"},
                   {"dikkat train --out runs/first --resume", "go on where it was stopped"},
                   {"dikkat train book.txt --out runs/wide --width 256 --heads 8 --position rotary", "another model"},
                   {"dikkat train book.txt --out runs/x --preset shakespeare --dry-run", "what would be done"}},
      .run = run_train};
}

}  // namespace dikkat::cli
