#include "dikkat/data/series_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"

namespace dikkat::data {
namespace {

constexpr std::array<char, 3> kDelimiters{'\t', ';', ','};
constexpr std::size_t kLinesLookedAt = 10;
constexpr std::size_t kBytesLookedAt = std::size_t{1} << 20U;

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool says_missing(std::string_view field) {
  static constexpr std::array<std::string_view, 5> kWords{"NA", "N/A", "null", "None", "?"};
  return std::any_of(kWords.begin(), kWords.end(), [&](auto word) { return equal_in_any_case(word, field); });
}

}  // namespace

char delimiter_of(std::string_view text) {
  text = text.substr(0, kBytesLookedAt);
  std::array<std::size_t, kDelimiters.size()> lines_with{};
  std::array<bool, kDelimiters.size()> seen{};
  std::size_t lines = 0;
  bool quoted = false;
  const auto end_line = [&] {
    for (std::size_t d = 0; d < seen.size(); ++d) lines_with[d] += std::exchange(seen[d], false) ? 1U : 0U;
    ++lines;
  };
  for (std::size_t at = 0; at < text.size() && lines < kLinesLookedAt; ++at) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (is_line_end(c)) end_line();
    for (std::size_t d = 0; d < seen.size(); ++d) seen[d] = seen[d] || c == kDelimiters[d];
  }
  end_line();
  const auto most = std::max_element(lines_with.begin(), lines_with.end());
  return *most == 0 ? '\0' : kDelimiters[static_cast<std::size_t>(most - lines_with.begin())];
}

FieldReader::FieldReader(std::string_view text, char delimiter, const std::string& file)
    : text_(text), file_(file), delimiter_(delimiter) {
  for (const char stop : {delimiter, '\n', '\r', '"'}) stops_[static_cast<unsigned char>(stop)] = true;
}

void FieldReader::refuse(std::string rule) const {
  throw Error(ErrorKind::malformed, std::move(rule),
              {.file = file_,
               .key = text_of(place()),
               .hint = "put the field in quotes, and write \"\" for a quote inside it"});
}

void FieldReader::skip_blanks() {
  while (!ends() && is_blank(text_[at_])) ++at_;
}

bool FieldReader::take_line_end() {
  if (ends() || !is_line_end(text_[at_])) return false;
  at_ += text_.substr(at_, 2) == "\r\n" ? 2U : 1U;
  ++line_;
  return true;
}

bool FieldReader::next_row() {
  do skip_blanks();
  while (take_line_end());
  if (ends()) return false;
  row_ = line_;
  column_ = 0;
  in_row_ = true;
  return true;
}

bool FieldReader::next_field(std::string_view& field) {
  if (!in_row_) return false;
  ++column_;
  skip_blanks();
  field = !ends() && text_[at_] == '"' ? quoted_field() : bare_field();
  finish_field();
  return true;
}

// At a delimiter, a line end or the end.
void FieldReader::finish_field() {
  if (!ends() && text_[at_] == delimiter_) {
    ++at_;
    return;
  }
  in_row_ = false;
  take_line_end();
}

std::string_view FieldReader::bare_field() {
  const std::size_t start = at_;
  while (!ends() && !stops_[static_cast<unsigned char>(text_[at_])]) ++at_;
  if (!ends() && text_[at_] == '"') refuse("a quote inside a field that is not quoted");
  std::size_t end = at_;
  while (end > start && is_blank(text_[end - 1])) --end;
  return text_.substr(start, end - start);
}

void FieldReader::count_lines(std::string_view part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool half = part[i] == '\r' && i + 1 < part.size() && part[i + 1] == '\n';
    if (is_line_end(part[i]) && !half) ++line_;
  }
}

std::string_view FieldReader::quoted_field() {
  const std::size_t start = ++at_;
  unescaped_.clear();
  std::size_t part = start;  // begin of what is not yet in unescaped_
  while (true) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) refuse("a quoted field that never ends");
    at_ = quote + 1;
    if (ends() || text_[at_] != '"') break;
    unescaped_ += text_.substr(part, at_ - part);
    part = ++at_;
  }
  const std::size_t end = at_ - 1;
  count_lines(text_.substr(start, end - start));
  skip_blanks();
  if (!ends() && text_[at_] != delimiter_ && !is_line_end(text_[at_])) refuse("text after the end of a quoted field");
  if (part == start) return text_.substr(start, end - start);
  unescaped_ += text_.substr(part, end - part);
  return unescaped_;
}

ReadNumber number_in(std::string_view field) {
  if (field.empty()) return {.reading = Reading::padding};
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (end == field.data() + field.size()) {
    if (error == std::errc::result_out_of_range) return {.reading = Reading::out_of_range};
    if (error == std::errc()) {
      if (std::isfinite(value)) return {.reading = Reading::number, .value = value};
      return {.reading = std::isnan(value) ? Reading::padding : Reading::infinite};
    }
  }
  return {.reading = says_missing(field) ? Reading::missing : Reading::text};
}

void refuse_number(Reading reading, std::string_view field, const std::string& file, const std::string& place,
                   std::string_view also) {
  const std::string seen = "'" + label_of(field) + "'";
  std::string rule;
  std::string hint = "write numbers as -0.5 or 1e-3";
  switch (reading) {
    case Reading::number:
    case Reading::padding:
    case Reading::missing:
      rule = field.empty() ? "a value is missing" : "a value is missing: " + seen;
      hint = "fill it in, or leave the series out (empty fields may only stand at the end of a shorter series)";
      break;
    case Reading::infinite:
      rule = seen + " is not finite";
      hint = "replace it, or leave the series out";
      break;
    case Reading::out_of_range:
      rule = seen + " is beyond the numbers a double can hold";
      hint = "scale the values";
      break;
    case Reading::text:
      rule = seen + " is not a number";
      if (is_decimal_comma(field)) hint = "write a decimal point instead of a comma";
      break;
  }
  if (!also.empty()) hint += fmt::format("; {}", also);
  throw Error(ErrorKind::malformed, std::move(rule), {.file = file, .key = place, .hint = std::move(hint)});
}

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_decimal_comma(std::string_view field) {
  const std::size_t comma = field.find(',');
  return comma != std::string_view::npos && std::all_of(field.begin(), field.end(), [](char c) {
           return (c >= '0' && c <= '9') || c == ',' || c == '-' || c == '+';
         });
}

std::string text_of(FieldPlace place, std::string_view name) {
  const std::string spot = fmt::format("row {}, column {}", place.row, place.column);
  return name.empty() ? spot : fmt::format("{} ({})", spot, label_of(name));
}

}  // namespace dikkat::data
