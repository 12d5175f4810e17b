#include "dikkat/train/series_parts.h"

#include <algorithm>

namespace dikkat::train {

SeriesParts series_parts(const data::SeriesTable& table, models::Task task, const Settings& settings) {
  SeriesParts parts;
  if (settings.validation_share > 0) {
    parts.validation = task == models::Task::classify
                           ? data::validation_rows(table.labels, settings.validation_share, settings.seed)
                           : data::validation_rows(table.count(), settings.validation_share, settings.seed);
  }
  for (std::size_t s = 0; s < table.count(); ++s) {
    if (!std::binary_search(parts.validation.begin(), parts.validation.end(), s)) parts.training.push_back(s);
  }
  return parts;
}

}  // namespace dikkat::train
