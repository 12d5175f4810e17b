// Which columns a delimited file of series has, and what they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/data/series.h"
#include "dikkat/data/series_fields.h"

namespace dikkat::data {

struct SeriesColumns {
  std::vector<std::string> names;  // (columns); all empty without a header
  bool header = false;
  std::optional<std::size_t> label;  // index of the column

  [[nodiscard]] std::size_t count() const { return names.size(); }
};

// The fields of the row the reader stands at the beginning of.
[[nodiscard]] std::vector<std::string> fields_of_row(FieldReader& reader);

// Whether a first row names the columns id and time.
[[nodiscard]] bool names_long_form(const std::vector<std::string>& first_row);

// Of the wide form. The first row is a header if a field outside of the label's column is text and none is a number
// (whole numbers that count up may be names); also if the label's column, or all that is text, is called as one
// ("label", "class", "target", "y") and the others are whole numbers that count up. Error{malformed} for a row that is
// both text and numbers, Error{usage} for the label's column.
[[nodiscard]] SeriesColumns wide_columns(const std::vector<std::string>& first_row, std::size_t row,
                                         const SeriesOptions& options, const std::string& file);

// The column an option names, by name or 1-based number; Error{usage} with the nearest name, Error{malformed} if two
// columns have that name.
[[nodiscard]] std::size_t column_of(const SeriesColumns& columns, const std::string& wanted, const char* option,
                                    const std::string& file);
// The label's column by the rule of SeriesOptions; in the long form never simply the first.
enum class Form : std::uint8_t { wide, long_form };
[[nodiscard]] std::optional<std::size_t> label_column(const SeriesColumns& columns, const SeriesOptions& options,
                                                      Form form, const std::string& file);

}  // namespace dikkat::data
