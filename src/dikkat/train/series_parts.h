// Which series train and which validate: cut per label by the seed, never by the order of the file.
#pragma once

#include <cstddef>
#include <vector>

#include "dikkat/data/series.h"
#include "dikkat/models/config.h"
#include "dikkat/train/settings.h"

namespace dikkat::train {

// Rows of the table, ascending.
struct SeriesParts {
  std::vector<std::size_t> training;
  std::vector<std::size_t> validation;
};

// By settings.seed and settings.validation_share; for regress the share of all.
[[nodiscard]] SeriesParts series_parts(const data::SeriesTable& table, models::Task task, const Settings& settings);

}  // namespace dikkat::train
