// UTF-8, and the rule for every kind of text that arrives for the character tokenizer:
//   byte order mark (UTF-8) at the start   dropped
//   CR LF                                  becomes LF
//   lone CR                                kept as a character
//   NUL                                    kept as a character
//   invalid UTF-8 (overlong, surrogate, above U+10FFFF, truncated)
//                                          refused with byte offset, line and column; remedy: the byte tokenizer
//   UTF-16 (FF FE or FE FF at the start)   refused by name; remedy: convert with iconv (UTF-32 FF FE 00 00 likewise)
// The byte tokenizer takes the bytes as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dikkat::text {

// Reads the code point at `at` (< text.size()) and moves `at` past it; kInvalid, with `at` unchanged, if the bytes
// there are not valid UTF-8.
inline constexpr std::uint32_t kInvalid = 0xFFFFFFFFU;
[[nodiscard]] std::uint32_t next_code_point(std::string_view text, std::size_t& at);
// UTF-8 of a valid code point.
[[nodiscard]] std::string utf8_of(std::uint32_t code_point);
// Length of the longest prefix that does not end inside a character: what may be printed now of a stream of bytes.
[[nodiscard]] std::size_t whole_characters(std::string_view text);
// Printable form for a terminal: control characters and invalid bytes escaped as \n, \t, \r, \xNN (C1 controls, line
// and paragraph separators and the marks that turn the direction of writing as their UTF-8 bytes); everything else as
// is.
[[nodiscard]] std::string escaped(std::string_view text);

// Where a byte of a text is, as people count: lines end with LF, columns are characters (an invalid byte is one).
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};
// Moves `position`, which is that of byte `from`, on to byte `to`.
void advance(Position& position, std::string_view text, std::size_t from, std::size_t to);

// Byte offset of the first thing that is not UTF-8; nothing when all is.
[[nodiscard]] std::optional<std::size_t> first_invalid(std::string_view text);

// Applies the rule above; `file` is named in Error{malformed}. Text that needs no change is returned as given, without
// a copy (the result then views `text`); otherwise `buffer` holds the cleaned text.
[[nodiscard]] std::string_view clean_text(std::string_view text, std::string& buffer, const std::string& file);

}  // namespace dikkat::text
