#include "dikkat/text/display_width.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "dikkat/text/display_width_ranges.h"
#include "dikkat/text/utf8.h"

namespace dikkat::text {
namespace {

constexpr std::uint32_t kNonJoiner = 0x200C;
constexpr std::size_t kMostMarks = 4;
constexpr std::string_view kLeftToRight = "\u200E";

// What is drawn as one: a character with the marks on it, or an escape.
struct Glyph {
  std::string text;
  std::size_t columns = 0;
  bool right_to_left = false;
};

bool within(std::span<const CodePoints> ranges, std::uint32_t c) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), c,
                                      [](std::uint32_t value, const CodePoints& range) { return value < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

bool is_right_to_left(std::uint32_t c) {
  return (c >= 0x0590 && c <= 0x08FF) || (c >= 0xFB1D && c <= 0xFDFF) || (c >= 0xFE70 && c <= 0xFEFE) ||
         (c >= 0x10800 && c <= 0x10FFF) || (c >= 0x1E800 && c <= 0x1EFFF);
}

bool is_variation_selector(std::uint32_t c) {
  return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF) || (c >= 0x180B && c <= 0x180F);
}

// Draws nothing, or a gap that looks like another.
bool is_unseen(std::uint32_t c) {
  const bool blank =
      c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
  const bool filler = c == 0x034F || (c >= 0x115F && c <= 0x11FF) || c == 0x17B4 || c == 0x17B5 || c == 0x2028 ||
                      c == 0x2029 || c == 0x3164 || c == 0xFFA0;
  return blank || filler || (c >= 0x80 && c < 0xA0) || is_variation_selector(c) || within(invisible_ranges(), c);
}

Glyph plain(std::string text) {
  const std::size_t columns = text.size();
  return {std::move(text), columns, false};
}

Glyph glyph_of(std::uint32_t c, std::string_view bytes) {
  if (c == ' ') return {"\u2423", 1, false};
  if (c < 0x20 || c == 0x7F) return plain(text::escaped(bytes));
  if (is_unseen(c)) return plain(fmt::format("U+{:04X}", c));
  return {std::string(bytes), within(wide_ranges(), c) ? std::size_t{2} : std::size_t{1}, is_right_to_left(c)};
}

// Takes the combining mark `bytes` onto the last glyph; false when there is none to carry it.
bool carried(std::vector<Glyph>& glyphs, std::string_view bytes, std::size_t marks, bool carries) {
  if (!carries) return false;
  if (marks < kMostMarks) glyphs.back().text += bytes;
  return true;
}

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  std::size_t marks = 0;
  bool carries = false;  // whether the last glyph is a letter that marks may stand on
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    const std::uint32_t c = text::next_code_point(text, at);
    if (c == text::kInvalid) {
      glyphs.push_back(plain(text::escaped(text.substr(at++, 1))));
      carries = false;
      continue;
    }
    const std::string_view bytes = text.substr(from, at - from);
    const bool joins_letters = c == kNonJoiner && carries && at < text.size();  // as Persian words need it
    const bool mark = within(combining_ranges(), c) && !is_unseen(c);
    if ((mark || joins_letters) && carried(glyphs, bytes, marks, carries)) {
      ++marks;
      continue;
    }
    glyphs.push_back(mark ? Glyph{"\u25CC" + std::string(bytes), 1, is_right_to_left(c)} : glyph_of(c, bytes));
    carries = mark || (c != ' ' && glyphs.back().text == bytes);
    marks = mark ? 1 : 0;
  }
  return glyphs;
}

std::size_t columns_of(const std::vector<Glyph>& glyphs) {
  std::size_t columns = 0;
  for (const Glyph& glyph : glyphs) columns += glyph.columns;
  return columns;
}

struct Cut {
  std::string text;
  std::size_t columns = 0;
};

Cut cut(std::string_view text, std::size_t most_columns) {
  const std::vector<Glyph> glyphs = glyphs_of(text);
  const bool whole = columns_of(glyphs) <= most_columns;
  const std::size_t room = whole ? most_columns : std::max<std::size_t>(most_columns, 1) - 1;
  Cut result;
  bool right_to_left = false;
  for (const Glyph& glyph : glyphs) {
    if (result.columns + glyph.columns > room) break;
    result.text += glyph.text;
    result.columns += glyph.columns;
    right_to_left = right_to_left || glyph.right_to_left;
  }
  if (!whole && most_columns > 0) {
    result.text += "\u2026";
    ++result.columns;
  }
  if (right_to_left) result.text = std::string(kLeftToRight) + result.text + std::string(kLeftToRight);
  return result;
}

}  // namespace

std::size_t label_columns(std::string_view text) { return columns_of(glyphs_of(text)); }

std::string label(std::string_view text, std::size_t most_columns) { return cut(text, most_columns).text; }

std::string padded_label(std::string_view text, std::size_t columns, Side side) {
  Cut shown = cut(text, columns);
  const std::string blanks(columns - shown.columns, ' ');
  return side == Side::left ? std::move(shown.text) + blanks : blanks + shown.text;
}

}  // namespace dikkat::text
