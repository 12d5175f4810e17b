#include "dikkat/cli/attend_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dikkat/text/display_width.h"

namespace dikkat::cli {
namespace {

constexpr std::string_view kBetween = "   ";
constexpr std::string_view kLeftToRight = "\xE2\x80\x8E";

// Hidden weights as numbers that are not there.
std::vector<double> seen_values(const lessons::Matrix& weights, const kernels::Mask& mask) {
  std::vector<double> values = weights.values;
  for (std::size_t r = 0; r < weights.rows; ++r) {
    const kernels::KeyRange range = mask.visible(r, weights.columns);
    for (std::size_t c = 0; c < weights.columns; ++c) {
      if (c < range.begin || c >= range.end) values[r * weights.columns + c] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return values;
}

double largest_of(const lessons::Matrix& weights) {
  double largest = 0;
  for (const double w : weights.values) largest = std::max(largest, std::abs(w));
  return largest;
}

struct Labels {
  std::vector<std::string> rows, columns;
};

constexpr std::size_t kDecimals = 3;
constexpr double kSmallestShown = 0.0005;

std::string figures(const Labels& labels, std::span<const double> values, Look look, std::size_t decimals = kDecimals) {
  look.depth = ColourDepth::none;  // the heat map has the colours
  return drawn(HeatMap{.rows = labels.rows.size(),
                       .columns = labels.columns.size(),
                       .values = values,
                       .low = -1.0,
                       .row_labels = labels.rows,
                       .column_labels = labels.columns,
                       .cells = CellText::numbers,
                       .decimals = decimals,
                       .most_rows = kShownRows},
               look);
}

std::string shades(const Labels& labels, std::span<const double> values, double largest, const Look& look) {
  const double high = largest > 0 ? largest : 1.0;
  return drawn(HeatMap{.rows = labels.rows.size(),
                       .columns = labels.columns.size(),
                       .values = values,
                       .high = high,
                       .row_labels = labels.rows,
                       .column_labels = labels.columns,
                       .most_rows = kShownRows},
               look) +
         legend(0, high, look) + "\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string beside(const std::string& left, const std::string& right, std::size_t columns) {
  const std::vector<std::string> a = lines_of(left);
  const std::vector<std::string> b = lines_of(right);
  std::string text;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    std::string line = i < a.size() ? a[i] : "";
    if (i < b.size() && !b[i].empty()) {
      line.append(columns - std::min(columns, visible_columns(line)), ' ');
      line += kBetween;
      line += b[i];
    }
    text += line + "\n";
  }
  return text;
}

// Decimals with which the figures of a text fit the columns; nothing if they do not.
std::optional<std::size_t> decimals_for(const AttendedText& text, std::size_t columns) {
  constexpr std::size_t kWidestCell = 8;  // as heat_map.h has it
  std::size_t widest = 0;
  for (const std::string& token : text.tokens) widest = std::max(widest, text::label_columns(token));
  for (std::size_t decimals = kDecimals; decimals >= 2; --decimals) {
    const std::size_t cell = std::max(decimals + 3, std::min(widest + 1, kWidestCell));
    if (std::min(widest, columns / 3) + 1 + cell * text.tokens.size() <= columns) return decimals;
  }
  return std::nullopt;
}

std::string heading(const std::string& text, std::size_t columns) {
  std::string shown = text::label(text, columns);
  constexpr std::string_view kBlank = "␣";  // what a label shows for one
  for (std::size_t at = shown.find(kBlank); at != std::string::npos; at = shown.find(kBlank, at)) {
    shown.replace(at, kBlank.size(), " ");
  }
  return shown + "\n";
}

std::string pictures(const AttendedText& text, const kernels::Mask& mask, const Look& look, std::size_t decimals) {
  const std::vector<double> values = seen_values(text.weights, mask);
  const Labels labels{text.tokens, text.tokens};
  return figures(labels, values, look, decimals) + "\n" + shades(labels, values, largest_of(text.weights), look);
}

std::string difference_of(const AttendedText& first, const AttendedText& second, const kernels::Mask& mask,
                          const Look& look) {
  const std::size_t n = first.tokens.size();
  if (second.tokens.size() != n) {
    return fmt::format(
        "No difference is taken: the first has {} tokens, the second {}, so no cell answers to a cell.\n", n,
        second.tokens.size());
  }
  lessons::Matrix difference = second.weights;
  Labels labels;
  for (std::size_t i = 0; i < difference.values.size(); ++i) {
    double& value = difference.values[i];
    value -= first.weights.values[i];
    if (std::abs(value) < kSmallestShown) value = 0;  // not "-0.000"
  }
  for (std::size_t i = 0; i < n; ++i) {
    const bool same = first.tokens[i] == second.tokens[i];
    labels.rows.push_back(same ? first.tokens[i] : first.tokens[i] + "/" + second.tokens[i]);
  }
  labels.columns = labels.rows;
  const lessons::Distance apart = lessons::distance(first.weights, second.weights);
  std::vector<double> sizes = seen_values(difference, mask);
  std::string text =
      fmt::format("The second minus the first: {:.3f} apart on average, {:.3f} at most\n", apart.mean, apart.largest) +
      figures(labels, sizes, look);
  for (double& size : sizes) size = std::abs(size);
  return text + "\n" + shades(labels, sizes, largest_of(difference), look);
}

}  // namespace

std::size_t visible_columns(std::string_view line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line.substr(at, 2) == "\x1B[") {
      at = std::min(line.find('m', at), line.size());
    } else if (line.substr(at, kLeftToRight.size()) == kLeftToRight) {
      at += kLeftToRight.size() - 1;
    } else {
      plain += line[at];
    }
  }
  return text::label_columns(plain);
}

std::string drawn(const AttendedText& text, const kernels::Mask& mask, const Look& look) {
  return pictures(text, mask, look, kDecimals);
}

std::string drawn_together(const AttendedText& first, const AttendedText& second, const kernels::Mask& mask,
                           const Look& look) {
  Look half = look;
  half.columns = (look.columns - std::min(look.columns, kBetween.size())) / 2;
  const auto a = decimals_for(first, half.columns);
  const auto b = decimals_for(second, half.columns);
  const auto part = [&](const AttendedText& text, const Look& own, std::size_t decimals) {
    return heading(text.text, own.columns) + pictures(text, mask, own, decimals);
  };
  const std::string both =
      a && b ? beside(part(first, half, std::min(*a, *b)), part(second, half, std::min(*a, *b)), half.columns)
             : part(first, look, kDecimals) + "\n" + part(second, look, kDecimals);
  return both + "\n" + difference_of(first, second, mask, look);
}

}  // namespace dikkat::cli
