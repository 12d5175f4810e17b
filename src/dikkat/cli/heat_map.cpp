#include "dikkat/cli/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "dikkat/cli/colour_ramp.h"
#include "dikkat/text/display_width.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kWidestCell = 8;
constexpr std::size_t kFewestColumns = 20;
constexpr std::size_t kMostColumns = 10'000;
constexpr std::array<std::string_view, 10> kAscii{" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
constexpr std::array<std::string_view, 5> kBlocks{" ", "░", "▒", "▓", "█"};

std::string_view shade_of(double share, Shades shades) {
  const auto pick = [&](const auto& all) {
    const auto level = static_cast<std::size_t>(share * static_cast<double>(all.size()));
    return all[std::min(level, all.size() - 1)];
  };
  return shades == Shades::ascii ? pick(kAscii) : pick(kBlocks);
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += piece;
  return all;
}

// Where a value stands between low and high, in [0,1]; NaN stays.
double share_of(const HeatMap& map, double value) {
  if (std::isnan(value)) return value;
  if (!(map.high > map.low)) return value > map.low ? 1.0 : 0.0;
  return std::clamp((value - map.low) / (map.high - map.low), 0.0, 1.0);
}

std::string number_text(const HeatMap& map, double value) {
  return std::isnan(value) ? "" : fmt::format("{:.{}f}", value, map.decimals);
}

// Writes SGR sequences only where the colour changes.
class Painter {
 public:
  explicit Painter(std::string& out) : out_(out) {}
  void put(const std::string& codes, std::string_view text) {
    if (codes != codes_) out_ += codes.empty() ? "\x1b[0m" : "\x1b[0;" + codes + "m";
    codes_ = codes;
    out_ += text;
  }
  void end_line() {
    if (!codes_.empty()) out_ += "\x1b[0m";
    codes_.clear();
  }

 private:
  std::string& out_;
  std::string codes_;
};

// Sizes of a drawing, all in columns of the terminal.
struct Layout {
  std::size_t marker = 0;
  std::size_t label = 0;  // of a row, with the blank after it
  std::size_t cell = 0;
  std::size_t rows = 0;     // of the map that are shown
  std::size_t columns = 0;  // of the map that are shown
};

std::size_t widest(const std::vector<std::string>& labels) {
  std::size_t columns = 0;
  for (const std::string& text : labels) columns = std::max(columns, text::label_columns(text));
  return columns;
}

std::size_t number_columns(const HeatMap& map) {
  std::size_t columns = 0;
  for (const double value : map.values) columns = std::max(columns, number_text(map, value).size());
  return columns + 1;
}

Layout layout_of(const HeatMap& map, const Look& look) {
  Layout layout;
  layout.marker = map.marked.empty() ? 0 : 2;
  const std::size_t line = std::max(look.columns, kFewestColumns);
  if (!map.row_labels.empty()) layout.label = std::min({widest(map.row_labels), map.widest_row_label, line / 3}) + 1;
  const std::size_t room = line - layout.marker - layout.label;
  if (map.cells == CellText::numbers) {
    layout.cell = std::min(std::max(number_columns(map), std::min(widest(map.column_labels) + 1, kWidestCell)), room);
  } else {
    const std::size_t wanted = std::clamp<std::size_t>(widest(map.column_labels) + 1, 2, kWidestCell);
    layout.cell = std::clamp<std::size_t>(room / std::max<std::size_t>(map.columns, 1), 1, wanted);
  }
  layout.columns = std::min(map.columns, room / layout.cell);
  layout.rows = map.most_rows == 0 ? map.rows : std::min(map.rows, map.most_rows);
  return layout;
}

std::string head_line(const HeatMap& map, const Layout& layout) {
  std::string line(layout.marker + layout.label, ' ');
  const bool numbers = map.cells == CellText::numbers;
  for (std::size_t c = 0; c < layout.columns; ++c) {
    const std::size_t gap = layout.cell > 2 ? 1 : 0;
    if (numbers) line += std::string(gap, ' ');
    line += text::padded_label(map.column_labels[c], layout.cell - gap, numbers ? text::Side::right : text::Side::left);
    if (!numbers) line += std::string(gap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

void put_cell(const HeatMap& map, const Look& look, std::size_t width, double value, Painter& painter) {
  const double share = share_of(map, value);
  if (map.cells == CellText::numbers) {
    painter.put(ground_codes(share, look.depth, Letters::readable),
                fmt::format("{:>{}}", number_text(map, value), width));
  } else if (std::isnan(share)) {
    painter.put("", std::string(width, ' '));
  } else if (look.depth == ColourDepth::none) {
    painter.put("", repeated(shade_of(share, look.shades), width));
  } else {
    painter.put(ground_codes(share, look.depth, Letters::none), std::string(width, ' '));
  }
}

std::string row_line(const HeatMap& map, const Look& look, const Layout& layout, std::size_t row) {
  std::string line;
  if (layout.marker != 0) line += map.marked[row] ? "> " : "  ";
  if (layout.label != 0) line += text::padded_label(map.row_labels[row], layout.label - 1, text::Side::right) + " ";
  Painter painter(line);
  for (std::size_t c = 0; c < layout.columns; ++c) {
    put_cell(map, look, layout.cell, map.values[row * map.columns + c], painter);
  }
  painter.end_line();
  if (look.depth == ColourDepth::none) line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string notice_of(const HeatMap& map, const Layout& layout) {
  std::string words;
  if (layout.columns < map.columns) {
    words += fmt::format("{} of {} columns (all with --columns {})", layout.columns, map.columns,
                         layout.marker + layout.label + layout.cell * map.columns);
  }
  if (layout.rows < map.rows) words += fmt::format("{}{} of {} rows", words.empty() ? "" : ", ", layout.rows, map.rows);
  return words.empty() ? "" : "(cut: " + words + ")\n";
}

// The largest value of a block of the map; NaN where nothing is.
double largest(const HeatMap& map, std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
  double found = std::nan("");
  for (std::size_t r = row; r < row_end; ++r) {
    for (std::size_t c = column; c < column_end; ++c) found = std::fmax(found, map.values[r * map.columns + c]);
  }
  return found;
}

HeatMap shrunk(const HeatMap& map, std::size_t rows, std::size_t columns, std::vector<double>& values) {
  values.assign(rows * columns, std::nan(""));
  const auto bounds = [](std::size_t i, std::size_t parts, std::size_t size) {
    const std::size_t begin = i * size / parts;
    return std::pair{begin, std::max(begin + 1, (i + 1) * size / parts)};
  };
  for (std::size_t r = 0; r < rows && map.rows != 0 && map.columns != 0; ++r) {
    const auto [row, row_end] = bounds(r, rows, map.rows);
    for (std::size_t c = 0; c < columns; ++c) {
      const auto [column, column_end] = bounds(c, columns, map.columns);
      values[r * columns + c] = largest(map, row, row_end, column, column_end);
    }
  }
  HeatMap small{.rows = rows, .columns = columns, .values = values, .low = map.low, .high = map.high};
  return small;
}

// Two rows of the map in one line.
std::string half_block_line(const HeatMap& map, const Look& look, std::size_t row) {
  std::string line;
  Painter painter(line);
  for (std::size_t c = 0; c < map.columns; ++c) {
    const double upper = share_of(map, map.values[row * map.columns + c]);
    const double lower = share_of(map, map.values[(row + 1) * map.columns + c]);
    if (std::isnan(upper) && std::isnan(lower)) {
      painter.put("", " ");
    } else if (std::isnan(upper)) {
      painter.put(letter_codes(lower, look.depth), "▄");
    } else if (std::isnan(lower)) {
      painter.put(letter_codes(upper, look.depth), "▀");
    } else {
      painter.put(letter_codes(upper, look.depth) + ";" + ground_codes(lower, look.depth, Letters::none), "▀");
    }
  }
  painter.end_line();
  return line;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool speaks_utf8(std::string_view locale) {
  return contains(locale, "UTF-8") || contains(locale, "utf-8") || contains(locale, "UTF8") || contains(locale, "utf8");
}

}  // namespace

ColourDepth depth_for(const TerminalFacts& facts, ColourWish wish) {
  if (wish == ColourWish::never) return ColourDepth::none;
  const bool plain = facts.term.empty() || facts.term == "dumb" || facts.term.starts_with("vt");
  if (wish == ColourWish::automatic && (!facts.terminal || plain || !facts.no_color.empty())) return ColourDepth::none;
  if (facts.colorterm == "truecolor" || facts.colorterm == "24bit" || contains(facts.term, "-direct")) {
    return ColourDepth::full;
  }
  return contains(facts.term, "256color") ? ColourDepth::many : ColourDepth::sixteen;
}

Look look_for(const TerminalFacts& facts, ColourWish wish) {
  const bool blocks = speaks_utf8(facts.locale) && (facts.terminal || wish == ColourWish::always);
  return {.depth = depth_for(facts, wish),
          .shades = blocks ? Shades::blocks : Shades::ascii,
          .columns = std::max(facts.columns, kFewestColumns)};
}

std::vector<Option> look_options() {
  return {{.name = "color",
           .value = "WHEN",
           .help = "colours: where the terminal has them, always, or never",
           .fallback = "auto",
           .choices = {"auto", "always", "never"}},
          {.name = "colors",
           .value = "DEPTH",
           .help = "so many colours, whatever the terminal says of itself",
           .choices = {"24bit", "256", "16", "none"}},
          {.name = "columns", .value = "N", .help = "width of a line (default: the terminal's)"}};
}

Look look_of(const Arguments& arguments) {
  TerminalFacts facts{.terminal = is_terminal(Stream::output),
                      .term = environment("TERM"),
                      .colorterm = environment("COLORTERM"),
                      .no_color = environment("NO_COLOR"),
                      .columns = columns(Stream::output)};
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (facts.locale.empty()) facts.locale = environment(name);
  }
  const auto wish = arguments.value("color", ColourWish::automatic);
  Look look = look_for(facts, wish);
  if (arguments.has("colors") && wish != ColourWish::never) {
    look = look_for(facts, ColourWish::always);
    look.depth = arguments.value("colors", ColourDepth::none);
  }
  look.columns = arguments.positive("columns", look.columns);
  if (look.columns < kFewestColumns || look.columns > kMostColumns) {
    refuse_value("columns", std::to_string(look.columns),
                 fmt::format("a whole number from {} to {}", kFewestColumns, kMostColumns));
  }
  return look;
}

std::string drawn(const HeatMap& map, const Look& look) {
  const Layout layout = layout_of(map, look);
  std::string out;
  if (!map.column_labels.empty()) out += head_line(map, layout);
  for (std::size_t row = 0; row < layout.rows; ++row) out += row_line(map, look, layout, row);
  return out + notice_of(map, layout);
}

std::vector<std::string> thumbnail(const HeatMap& map, std::size_t lines, std::size_t columns, const Look& look) {
  const bool halves = look.depth != ColourDepth::none && look.shades == Shades::blocks;
  std::vector<double> values;
  const HeatMap small = shrunk(map, halves ? 2 * lines : lines, columns, values);
  std::vector<std::string> drawn_lines;
  for (std::size_t line = 0; line < lines; ++line) {
    if (halves) {
      drawn_lines.push_back(half_block_line(small, look, 2 * line));
      continue;
    }
    std::string text;
    Painter painter(text);
    for (std::size_t c = 0; c < columns; ++c) put_cell(small, look, 1, values[line * columns + c], painter);
    painter.end_line();
    drawn_lines.push_back(std::move(text));
  }
  return drawn_lines;
}

std::string legend(double low, double high, const Look& look) {
  constexpr std::size_t kSteps = 10;
  std::array<double, kSteps> values;
  for (std::size_t i = 0; i < kSteps; ++i) values[i] = static_cast<double>(i) / (kSteps - 1);
  const HeatMap map{.rows = 1, .columns = kSteps, .values = values};
  std::string shades;
  Painter painter(shades);
  for (const double value : values) put_cell(map, look, 1, value, painter);
  painter.end_line();
  return fmt::format("{:.2f} {} {:.2f}", low, shades, high);
}

}  // namespace dikkat::cli
