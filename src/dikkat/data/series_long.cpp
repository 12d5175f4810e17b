#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/data/series_columns.h"
#include "dikkat/data/series_forms.h"

namespace dikkat::data {
namespace {

// One row of the file: a step of a series.
struct Step {
  std::size_t series = 0;  // by the order in which ids first come
  double time = 0;
  std::size_t row = 0;    // line of the file
  std::size_t index = 0;  // its values begin at index * channels
};

bool is_before(const Step& a, const Step& b) { return a.series != b.series ? a.series < b.series : a.time < b.time; }

class LongForm {
 public:
  LongForm(SeriesSource& source, char delimiter, const SeriesOptions& options)
      : source_(source), options_(options), reader_(source.text(), delimiter, source.name()) {
    find_columns(delimiter);
  }

  SeriesTable read() {
    while (reader_.next_row()) {
      read_row();
      source_.read_to(reader_.at());
    }
    if (steps_.empty()) refuse_no_series(source_.name(), source_.text());
    if (columns_.label) check_labels(table_, first_rows_, options_.labels, source_.name());
    arrange();
    return std::move(table_);
  }

 private:
  void find_columns(char delimiter) {
    FieldReader first(source_.text(), delimiter, source_.name());
    (void)first.next_row();
    const std::vector<std::string> row = fields_of_row(first);
    columns_.header = options_.header != Header::no;
    columns_.names = columns_.header ? row : std::vector<std::string>(row.size());
    if (columns_.header && reader_.next_row()) (void)fields_of_row(reader_);
    id_ = options_.id ? column_of(columns_, *options_.id, "--id-column", source_.name()) : column_called("id");
    time_ =
        options_.time ? column_of(columns_, *options_.time, "--time-column", source_.name()) : column_called("time");
    SeriesColumns rest = columns_;  // whatever they are called, they are no label
    rest.names[id_].clear();
    rest.names[time_].clear();
    columns_.label = label_column(rest, options_, Form::long_form, source_.name());
    if (columns_.label) table_.label_name = columns_.names[*columns_.label];
    refuse_one_column_twice();
    name_channels();
  }

  [[nodiscard]] std::size_t column_called(std::string_view name) const {
    const auto& names = columns_.names;
    const auto found =
        std::find_if(names.begin(), names.end(), [&](const auto& n) { return equal_in_any_case(n, name); });
    return static_cast<std::size_t>(found - names.begin());
  }

  void refuse_one_column_twice() const {
    if (id_ != time_ && columns_.label != id_ && columns_.label != time_) return;
    throw Error(ErrorKind::usage, "one column cannot be two of id, time and label",
                {.file = source_.name(), .hint = "name three different columns"});
  }

  void name_channels() {
    for (std::size_t i = 0; i < columns_.count(); ++i) {
      if (i == id_ || i == time_ || i == columns_.label) continue;
      channel_columns_.push_back(i);
    }
    table_.channels = channel_columns_.size();
    if (channel_columns_.empty()) {
      throw Error(ErrorKind::malformed, "there is no column of values besides id, time and label",
                  {.file = source_.name(), .hint = "give at least one column of values"});
    }
    for (const std::size_t column : channel_columns_) table_.channel_names.push_back(channel_name(column));
  }

  [[nodiscard]] std::string channel_name(std::size_t column) const {
    const auto& known = table_.channel_names;
    const std::string& name = columns_.names[column];
    if (!columns_.header) {
      return channel_columns_.size() == 1 ? "value" : fmt::format("value {}", known.size() + 1);
    }
    const bool twice = std::find(known.begin(), known.end(), name) != known.end();
    if (!name.empty() && !twice && is_utf8(name)) return name;
    throw Error(ErrorKind::malformed,
                name.empty()
                    ? "a channel has no name"
                    : fmt::format("the channel '{}' {}", label_of(name), twice ? "is there twice" : "is not UTF-8"),
                {.file = source_.name(),
                 .key = fmt::format("row 1, column {}", column + 1),
                 .hint = "give each column of values its own name"});
  }

  [[nodiscard]] std::string place(FieldPlace at) const {
    return text_of(at, at.column <= columns_.count() ? columns_.names[at.column - 1] : std::string());
  }

