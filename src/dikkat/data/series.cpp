#include "dikkat/data/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/data/series_columns.h"
#include "dikkat/data/series_forms.h"

namespace dikkat::data {
namespace {

bool is_long_form(const SeriesSource& source, char delimiter, const SeriesOptions& options) {
  if (options.id.has_value() != options.time.has_value()) {
    throw Error(ErrorKind::usage, "the long form needs both the column of the id and that of the time",
                {.file = source.name(),
                 .key = options.id ? "--time-column" : "--id-column",
                 .hint = "give --id-column and --time-column, or neither of them"});
  }
  if (options.id) return true;
  FieldReader reader(source.text(), delimiter, source.name());
  return options.header != Header::no && reader.next_row() && names_long_form(fields_of_row(reader));
}

SeriesTable read_delimited(SeriesSource& source, const SeriesOptions& options) {
  if (source.text().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    refuse_no_series(source.name(), source.text());
  }
  const char delimiter = delimiter_of(source.text());
  if (delimiter == '\0') {
    throw Error(ErrorKind::malformed, "no comma, semicolon or tab stands between the values",
                {.file = source.name(), .hint = "write one series a row, its label and values separated by commas"});
  }
  return is_long_form(source, delimiter, options) ? read_long_form(source, delimiter, options)
                                                  : read_wide_form(source, delimiter, options);
}

SeriesTable read_source(SeriesSource& source, const SeriesOptions& options) {
  SeriesTable table = begins_as_ts(source.text()) ? read_ts_form(source, options) : read_delimited(source, options);
  table.fingerprint = source.fingerprint();
  return table;
}

}  // namespace

SeriesTable read_series(const std::filesystem::path& path, const SeriesOptions& options) {
  SeriesSource source(path);
  return read_source(source, options);
}

SeriesTable series_in(std::string bytes, std::string name, const SeriesOptions& options) {
  SeriesSource source(std::move(bytes), std::move(name));
  return read_source(source, options);
}

void refuse_no_series(const std::string& file, std::string_view text) {
  throw Error(ErrorKind::malformed, text.empty() ? "the file is empty" : "there is no series in the file",
              {.file = file, .hint = "write one series a row"});
}

std::string_view label_in(std::string_view field, const std::string& file, const std::string& place) {
  if (number_in(field).reading == Reading::padding) return {};
  if (is_utf8(field)) return field;
  throw Error(ErrorKind::malformed, fmt::format("the label '{}' is not UTF-8", label_of(field)),
              {.file = file, .key = place, .hint = "convert the file: iconv -f WINDOWS-1252 -t UTF-8"});
}

void check_labels(SeriesTable& table, const std::vector<std::size_t>& rows, Labels labels, const std::string& file) {
  const auto missing = std::find(table.labels.begin(), table.labels.end(), std::string());
  if (missing == table.labels.end()) return;
  const bool all = std::all_of(table.labels.begin(), table.labels.end(), [](const auto& l) { return l.empty(); });
  if (all && labels == Labels::if_there) {
    table.labels.clear();
    return;
  }
  const auto first = static_cast<std::size_t>(missing - table.labels.begin());
  throw Error(ErrorKind::malformed, all ? "no series has a label" : "a label is missing",
              {.file = file,
               .key = fmt::format("row {}", rows[first]),
               .hint = "give each series a label, or leave those without one out"});
}

}  // namespace dikkat::data
