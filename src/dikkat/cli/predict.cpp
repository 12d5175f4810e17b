#include <fmt/format.h>

#include <filesystem>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/csv.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/series_run.h"
#include "dikkat/cli/weight_files.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"
#include "dikkat/train/series_evaluator.h"

namespace dikkat::cli {
namespace {

// What the model says of one series.
struct Prediction {
  std::string said;                   // label, or the number in the labels' unit
  std::vector<double> probabilities;  // of the labels; empty for a number
};

std::vector<Prediction> predictions(const train::LoadedSeriesRun& run, const SeriesFile& file,
                                    const kernels::Executor& executor) {
  train::SeriesEvaluator evaluator(run.model, executor);
  const train::StopRequest never;
  const train::SeriesOutputs outputs = *evaluator.outputs(file.coded, file.rows, never);
  std::vector<Prediction> all;
  for (std::size_t s = 0; s < file.rows.size(); ++s) {
    const std::span<const double> values(outputs.values.data() + s * outputs.outputs, outputs.outputs);
    if (run.state.model.task == models::Task::regress) {
      all.push_back({text_of(run.coding.target_mean + run.coding.target_deviation * values[0]), {}});
    } else {
      all.push_back({run.coding.labels[train::class_of(values)], train::class_probabilities(executor, values)});
    }
  }
  return all;
}

std::string as_csv(const std::vector<Prediction>& all, const SeriesFile& file, const data::SeriesCoding& coding) {
  std::string out = "series,prediction";
  for (const std::string& label : coding.labels) out += "," + csv_field("probability of " + label);
  out += "\n";
  for (std::size_t s = 0; s < all.size(); ++s) {
    out += csv_field(file.table.names[s]) + "," + (all[s].probabilities.empty() ? all[s].said : csv_field(all[s].said));
    for (const double p : all[s].probabilities) out += "," + text_of(p);
    out += "\n";
  }
  return out;
}

Json as_json(const Prediction& prediction, const std::string& name, const train::LoadedSeriesRun& run) {
  Json json = Json::object();
  json.set("series", name);
  if (run.state.model.task == models::Task::regress) {
    return std::move(json.set("prediction", *real_from(prediction.said)));
  }
  Json probabilities = Json::object();
  for (std::size_t c = 0; c < run.coding.labels.size(); ++c) {
    probabilities.set(run.coding.labels[c], prediction.probabilities[c]);
  }
  return std::move(json.set("prediction", prediction.said).set("probabilities", std::move(probabilities)));
}

int run_predict(const Arguments& arguments, Output& output) {
  const Execution execution(arguments);
  const bool to_file = arguments.has("out");
  const std::string out = to_file ? new_path(arguments, "a file") : "";
  const train::LoadedSeriesRun run = open_series_run(arguments);
  const SeriesFile file = series_file(arguments, run, data::Labels::if_there);
  const std::vector<Prediction> all = predictions(run, file, execution.executor());
  if (to_file) {
    const std::string content = as_csv(all, file, run.coding);
    replace_file(out, content);
    if (arguments.json()) {
      output.line(text_of(Json::object().set("file", out).set("series", all.size())));
    } else {
      output.line("Wrote " + text::escaped(out) + ", " + grouped(all.size()) + " series");
    }
    return 0;
  }
  if (!arguments.json()) {
    const std::string csv = as_csv(all, file, run.coding);
    output.write(is_terminal(Stream::output) ? harmless(csv) : csv);
    return 0;
  }
  for (std::size_t s = 0; s < all.size(); ++s) output.line(text_of(as_json(all[s], file.table.names[s], run)));
  return 0;
}

}  // namespace

Command predict_command() {
  return {
      .name = "predict",
      .summary = "say the class or number of each series of a file",
      .description =
          "Writes CSV with one row a series: its name, what the model says, and for classes the probability of each. "
          "FILE is of the form the run was trained on; a label column in it is passed over, and where it cannot be "
          "known which column that is, --label is asked for.\n"
          "With --json it prints one object a series.",
      .operands = {{.name = "RUN", .help = "folder of a training of series", .completes = Completes::folder},
                   {.name = "FILE", .help = "series: CSV, TSV or .ts"}},
      .groups = {{"What to write",
                  {{.name = "out",
                    .value = "OUT.csv",
                    .help = "file to make (default: standard output)",
                    .completes = Completes::file},
                   label_option(),
                   checkpoint_option()}}},
      .examples = {{"dikkat predict runs/days new-days.csv --label none --out said.csv", "what kind of days they are"},
                   {"dikkat predict runs/days new-days.csv --json", "the same for a script"}},
      .run = run_predict};
}

}  // namespace dikkat::cli
