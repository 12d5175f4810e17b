#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/cli/inspected_run.h"
#include "dikkat/cli/series_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"
#include "dikkat/train/series_objective.h"

namespace dikkat::cli {
namespace {

struct SeriesRun {
  train::LoadedSeriesRun run;
  kernels::Executor executor;
  std::string file = {};
  data::SeriesTable table = {};  // of the file
  data::CodedSeries coded = {};
};

void pass_over(const SeriesRun& series_run, const data::CodedSeries& series, std::size_t which, nn::Tap& tap) {
  train::SeriesBatch batch;
  train::fill(series_run.run.model, series, std::array{which}, 0, batch);
  Context context{.executor = series_run.executor, .memory = heap(), .rows = &batch.rows, .tap = &tap};
  static_cast<void>(series_run.run.model.forward(context, batch.values));
}

void read_file(SeriesRun& series_run, const Arguments& arguments) {
  const auto file = arguments.text("file");
  if (!file) {
    SeriesFile own = own_series(series_run.run);
    series_run.file = std::move(own.name);
    series_run.table = std::move(own.table);
    series_run.coded = std::move(own.coded);
    return;
  }
  data::SeriesOptions options = train::series_options(series_run.run.state.settings, data::Labels::if_there);
  if (const auto label = arguments.text("label")) options.label = *label;
  series_run.file = *file;
  series_run.table = data::read_series(*file, options);
  series_run.table.labels.clear();  // whatever they say, they are not asked for
  series_run.coded = data::coded(series_run.table, series_run.run.coding, *file);
}

std::size_t chosen_series(const SeriesRun& series_run, const Arguments& arguments) {
  const std::size_t count = series_run.table.count();
  const auto number = arguments.value("series", std::size_t{0});
  if (number >= count) {
    throw Error(ErrorKind::usage, fmt::format("there is no series {}", number),
                {.file = series_run.file, .key = "--series", .hint = fmt::format("give 0 to {}", count - 1)});
  }
  const std::size_t context = series_run.run.model.config().context;
  if (series_run.table.lengths[number] > context) {
    throw Error(ErrorKind::incompatible,
                fmt::format("series {} has {} steps, more than the model's context of {}", number,
                            series_run.table.lengths[number], context),
                {.file = series_run.file, .hint = "choose another --series"});
  }
  return number;
}

// Its readings, as they stand in the file.
Tensor readings_of(const SeriesRun& series_run, std::size_t series) {
  const data::SeriesTable& table = series_run.table;
  const std::size_t steps = table.lengths[series];
  const Tensor readings = Tensor::empty({steps, table.channels}, DType::f64);
  const std::size_t first = series_run.coded.first_step[series] * table.channels;
  std::copy_n(table.values.begin() + static_cast<std::ptrdiff_t>(first), readings.count(), readings.data<double>());
  return readings;
}

// A step is called by its reading, or by its number where it has several.
std::vector<inspect::TokenLabel> labels_of(const Tensor& readings, std::size_t extra_rows) {
  std::vector<inspect::TokenLabel> labels;
  const std::size_t channels = readings.shape()[1];
  for (std::size_t step = 0; step < readings.shape()[0]; ++step) {
    labels.push_back({0, channels == 1 ? fmt::format("{:.3g}", readings.data<double>()[step]) : std::to_string(step)});
  }
  for (std::size_t row = 0; row < extra_rows; ++row) labels.push_back({0, "[class]"});
  return labels;
}

Subject subject_of(const std::shared_ptr<SeriesRun>& series_run, const Arguments& arguments) {
  const models::Config& model = series_run->run.model.config();
  const HeadChoice choice = head_choice(arguments, model);
  read_file(*series_run, arguments);
  const std::size_t series = chosen_series(*series_run, arguments);
  Subject subject{
      .where = fmt::format("series {} ({}) of {}, {} steps", series, text::escaped(series_run->table.names[series]),
                           text::escaped(series_run->file), series_run->table.lengths[series]),
      .readings = readings_of(*series_run, series),
      .rule = inspect::map_rule(model),
      .choice = choice};
  subject.labels = labels_of(subject.readings, series_run->run.model.extra_rows());
  subject.origin.set("source", series_run->file).set("series", series).set("name", series_run->table.names[series]);
  subject.pass = [series_run, series](nn::Tap& tap) { pass_over(*series_run, series_run->coded, series, tap); };
  return subject;
}

}  // namespace

InspectedRun inspected_series(const Arguments& arguments, const kernels::Executor& executor) {
  const std::shared_ptr<SeriesRun> series_run(new SeriesRun{open_series_run(arguments), executor});
  const train::LoadedSeriesRun& run = series_run->run;
  InspectedRun inspected{.folder = run.folder.path().string(),
                         .step = run.state.step,
                         .weights_sha256 = run.weights_sha256,
                         .model = run.model.config(),
                         .parameters = run.model.parameters().count(),
                         .dtype = run.model.parameters().dtype()};
  inspected.short_pass = [series_run](std::size_t rows, nn::Tap& tap) {
    data::CodedSeries zeros;
    zeros.channels = series_run->run.model.config().channels;
    zeros.values.assign(rows * zeros.channels, 0.0);
    zeros.first_step = {0, rows};
    pass_over(*series_run, zeros, 0, tap);
  };
  inspected.look_at = [series_run](const Arguments& given, const generate::Sampling&) {
    return subject_of(series_run, given);
  };
  return inspected;
}

}  // namespace dikkat::cli
