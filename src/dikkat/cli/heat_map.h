// Numbers as pictures for a terminal: a heat map with labels, thumbnails of many, and the legend. Pure functions from
// numbers and a Look to text; what the terminal can do is found out once, by look_of.
//
//   depth none         characters: " .:-=+*#%@", or " ░▒▓█" where UTF-8 is spoken
//   16, 256, 24bit     blanks on a coloured ground, from dark (low) to bright (high)
// A number that is not there (NaN: a key the query cannot see) is left as the ground is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/fields.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/command.h"
#include "dikkat/cli/console.h"

namespace dikkat::cli {

enum class ColourDepth : std::uint8_t { none, sixteen, many, full };
enum class Shades : std::uint8_t { ascii, blocks };

// How pictures are to be drawn.
struct Look {
  ColourDepth depth = ColourDepth::none;
  Shades shades = Shades::ascii;  // of depth none
  std::size_t columns = 80;       // of a line, at most
};

// What there is to know about the terminal behind a stream.
struct TerminalFacts {
  bool terminal = false;
  std::string_view term = {};       // TERM
  std::string_view colorterm = {};  // COLORTERM
  std::string_view no_color = {};   // NO_COLOR
  std::string_view locale = {};     // the first of LC_ALL, LC_CTYPE, LANG that says something
  std::size_t columns = 80;
};

enum class ColourWish : std::uint8_t { automatic, always, never };

// never: none. always: what TERM and COLORTERM promise, 16 colours at least. automatic: the same without the promise of
// at least 16, and none where there is no terminal, TERM is dumb or empty, or NO_COLOR says so.
[[nodiscard]] ColourDepth depth_for(const TerminalFacts& facts, ColourWish wish);
[[nodiscard]] Look look_for(const TerminalFacts& facts, ColourWish wish);

// --color, --colors, --columns: what every command that draws takes, and the look they ask for on standard output.
// --colors alone means that colours are wanted; with --color never there are none.
[[nodiscard]] std::vector<Option> look_options();
[[nodiscard]] Look look_of(const Arguments& arguments);

enum class CellText : std::uint8_t { shades, numbers };

struct HeatMap {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::span<const double> values = {};  // (rows, columns)
  double low = 0.0;                     // darkest; values beyond are drawn as the nearest
  double high = 1.0;                    // brightest
  // As they come, one a row and one a column; made fit by display_width.h. Empty: none.
  std::vector<std::string> row_labels = {};
  std::vector<std::string> column_labels = {};
  // Rows that get a '>' before their label; empty: none.
  std::vector<bool> marked = {};
  CellText cells = CellText::shades;
  std::size_t decimals = 2;   // of numbers
  std::size_t most_rows = 0;  // 0: all
  std::size_t widest_row_label = 16;
};

// Lines, each at most look.columns wide. Cells are as wide as the column labels need and the line has room for (1 to 8
// columns; numbers need what they need). What does not fit is cut at the right and below, and a last line says so.
[[nodiscard]] std::string drawn(const HeatMap& map, const Look& look);

// The map without labels in exactly `lines` lines of exactly `columns` columns, to be laid beside others. Each cell
// shows the largest of the values that fall into it, so that a thin line stays visible. In colours a line holds two
// rows (▀).
[[nodiscard]] std::vector<std::string> thumbnail(const HeatMap& map, std::size_t lines, std::size_t columns,
                                                 const Look& look);

// "0.00 <shades from low to high> 1.00"
[[nodiscard]] std::string legend(double low, double high, const Look& look);

}  // namespace dikkat::cli

namespace dikkat {

template <>
struct EnumNames<cli::ColourDepth> {
  static constexpr std::array<std::pair<cli::ColourDepth, std::string_view>, 4> names{
      {{cli::ColourDepth::full, "24bit"},
       {cli::ColourDepth::many, "256"},
       {cli::ColourDepth::sixteen, "16"},
       {cli::ColourDepth::none, "none"}}};
};
template <>
struct EnumNames<cli::ColourWish> {
  static constexpr std::array<std::pair<cli::ColourWish, std::string_view>, 3> names{
      {{cli::ColourWish::automatic, "auto"}, {cli::ColourWish::always, "always"}, {cli::ColourWish::never, "never"}}};
};

}  // namespace dikkat
