#include "dikkat/data/series_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/json.h"

namespace dikkat::data {
namespace {

constexpr std::array<std::string_view, 4> kLabelNames{"label", "class", "target", "y"};

bool is_label_name(std::string_view name) {
  return std::any_of(kLabelNames.begin(), kLabelNames.end(),
                     [&](auto known) { return equal_in_any_case(known, name); });
}

// What a first row consists of, one column (the label's) left out.
struct FirstRow {
  std::vector<std::size_t> texts;  // columns
  std::size_t numbers = 0;
  bool counts_up = true;  // its numbers are 7, 8, 9, ...: at least two
};

FirstRow look_at(const std::vector<std::string>& row, std::size_t left_out) {
  FirstRow seen;
  std::optional<std::uint64_t> last;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i == left_out) continue;
    const Reading reading = number_in(row[i]).reading;
    if (reading == Reading::text) seen.texts.push_back(i);
    if (reading != Reading::number) continue;
    ++seen.numbers;
    const std::optional<std::uint64_t> value = count_from(row[i]);
    if (!value || (last && *value - 1 != *last)) seen.counts_up = false;
    last = value;
  }
  seen.counts_up = seen.counts_up && seen.numbers >= 2;
  return seen;
}

[[noreturn]] void refuse_mixed(const std::vector<std::string>& row, std::size_t number, const FirstRow& seen,
                               const std::string& file) {
  const std::size_t column = seen.texts.front();
  const std::string hint =
      is_decimal_comma(row[column]) ? "write a decimal point instead of a comma"
      : seen.texts.size() == 1
          ? fmt::format(
                "if it is the label say --label {}, if the row names the columns give them names that are no numbers",
                column + 1)
          : "if the row names the columns give them names that are no numbers";
  throw Error(ErrorKind::malformed,
              fmt::format("the first row has numbers and text, so it is neither names nor values: '{}' is not a number",
                          label_of(row[column])),
              {.file = file, .key = text_of({.row = number, .column = column + 1}), .hint = hint});
}

bool is_header(const std::vector<std::string>& row, std::size_t number, const SeriesOptions& options,
               const std::string& file) {
  if (options.header != Header::found) return options.header == Header::yes;
  if (options.label && std::find(row.begin(), row.end(), *options.label) != row.end()) return true;
  const std::size_t label = options.label ? count_from(*options.label).value_or(1) - 1 : 0;
  const FirstRow seen = look_at(row, label);
  if (seen.texts.empty()) return label < row.size() && is_label_name(row[label]) && seen.counts_up;
  if (seen.numbers == 0) return true;
  const bool all_labels =
      std::all_of(seen.texts.begin(), seen.texts.end(), [&](std::size_t i) { return is_label_name(row[i]); });
  if (seen.counts_up && all_labels) return true;
  refuse_mixed(row, number, seen, file);
}

// Row numbers in front, as data frames are written with: they would pass for a label or a step.
void refuse_nameless(const std::vector<std::string>& names, std::size_t row, const std::string& file) {
  std::size_t used = names.size();
  while (used > 0 && names[used - 1].empty()) --used;  // a delimiter at the end of each row is no harm
  const auto nameless = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(used), std::string());
  const auto column = static_cast<std::size_t>(nameless - names.begin());
  if (column == used) return;
  throw Error(ErrorKind::malformed, "a column has no name",
              {.file = file,
               .key = text_of({.row = row, .column = column + 1}),
               .hint = column == 0 ? "if it holds row numbers write the file without them, otherwise name it"
                                   : "name it, or take the header away"});
}

std::string known_columns(const SeriesColumns& columns) {
  if (!columns.header) return fmt::format("the file has {} columns and no header", columns.count());
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(columns.count(), 8); ++i) {
    list += (i == 0 ? "" : ", ") + label_of(columns.names[i]);
  }
  return "the columns are " + list + (columns.count() > 8 ? ", ..." : "");
}

