#include "dikkat/cli/series_run.h"

#include <numeric>

#include "dikkat/cli/console.h"

namespace dikkat::cli {
namespace {

void check_lengths(const SeriesFile& file, const train::LoadedSeriesRun& run) {
  const std::size_t context = run.model.config().context;
  for (std::size_t s = 0; s < file.table.count(); ++s) {
    if (file.table.lengths[s] <= context) continue;
    throw Error(ErrorKind::incompatible,
                file.table.names[s] + " has " + std::to_string(file.table.lengths[s]) +
                    " steps, more than the model's context of " + std::to_string(context),
                {.file = file.name, .hint = "train with --context of the longest series you will have"});
  }
}

SeriesFile read(const std::string& path, const train::LoadedSeriesRun& run, const data::SeriesOptions& options) {
  SeriesFile file{.name = path, .table = data::read_series(path, options), .coded = {}, .rows = {}};
  check_lengths(file, run);
  file.rows.resize(file.table.count());
  std::iota(file.rows.begin(), file.rows.end(), std::size_t{0});
  return file;
}

}  // namespace

train::LoadedSeriesRun open_series_run(const Arguments& arguments) {
  const auto choice = train::checkpoint_choice_from(arguments.text("checkpoint").value_or("latest"));
  train::LoadedSeriesRun run = train::load_series_run(arguments.operands().front(), choice);
  for (const std::string& warning : run.warnings) write_error("dikkat: warning: " + harmless(warning) + "\n");
  return run;
}

Option label_option() {
  return {
      .name = "label",
      .value = "COLUMN",
      .help = "series: column of the label in FILE, by name or number, or none (default: as in the run's own file)"};
}

SeriesFile series_file(const Arguments& arguments, const train::LoadedSeriesRun& run, data::Labels labels) {
  data::SeriesOptions options = train::series_options(run.state.settings, labels);
  if (const auto label = arguments.text("label")) options.label = *label;
  SeriesFile file = read(arguments.operands()[1], run, options);
  if (labels == data::Labels::if_there) file.table.labels.clear();  // whatever they say, they are not asked for
  file.coded = data::coded(file.table, run.coding, file.name);
  return file;
}

SeriesFile own_series(const train::LoadedSeriesRun& run) {
  const std::string path = run.folder.data_paths().front().string();
  try {
    SeriesFile file = read(path, run, train::series_options(run.state.settings, data::Labels::required));
    if (file.table.fingerprint != run.state.data_fingerprint) {
      throw Error(ErrorKind::incompatible, "the series have changed since the run was trained on them",
                  {.file = path, .hint = "restore the file, or name the file to measure on"});
    }
    file.coded = data::coded(file.table, run.coding, file.name);
    return file;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    ErrorPlace place = error.place();
    place.hint = "restore the file, or name the file to measure on";
    throw Error(ErrorKind::io, "the run's series cannot be read: " + error.message(), std::move(place));
  }
}

}  // namespace dikkat::cli
