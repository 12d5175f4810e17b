// Delimited text as rows of fields (RFC 4180, and the same with semicolons or tabs), and fields as numbers.
//
//   rows end with LF, CR LF or CR; lines of nothing but blanks are no rows; a quoted field may hold delimiters, line
//   ends and "" for a quote; blanks around a field that is not quoted are no part of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dikkat::data {

// The delimiter: of tab, semicolon and comma the one that stands in the most of the first lines (outside of quotes), in
// that order where they are equal. '\0' if none does.
[[nodiscard]] char delimiter_of(std::string_view text);

// Where a field is: the line of the file (from 1) its row begins in, and its column (from 1).
struct FieldPlace {
  std::size_t row = 0;
  std::size_t column = 0;
};

class FieldReader {
 public:
  // Views text and file, which must outlive it.
  FieldReader(std::string_view text, char delimiter, const std::string& file);

  // On to the next row, when all fields of this one have been read; false at the end.
  [[nodiscard]] bool next_row();
  // The next field of the row, which stays until the next call; false when there are no more. Error{malformed} for a
  // quote inside a field, text after one, and one that never ends.
  [[nodiscard]] bool next_field(std::string_view& field);

  [[nodiscard]] FieldPlace place() const { return {row_, column_}; }
  // Bytes read so far.
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  [[nodiscard]] bool ends() const { return at_ == text_.size(); }
  [[nodiscard]] bool is_blank(char c) const { return c == ' ' || (c == '\t' && delimiter_ != '\t'); }
  void skip_blanks();
  bool take_line_end();
  void finish_field();
  [[nodiscard]] std::string_view bare_field();
  [[nodiscard]] std::string_view quoted_field();
  void count_lines(std::string_view part);
  [[noreturn]] void refuse(std::string rule) const;

  std::string_view text_;
  const std::string& file_;
  char delimiter_;
  std::array<bool, 256> stops_{};  // bytes that end a bare field, or may not stand in it
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  bool in_row_ = false;
  std::string unescaped_;
};

// What a field is as a value.
enum class Reading : std::uint8_t {
  number,        // finite
  padding,       // empty or NaN: a missing value, or at the end of a row of equal columns the end of a shorter series
  missing,       // NA, N/A, null, None or ?
  infinite,      // inf or infinity
  out_of_range,  // beyond what a double can hold
  text,
};
struct ReadNumber {
  Reading reading = Reading::text;
  double value = 0;
};
[[nodiscard]] ReadNumber number_in(std::string_view field);

// Error{malformed} for a field that is no number, at a place, with the remedy for it and whatever `also` says.
[[noreturn]] void refuse_number(Reading reading, std::string_view field, const std::string& file,
                                const std::string& place, std::string_view also = {});
// "row 3, column 5 (h04)"
[[nodiscard]] std::string text_of(FieldPlace place, std::string_view name = {});

// Whether it would be a number if a comma were its decimal point.
[[nodiscard]] bool is_decimal_comma(std::string_view field);
[[nodiscard]] bool equal_in_any_case(std::string_view a, std::string_view b);  // of ASCII letters

}  // namespace dikkat::data