[[noreturn]] void refuse_unsure(const std::string& file, std::string what) {
  throw Error(ErrorKind::usage, std::move(what),
              {.file = file, .hint = "say --label NAME, --label NUMBER or, where there are no labels, --label none"});
}

// The first of the label's names that a column has. In the long form "y" is rather a channel beside x and z.
std::optional<std::size_t> named_as_label(const SeriesColumns& columns, Form form, const std::string& file) {
  const std::size_t names = kLabelNames.size() - (form == Form::long_form ? 1 : 0);
  for (const std::string_view name : std::span(kLabelNames).first(names)) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < columns.count(); ++i) {
      if (!equal_in_any_case(columns.names[i], name)) continue;
      if (found) refuse_unsure(file, fmt::format("two columns are called '{}'", name));
      found = i;
    }
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> fields_of_row(FieldReader& reader) {
  std::vector<std::string> fields;
  std::string_view field;
  while (reader.next_field(field)) fields.emplace_back(field);
  return fields;
}

bool names_long_form(const std::vector<std::string>& first_row) {
  const auto has = [&](std::string_view name) {
    return std::any_of(first_row.begin(), first_row.end(), [&](const auto& f) { return equal_in_any_case(f, name); });
  };
  return has("id") && has("time");
}

std::size_t column_of(const SeriesColumns& columns, const std::string& wanted, const char* option,
                      const std::string& file) {
  const auto& names = columns.names;
  const auto found = columns.header ? std::find(names.begin(), names.end(), wanted) : names.end();
  if (found != names.end()) {
    if (std::find(found + 1, names.end(), wanted) != names.end()) {
      throw Error(ErrorKind::malformed, fmt::format("two columns are called '{}'", label_of(wanted)),
                  {.file = file, .hint = fmt::format("say {} by the column's number", option)});
    }
    return static_cast<std::size_t>(found - names.begin());
  }
  const std::optional<std::uint64_t> number = count_from(wanted);
  if (number && *number >= 1 && *number <= columns.count()) return *number - 1;
  if (number) {
    throw Error(ErrorKind::usage, fmt::format("there is no column {}; {}", *number, known_columns(columns)),
                {.file = file, .key = option, .hint = fmt::format("columns count from 1 to {}", columns.count())});
  }
  const std::optional<std::string> near = columns.header ? nearest_name(wanted, names) : std::nullopt;
  throw Error(ErrorKind::usage, fmt::format("there is no column '{}'; {}", label_of(wanted), known_columns(columns)),
              {.file = file,
               .key = option,
               .hint = near ? "did you mean '" + label_of(*near) + "'?" : "name a column, or give its number from 1"});
}

std::optional<std::size_t> label_column(const SeriesColumns& columns, const SeriesOptions& options, Form form,
                                        const std::string& file) {
  const bool may_lack = options.labels == Labels::if_there;
  if (options.label) {
    const bool is_name = std::find(columns.names.begin(), columns.names.end(), *options.label) != columns.names.end();
    if (may_lack && *options.label == "none" && !is_name) return std::nullopt;
    return column_of(columns, *options.label, "--label", file);
  }
  if (const auto named = named_as_label(columns, form, file)) return named;
  if (form == Form::long_form) {
    if (may_lack) return std::nullopt;
    refuse_unsure(file, "no column is called label, class or target; " + known_columns(columns));
  }
  if (may_lack) refuse_unsure(file, "whether the first column is a label or a value cannot be known");
  return 0;
}

SeriesColumns wide_columns(const std::vector<std::string>& first_row, std::size_t row, const SeriesOptions& options,
                           const std::string& file) {
  SeriesColumns columns{.names = std::vector<std::string>(first_row.size()), .header = false, .label = {}};
  columns.header = is_header(first_row, row, options, file);
  if (columns.header) columns.names = first_row;
  if (columns.header) refuse_nameless(columns.names, row, file);
  columns.label = label_column(columns, options, Form::wide, file);
  return columns;
}

}  // namespace dikkat::data
