#include "dikkat/text/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dikkat/base/error.h"
#include "dikkat/text/ascii_run.h"

namespace dikkat::text {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::uint32_t kLargestCodePoint = 0x10FFFF;

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }
bool is_continuation(unsigned byte) { return (byte & 0xC0U) == 0x80U; }

// What the first byte promises (Unicode Standard, table 3-7): the length, and which second bytes are legal, by which
// overlong forms, surrogates and code points above U+10FFFF are kept out. Length 0: no character begins so.
struct Lead {
  std::size_t length = 0;
  unsigned least_second = 0x80;
  unsigned largest_second = 0xBF;
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80) return {.length = 1};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {.length = 2};
  if (byte == 0xE0) return {.length = 3, .least_second = 0xA0};
  if (byte == 0xED) return {.length = 3, .largest_second = 0x9F};
  if (byte < 0xF0) return {.length = 3};
  if (byte == 0xF0) return {.length = 4, .least_second = 0x90};
  if (byte == 0xF4) return {.length = 4, .largest_second = 0x8F};
  if (byte < 0xF4) return {.length = 4};
  return {};
}

bool legal_second(const Lead& lead, unsigned byte) { return byte >= lead.least_second && byte <= lead.largest_second; }

// The rule that the bytes at `at`, which are not a character, break.
std::string broken_rule(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  const bool has_second = at + 1 < text.size() && is_continuation(byte_at(text, at + 1));
  if (is_continuation(first)) return "a continuation byte without a beginning";
  if (first == 0xC0 || first == 0xC1) return "an overlong form";
  if (first >= 0xF5) return "beyond U+10FFFF";
  if (!has_second || legal_second(lead_of(first), byte_at(text, at + 1))) return "a character cut short";
  if (first == 0xED) return "a surrogate";
  return first == 0xF4 ? "beyond U+10FFFF" : "an overlong form";
}

[[noreturn]] void refuse_encoding(const std::string& file, const std::string& encoding) {
  throw Error(ErrorKind::malformed, "this is " + encoding + ", not UTF-8",
              {.file = file, .offset = 0, .hint = "convert it: iconv -f " + encoding + " -t UTF-8"});
}

[[noreturn]] void refuse_invalid(std::string_view body, std::size_t at, std::size_t bytes_before,
                                 const std::string& file) {
  Position position;
  advance(position, body, 0, at);
  throw Error(ErrorKind::malformed,
              fmt::format("invalid UTF-8 at line {}, column {}: byte 0x{:02X}, {}", position.line, position.column,
                          byte_at(body, at), broken_rule(body, at)),
              {.file = file,
               .offset = bytes_before + at,
               .key = fmt::format("line {}, column {}", position.line, position.column),
               .hint = "mend the text, or use the byte tokenizer, which takes any bytes"});
}

bool hidden_on_a_terminal(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

void append_escaped(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default: out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
}

}  // namespace

std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) {
    ++at;
    return first;
  }
  const Lead lead = lead_of(first);
  if (lead.length == 0 || text.size() - at < lead.length || !legal_second(lead, byte_at(text, at + 1))) return kInvalid;
  std::uint32_t code_point = first & (0x7FU >> lead.length);
  for (std::size_t i = 1; i < lead.length; ++i) {
    const unsigned byte = byte_at(text, at + i);
    if (!is_continuation(byte)) return kInvalid;
    code_point = code_point << 6U | (byte & 0x3FU);
  }
  at += lead.length;
  return code_point;
}

std::string utf8_of(std::uint32_t c) {
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
  if (surrogate || c > kLargestCodePoint) throw Error(ErrorKind::internal, fmt::format("U+{:04X} is no character", c));
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0U | c >> 6U), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0U | c >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | c >> 18U), tail(12), tail(6), tail(0)};
}

std::size_t whole_characters(std::string_view text) {
  const std::size_t size = text.size();
  for (std::size_t held = 1; held <= std::min<std::size_t>(size, 3); ++held) {
    const unsigned byte = byte_at(text, size - held);
    if (is_continuation(byte)) continue;
    const Lead lead = lead_of(byte);
    const bool may_become_one = lead.length > held && (held == 1 || legal_second(lead, byte_at(text, size - held + 1)));
    return may_become_one ? size - held : size;
  }
  return size;
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const std::uint32_t code_point = next_code_point(text, at);
    if (code_point == kInvalid) ++at;
    const std::string_view bytes = text.substr(begin, at - begin);
    if (code_point == kInvalid || hidden_on_a_terminal(code_point)) {
      append_escaped(out, bytes);
    } else {
      out += bytes;
    }
  }
  return out;
}

void advance(Position& position, std::string_view text, std::size_t from, std::size_t to) {
  while (from < to) {
    if (text[from] == '\n') {
      ++position.line;
      position.column = 1;
      ++from;
      continue;
    }
    if (next_code_point(text, from) == kInvalid) ++from;
    ++position.column;
  }
}

std::optional<std::size_t> first_invalid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (ascii_run_at(text, at)) {
      at += kAsciiRun;
    } else if (next_code_point(text, at) == kInvalid) {
      return at;
    }
  }
  return std::nullopt;
}

std::string_view clean_text(std::string_view text, std::string& buffer, const std::string& file) {
  if (text.starts_with("\xFF\xFE\0\0"sv)) refuse_encoding(file, "UTF-32");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) refuse_encoding(file, "UTF-16");

  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::size_t skipped = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::string_view body = text.substr(skipped);
  if (const auto at = first_invalid(body)) refuse_invalid(body, *at, skipped, file);

  std::size_t line_end = body.find("\r\n");
  if (line_end == std::string_view::npos) return body;
  buffer.clear();
  buffer.reserve(body.size());
  std::size_t copied = 0;
  for (; line_end != std::string_view::npos; line_end = body.find("\r\n", copied)) {
    buffer += body.substr(copied, line_end - copied);
    copied = line_end + 1;  // at the LF
  }
  buffer += body.substr(copied);
  return buffer;
}

}  // namespace dikkat::text
