#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/json.h"
#include "dikkat/data/series_forms.h"

namespace dikkat::data {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Lines that are neither empty nor a comment.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  [[nodiscard]] bool next(std::string_view& line) {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
      line = trimmed(text_.substr(at_, end - at_));
      at_ = end + (text_.substr(end, 2) == "\r\n" ? 2U : 1U);
      ++row_;
      if (!line.empty() && line.front() != '#') return true;
    }
    at_ = text_.size();
    return false;
  }
  [[nodiscard]] std::size_t row() const { return row_; }
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t row_ = 0;
};

// The part of `rest` before the first `mark`, and `rest` without both.
std::string_view take(std::string_view& rest, char mark) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view part = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::string_view take_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trimmed(rest.substr(end));
  return word;
}

const std::vector<std::string>& known_tags() {
  static const std::vector<std::string> tags{"@problemName", "@timeStamps",  "@missing",     "@univariate",
                                             "@dimensions",  "@dimension",   "@equalLength", "@seriesLength",
                                             "@classLabel",  "@targetLabel", "@data"};
  return tags;
}

// The known tag that is meant, in any case; nothing if there is none.
std::optional<std::string> known_tag(std::string_view word) {
  for (const std::string& tag : known_tags()) {
    if (equal_in_any_case(tag, word)) return tag;
  }
  return std::nullopt;
}

class TsForm {
 public:
  TsForm(SeriesSource& source, const SeriesOptions& options)
      : source_(source), options_(options), lines_(source.text()) {
    for (const auto& option : {options.label, options.id, options.time}) {
      if (option && *option != "none") {
        throw Error(ErrorKind::usage, "a .ts file says itself what is what: the label is the last part of each line",
                    {.file = source.name(), .hint = "leave --label, --id-column and --time-column out"});
      }
    }
  }

  SeriesTable read() {
    read_tags();
    std::string_view line;
    while (lines_.next(line)) {
      if (std::string_view word = line; equal_in_any_case(take_word(word), "@data")) {
        refuse("a second @data", "take the line out, or what follows it if it is of another file");
      }
      read_series(line);
      source_.read_to(lines_.at());
    }
    if (table_.count() == 0) refuse("there is no series in the file", "write one series a row after @data");
    if (has_label_) check_labels(table_, rows_, options_.labels, source_.name());
    return std::move(table_);
  }

 private:
  [[noreturn]] void refuse(std::string rule, std::string hint) const {
    throw Error(ErrorKind::malformed, std::move(rule),
                {.file = source_.name(), .key = fmt::format("row {}", lines_.row()), .hint = std::move(hint)});
  }

  void read_tags() {
    std::string_view line;
    while (lines_.next(line)) {
      if (line.front() != '@') refuse("a series before @data", "begin the series with a line @data");
      const std::string_view word = take_word(line);
      const std::optional<std::string> tag = known_tag(word);
      if (!tag) refuse_tag(word);
      if (*tag == "@data") {
        if (options_.labels == Labels::required && !has_label_) {
          refuse("the file says that it has no labels", "give labels, and say so by @classLabel or @targetLabel");
        }
        return;
      }
      read_tag(*tag, line);
    }
    refuse("the line @data is missing", "begin the series with a line @data");
  }

  [[noreturn]] void refuse_tag(std::string_view word) const {
    const auto near = nearest_name(word, known_tags());
    const bool forecasting = equal_in_any_case(word, "@attribute") || equal_in_any_case(word, "@relation");
    refuse(fmt::format("'{}' is no tag of a .ts file", label_of(word)),
           forecasting ? "convert .arff and .tsf files to .ts or CSV"
           : near      ? "did you mean '" + *near + "'?"
                       : "take the line out");
  }

  void read_tag(const std::string& tag, std::string_view rest) {
    if (tag == "@timeStamps") {
      if (is_true(tag, rest))
        refuse("series with time stamps are not read", "write the values alone, or a long form CSV");
    } else if (tag == "@dimensions" || tag == "@dimension") {
      dimensions_ = count(tag, rest);
    } else if (tag == "@univariate") {
      if (is_true(tag, rest) && !dimensions_) dimensions_ = 1;
    } else if (tag == "@seriesLength") {
      length_ = count(tag, rest);
    } else if (tag == "@equalLength") {
      equal_length_ = is_true(tag, rest);
    } else if (tag == "@targetLabel") {
      has_label_ = is_true(tag, rest) || has_label_;
    } else if (tag == "@classLabel") {
      read_class_label(tag, rest);
    } else if (tag == "@missing") {
      (void)is_true(tag, rest);
    }
  }

  [[nodiscard]] bool is_true(const std::string& tag, std::string_view rest) const {
    const std::string_view word = take_word(rest);
    if (equal_in_any_case(word, "true")) return true;
    if (equal_in_any_case(word, "false")) return false;
    refuse(fmt::format("{} is neither true nor false but '{}'", tag, label_of(word)), "write true or false");
  }