  void read_row() {
    Step step{.series = 0, .time = 0, .row = reader_.place().row, .index = steps_.size()};
    label_.clear();
    std::string_view field;
    while (reader_.next_field(field)) read_field(field, step);
    if (reader_.place().column != columns_.count()) {
      throw Error(ErrorKind::malformed,
                  fmt::format("the row has {} columns, the first one has {}", reader_.place().column, columns_.count()),
                  {.file = source_.name(),
                   .key = fmt::format("row {}", step.row),
                   .hint = "give every row an id, a time and all values"});
    }
    if (columns_.label) compare_label(step);
    if (step.series == first_rows_.size()) first_rows_.push_back(step.row);
    steps_.push_back(step);
  }

  void read_field(std::string_view field, Step& step) {
    const std::size_t column = reader_.place().column - 1;
    if (column == id_) {
      step.series = series_of(field);
    } else if (column == columns_.label) {
      label_ = label_in(field, source_.name(), place(reader_.place()));
    } else if (column == time_) {
      step.time = number(field, "write times as numbers, such as seconds");
    } else if (column < columns_.count()) {
      values_.push_back(number(field, {}));
    }
  }

  [[nodiscard]] double number(std::string_view field, std::string_view also) const {
    const ReadNumber read = number_in(field);
    if (read.reading == Reading::number) return read.value;
    if (read.reading != Reading::padding && read.reading != Reading::missing) {
      refuse_number(read.reading, field, source_.name(), place(reader_.place()), also);
    }
    throw Error(ErrorKind::malformed, "a value is missing",
                {.file = source_.name(),
                 .key = place(reader_.place()),
                 .hint = "fill it in, or leave the row or the series out"});
  }

  [[nodiscard]] std::size_t series_of(std::string_view id) {
    if (!table_.names.empty() && table_.names[last_] == id) return last_;
    if (id.empty() || !is_utf8(id)) {
      throw Error(
          ErrorKind::malformed, id.empty() ? "an id is missing" : "an id is not UTF-8",
          {.file = source_.name(), .key = place(reader_.place()), .hint = "give each row the id of its series"});
    }
    const auto [found, is_new] = series_of_id_.try_emplace(std::string(id), table_.names.size());
    if (is_new) table_.names.emplace_back(id);
    last_ = found->second;
    return last_;
  }

  void compare_label(const Step& step) {
    if (step.series == table_.labels.size()) {
      table_.labels.push_back(label_);
      return;
    }
    if (table_.labels[step.series] == label_) return;
    throw Error(
        ErrorKind::malformed,
        fmt::format("the series '{}' has two labels, '{}' in row {} and '{}' here", label_of(table_.names[step.series]),
                    label_of(table_.labels[step.series]), first_rows_[step.series], label_of(label_)),
        {.file = source_.name(),
         .key = fmt::format("row {}", step.row),
         .hint = "give all rows of one id the same label"});
  }

  // Steps by series and time, values after them.
  void arrange() {
    if (!std::is_sorted(steps_.begin(), steps_.end(), is_before)) {
      std::stable_sort(steps_.begin(), steps_.end(), is_before);
    }
    table_.lengths.assign(table_.names.size(), 0);
    table_.values.reserve(values_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (i > 0 && !is_before(steps_[i - 1], steps_[i])) refuse_same_time(steps_[i - 1], steps_[i]);
      const auto first = values_.begin() + static_cast<std::ptrdiff_t>(steps_[i].index * table_.channels);
      table_.values.insert(table_.values.end(), first, first + static_cast<std::ptrdiff_t>(table_.channels));
      ++table_.lengths[steps_[i].series];
    }
  }

  [[noreturn]] void refuse_same_time(const Step& first, const Step& second) const {
    throw Error(ErrorKind::malformed,
                fmt::format("the series '{}' has the time {} twice, also in row {}",
                            label_of(table_.names[second.series]), second.time, first.row),
                {.file = source_.name(),
                 .key = fmt::format("row {}", second.row),
                 .hint = "give each step of a series its own time"});
  }

  SeriesSource& source_;
  const SeriesOptions& options_;
  FieldReader reader_;
  SeriesColumns columns_;
  std::size_t id_ = 0;
  std::size_t time_ = 0;
  std::vector<std::size_t> channel_columns_;
  SeriesTable table_;
  std::vector<Step> steps_;
  std::vector<double> values_;  // (steps, channels) in the order of the file
  std::vector<std::size_t> first_rows_;
  std::unordered_map<std::string, std::size_t> series_of_id_;
  std::size_t last_ = 0;
  std::string label_;
};

}  // namespace

SeriesTable read_long_form(SeriesSource& source, char delimiter, const SeriesOptions& options) {
  return LongForm(source, delimiter, options).read();
}

}  // namespace dikkat::data
