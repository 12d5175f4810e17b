// The forms a file of series may have, each read by its own function (docs/formats/series.md). Each leaves the table's
// fingerprint to its caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/data/series.h"
#include "dikkat/data/series_fields.h"
#include "dikkat/data/series_source.h"

namespace dikkat::data {

[[nodiscard]] SeriesTable read_wide_form(SeriesSource& source, char delimiter, const SeriesOptions& options);
[[nodiscard]] SeriesTable read_long_form(SeriesSource& source, char delimiter, const SeriesOptions& options);
[[nodiscard]] SeriesTable read_ts_form(SeriesSource& source, const SeriesOptions& options);

// Whether the text begins, after comments, with a tag of the .ts form.
[[nodiscard]] bool begins_as_ts(std::string_view text);

// The labels of all series, or none at all: Error{malformed} for one that is missing where others are not, or where
// they are required. `rows`: the row each series is named by in errors.
void check_labels(SeriesTable& table, const std::vector<std::size_t>& rows, Labels labels, const std::string& file);
// The label in a field; empty where it is missing (nothing, or NaN). Error{malformed} for one that is not UTF-8.
[[nodiscard]] std::string_view label_in(std::string_view field, const std::string& file, const std::string& place);
// Error{malformed}: a file without any series.
[[noreturn]] void refuse_no_series(const std::string& file, std::string_view text);

}  // namespace dikkat::data
