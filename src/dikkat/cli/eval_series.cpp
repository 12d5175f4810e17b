#include "dikkat/cli/eval_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/json.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/series_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"
#include "dikkat/train/series_evaluator.h"
#include "dikkat/train/series_parts.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kWidestConfusion = 12;  // classes, in the terminal

// What was measured on.
struct Measured {
  SeriesFile file;
  std::string split;
  train::SeriesOutputs outputs;
};

template <class T>
std::vector<T> of_rows(const std::vector<T>& values, const std::vector<std::size_t>& rows) {
  std::vector<T> picked;
  for (const std::size_t row : rows) picked.push_back(values[row]);
  return picked;
}

// The run's own file gives its validation part (the whole where there is none), any other the whole; --split overrides.
void choose_rows(const Arguments& arguments, const train::LoadedSeriesRun& run, Measured& measured) {
  const bool own = measured.file.table.fingerprint == run.state.data_fingerprint;
  const train::Settings& settings = run.state.settings;
  measured.split = arguments.has("split")                 ? arguments.choice("split")
                   : own && settings.validation_share > 0 ? "validation"
                                                          : "all";
  if (measured.split == "all") return;
  if (!own) {
    throw Error(ErrorKind::usage, "only the run's own file has parts", {.key = "--split", .hint = "leave it out"});
  }
  const train::SeriesParts parts = train::series_parts(measured.file.table, run.state.model.task, settings);
  measured.file.rows = measured.split == "train" ? parts.training : parts.validation;
  if (!measured.file.rows.empty()) return;
  throw Error(ErrorKind::usage, "the run was trained without a validation part",
              {.key = "--split", .hint = "measure on another file, or give --split all"});
}

Json as_json(const train::ClassScores& scores, const data::SeriesCoding& coding) {
  Json labels = Json::array();
  Json confusion = Json::array();
  for (std::size_t c = 0; c < coding.labels.size(); ++c) {
    labels.push(coding.labels[c]);
    Json row = Json::array();
    for (const std::size_t count : scores.confusion[c]) row.push(count);
    confusion.push(std::move(row));
  }
  return Json::object()
      .set("accuracy", scores.accuracy)
      .set("macro_f1", scores.macro_f1)
      .set("loss_nats", finite_or_null(scores.loss_nats))
      .set("series", scores.series)
      .set("right", scores.right)
      .set("most_frequent",
           Json::object().set("label", coding.labels[scores.most_frequent]).set("share", scores.most_frequent_share))
      .set("labels", std::move(labels))
      .set("confusion", std::move(confusion));
}

Json as_json(const train::NumberScores& scores) {
  return Json::object()
      .set("root_mean_square_error", finite_or_null(scores.root_mean_square_error))
      .set("mean_absolute_error", finite_or_null(scores.mean_absolute_error))
      .set("error_of_the_mean", finite_or_null(scores.error_of_the_mean))
      .set("r2", finite_or_null(scores.r2))
      .set("squared_error", finite_or_null(scores.loss))
      .set("series", scores.series);
}

std::string label_shown(const std::string& label, std::size_t width) {
  std::string shown = text::escaped(label);
  if (shown.size() > width) shown = shown.substr(0, width - 1) + "~";
  return shown;
}

// Rows: what they are; columns: what the model says.
std::string confusion_table(const train::ClassScores& scores, const data::SeriesCoding& coding) {
  constexpr std::size_t kLabel = 12;
  const std::size_t count = coding.labels.size();
  if (count > kWidestConfusion) {
    return fmt::format("The confusion of {} classes is in --json\n", count);
  }
  std::string out = fmt::format("{:>{}}   said to be\n{:<{}}", "", kLabel, "is", kLabel);
  for (const std::string& label : coding.labels) out += fmt::format(" {:>{}}", label_shown(label, kLabel), kLabel);
  out += "\n";
  for (std::size_t c = 0; c < count; ++c) {
    out += fmt::format("{:<{}}", label_shown(coding.labels[c], kLabel), kLabel);
    for (const std::size_t n : scores.confusion[c]) out += fmt::format(" {:>{}}", n, kLabel);
    out += "\n";
  }
  return out;
}

std::string as_text(const train::ClassScores& scores, const data::SeriesCoding& coding) {
  std::string out =
      fmt::format("accuracy {:.4f} ({} of {} series), macro F1 {:.4f}, loss {} nats\n", scores.accuracy,
                  grouped(scores.right), grouped(scores.series), scores.macro_f1, loss_text(scores.loss_nats));
  out += fmt::format("Always saying the most frequent class, {}, would reach {:.4f}\n",
                     text::escaped(coding.labels[scores.most_frequent]), scores.most_frequent_share);
  return out + confusion_table(scores, coding);
}

std::string as_text(const train::NumberScores& scores) {
  std::string out = fmt::format("root mean square error {:.6g}, mean absolute error {:.6g}",
                                scores.root_mean_square_error, scores.mean_absolute_error);
  if (std::isfinite(scores.r2)) out += fmt::format(", R2 {:.4f}", scores.r2);
  return out + fmt::format(", {} series\nAlways saying the training part's mean would err by {:.6g}\n",
                           grouped(scores.series), scores.error_of_the_mean);
}

std::string part_line(const Measured& measured, std::uint64_t step) {
  const std::string part = measured.split == "all" ? "all" : "the " + measured.split + " part,";
  return fmt::format("Step {}, {} {} of {} series: ", step, part, grouped(measured.file.rows.size()),
                     grouped(measured.file.table.count()));
}

template <class Scores, class... Coding>
void show(const Arguments& arguments, Output& output, const Measured& measured, std::uint64_t step,
          const Scores& scores, const Coding&... coding) {
  if (arguments.json()) {
    output.line(text_of(as_json(scores, coding...).set("split", measured.split).set("step", step)));
  } else {
    output.write(part_line(measured, step) + as_text(scores, coding...));
  }
}

}  // namespace

int eval_series(const Arguments& arguments, Output& output) {
  const Execution execution(arguments);
  const train::LoadedSeriesRun run = open_series_run(arguments);
  Measured measured{
      .file = arguments.operands().size() < 2 ? own_series(run) : series_file(arguments, run, data::Labels::required),
      .split = {},
      .outputs = {}};
  choose_rows(arguments, run, measured);
  train::SeriesEvaluator evaluator(run.model, execution.executor());
  const train::StopRequest never;
  measured.outputs = *evaluator.outputs(measured.file.coded, measured.file.rows, never);
  if (run.state.model.task == models::Task::classify) {
    const auto classes = of_rows(measured.file.coded.classes, measured.file.rows);
    show(arguments, output, measured, run.state.step,
         train::class_scores(measured.outputs, classes, run.coding.labels.size()), run.coding);
  } else {
    const auto numbers = of_rows(measured.file.coded.numbers, measured.file.rows);
    show(arguments, output, measured, run.state.step, train::number_scores(measured.outputs, numbers, run.coding));
  }
  return 0;
}

}  // namespace dikkat::cli
