#include <fmt/format.h>

#include <optional>

#include "dikkat/base/error.h"
#include "dikkat/data/series_columns.h"
#include "dikkat/data/series_forms.h"

namespace dikkat::data {
namespace {

class WideForm {
 public:
  WideForm(SeriesSource& source, char delimiter, const SeriesOptions& options)
      : source_(source), options_(options), reader_(source.text(), delimiter, source.name()) {
    FieldReader first(source.text(), delimiter, source.name());
    (void)first.next_row();
    const std::vector<std::string> row = fields_of_row(first);
    columns_ = wide_columns(row, first.place().row, options, source.name());
    if (columns_.header && reader_.next_row()) (void)fields_of_row(reader_);
  }

  SeriesTable read() {
    table_.channel_names = {"value"};
    if (columns_.label) table_.label_name = columns_.names[*columns_.label];
    while (reader_.next_row()) {
      read_row();
      source_.read_to(reader_.at());
    }
    if (table_.count() == 0) refuse_no_series(source_.name(), source_.text());
    check_labels(table_, rows_, options_.labels, source_.name());
    return std::move(table_);
  }

 private:
  [[nodiscard]] std::string place(FieldPlace at) const {
    return text_of(at, at.column <= columns_.count() ? columns_.names[at.column - 1] : std::string());
  }

  void read_row() {
    std::string_view field;
    std::optional<FieldPlace> padding;  // the first empty field or NaN of the row that no value has followed yet
    const std::size_t first_value = table_.values.size();
    while (reader_.next_field(field)) {
      if (reader_.place().column - 1 == columns_.label) {
        table_.labels.emplace_back(label_in(field, source_.name(), place(reader_.place())));
      } else {
        read_value(field, padding);
      }
    }
    const FieldPlace end = reader_.place();
    if (end.column != columns_.count()) refuse_ragged(end);
    if (table_.values.size() == first_value) refuse_empty(end.row);
    table_.lengths.push_back(table_.values.size() - first_value);
    table_.names.push_back(fmt::format("row {}", end.row));
    rows_.push_back(end.row);
  }

  void read_value(std::string_view field, std::optional<FieldPlace>& padding) {
    const ReadNumber number = number_in(field);
    if (number.reading == Reading::number && !padding) {
      table_.values.push_back(number.value);
    } else if (number.reading == Reading::padding) {
      if (!padding) padding = reader_.place();
    } else if (number.reading == Reading::number) {
      refuse_number(Reading::padding, "", source_.name(), place(*padding));
    } else {
      refuse_text(number.reading, field);
    }
  }

  [[noreturn]] void refuse_text(Reading reading, std::string_view field) const {
    const FieldPlace at = reader_.place();
    const bool perhaps_label = reading == Reading::text && table_.count() == 0;
    refuse_number(reading, field, source_.name(), place(at),
                  perhaps_label ? fmt::format("if it is the label say --label {}", at.column) : std::string());
  }

  [[noreturn]] void refuse_ragged(FieldPlace end) const {
    throw Error(
        ErrorKind::malformed, fmt::format("the row has {} columns, the first one has {}", end.column, columns_.count()),
        {.file = source_.name(),
         .key = fmt::format("row {}", end.row),
         .hint = "give every row the same number of columns; where a series is shorter, leave the last ones empty"});
  }

  [[noreturn]] void refuse_empty(std::size_t row) const {
    throw Error(ErrorKind::malformed, "the series has no values",
                {.file = source_.name(), .key = fmt::format("row {}", row), .hint = "take the row out"});
  }

  SeriesSource& source_;
  const SeriesOptions& options_;
  FieldReader reader_;
  SeriesColumns columns_;
  SeriesTable table_;
  std::vector<std::size_t> rows_;
};

}  // namespace

SeriesTable read_wide_form(SeriesSource& source, char delimiter, const SeriesOptions& options) {
  return WideForm(source, delimiter, options).read();
}

}  // namespace dikkat::data
