// Runs that learned series: how commands open them and read series for them.
#pragma once

#include <string>
#include <vector>

#include "dikkat/cli/arguments.h"
#include "dikkat/data/series.h"
#include "dikkat/data/series_coding.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {

// The first operand, at --checkpoint (default: the newest), with its warnings told.
[[nodiscard]] train::LoadedSeriesRun open_series_run(const Arguments& arguments);

// --label, for a file other than the run's own.
[[nodiscard]] Option label_option();

struct SeriesFile {
  std::string name;
  data::SeriesTable table;
  data::CodedSeries coded;
  std::vector<std::size_t> rows;  // of the table, those that are asked for
};

// The second operand, read as the run's own file was unless --label says otherwise. Error{incompatible} for other
// channels, or series longer than the model's context.
[[nodiscard]] SeriesFile series_file(const Arguments& arguments, const train::LoadedSeriesRun& run,
                                     data::Labels labels);
// The file the run was trained on. Error{incompatible} when it has changed.
[[nodiscard]] SeriesFile own_series(const train::LoadedSeriesRun& run);

}  // namespace dikkat::cli