  [[nodiscard]] std::size_t count(const std::string& tag, std::string_view rest) const {
    const std::optional<std::uint64_t> number = count_from(rest);
    if (number && *number >= 1) return *number;
    refuse(fmt::format("{} is no whole number from 1 but '{}'", tag, label_of(rest)), "write how many there are");
  }

  void read_class_label(const std::string& tag, std::string_view rest) {
    if (!is_true(tag, rest)) return;
    has_label_ = true;
    (void)take_word(rest);
    while (!rest.empty()) classes_.emplace_back(take_word(rest));
  }

  // One line: dimensions separated by ':', the label last.
  void read_series(std::string_view line) {
    const auto parts = static_cast<std::size_t>(std::count(line.begin(), line.end(), ':')) + 1;
    const std::size_t labels = has_label_ ? 1 : 0;
    if (!dimensions_ && parts > labels) dimensions_ = parts - labels;
    if (table_.count() == 0) name_channels();
    if (parts != table_.channels + labels) {
      refuse(fmt::format("the row has {} parts separated by ':', expected {}{}", parts, table_.channels,
                         has_label_ ? " and the label" : ""),
             "write each dimension as one part and the label last, and say @dimensions as they are");
    }
    std::size_t steps = 0;
    dimension_values_.clear();
    for (std::size_t d = 0; d < table_.channels; ++d) read_dimension(take(line, ':'), d, steps);
    append(steps);
    if (has_label_) read_label(line);
  }

  void name_channels() {
    table_.channels = dimensions_.value_or(1);
    if (table_.channels > source_.text().size()) refuse("@dimensions says more than the file can hold", "correct it");
    for (std::size_t d = 1; d <= table_.channels; ++d) {
      table_.channel_names.push_back(table_.channels == 1 ? "value" : fmt::format("value {}", d));
    }
  }

  // Appends its values, of which there must be as many as the first dimension has.
  void read_dimension(std::string_view part, std::size_t dimension, std::size_t& steps) {
    std::size_t step = 0;
    for (bool more = true; more; ++step) {
      more = part.find(',') != std::string_view::npos;
      const std::string_view field = take(part, ',');
      const ReadNumber number = number_in(field);
      if (number.reading != Reading::number) refuse_value(number.reading, field, dimension, step);
      dimension_values_.push_back(number.value);
    }
    if (dimension == 0) steps = step;
    if (step != steps) {
      refuse(fmt::format("dimension {} has {} steps, dimension 1 has {}", dimension + 1, step, steps),
             "give every dimension of a series the same steps");
    }
  }

  [[noreturn]] void refuse_value(Reading reading, std::string_view field, std::size_t dimension,
                                 std::size_t step) const {
    const std::string place = fmt::format("row {}, dimension {}, step {}", lines_.row(), dimension + 1, step + 1);
    if (reading != Reading::padding && reading != Reading::missing) {
      refuse_number(reading, field, source_.name(), place);
    }
    throw Error(ErrorKind::malformed, "a value is missing: '" + label_of(field) + "'",
                {.file = source_.name(), .key = place, .hint = "fill it in, or leave the series out"});
  }

  void append(std::size_t steps) {
    const std::size_t expected = length_.value_or(table_.lengths.empty() ? steps : table_.lengths.front());
    if (equal_length_ && steps != expected) {
      refuse(fmt::format("the series has {} steps, the header says all have {}", steps, expected),
             "say @equalLength false if they are not all of one length");
    }
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t d = 0; d < table_.channels; ++d) table_.values.push_back(dimension_values_[d * steps + step]);
    }
    table_.lengths.push_back(steps);
    table_.names.push_back(fmt::format("row {}", lines_.row()));
    rows_.push_back(lines_.row());
  }

  void read_label(std::string_view rest) {
    const std::string_view label = label_in(trimmed(rest), source_.name(), fmt::format("row {}", lines_.row()));
    const bool known = classes_.empty() || std::find(classes_.begin(), classes_.end(), label) != classes_.end();
    if (!known && !label.empty()) {
      const auto near = nearest_name(label, classes_);
      refuse(fmt::format("the label '{}' is not one of those @classLabel names", label_of(label)),
             near ? "did you mean '" + label_of(*near) + "'?" : "add it there");
    }
    table_.labels.emplace_back(label);
  }

  SeriesSource& source_;
  const SeriesOptions& options_;
  Lines lines_;
  std::optional<std::size_t> dimensions_;
  std::optional<std::size_t> length_;
  bool equal_length_ = false;
  bool has_label_ = false;
  std::vector<std::string> classes_;
  std::vector<double> dimension_values_;  // (channels, steps)
  std::vector<std::size_t> rows_;
  SeriesTable table_;
};

}  // namespace

bool begins_as_ts(std::string_view text) {
  std::string_view line;
  return Lines(text).next(line) && line.front() == '@' && line.find_first_of(",;\t") == std::string_view::npos;
}

SeriesTable read_ts_form(SeriesSource& source, const SeriesOptions& options) { return TsForm(source, options).read(); }

}  // namespace dikkat::data
