#include "dikkat/lessons/self_attention_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/text/utf8.h"

namespace dikkat::lessons {
namespace {

constexpr std::size_t kLongestLabel = 11;
constexpr std::size_t kShownNumbers = 6;

// Moves `at` past one character.
void pass(std::string_view text, std::size_t& at) {
  if (text::next_code_point(text, at) == text::kInvalid) ++at;
}

}  // namespace

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) pass(text, at);
  return count;
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t length = characters(text);
  if (length < width) text.append(width - length, ' ');
  return text;
}

std::string label(const std::string& word) {
  std::string shown = text::escaped(word);
  if (characters(shown) <= kLongestLabel) return shown;
  std::size_t at = 0;
  for (std::size_t i = 1; i < kLongestLabel; ++i) pass(shown, at);
  return shown.substr(0, at) + "…";
}

std::string quoted(const std::string& word) { return "'" + label(word) + "'"; }

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + label(word);
  return text;
}

std::string listed(std::span<const double> numbers, int decimals) {
  std::string text;
  for (std::size_t i = 0; i < std::min(numbers.size(), kShownNumbers); ++i) {
    text += fmt::format("{}{:.{}f}", i == 0 ? "" : " ", numbers[i], decimals);
  }
  return "[" + text + (numbers.size() > kShownNumbers ? " ...]" : "]");
}

std::string shape_text(const Matrix& matrix) { return fmt::format("({},{})", matrix.rows, matrix.columns); }

double sum_of(std::span<const double> numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum;
}

std::string bar(double share, double length) {
  return std::string(static_cast<std::size_t>(std::lround(share * length)), '#');
}

std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t from = 0; from < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', from), lines.size() - 1) + 1;
    const std::size_t last = lines.find_last_not_of(" \n", end - 1);
    if (last != std::string::npos && last >= from) text += "   " + lines.substr(from, last + 1 - from);
    text += '\n';
    from = end;
  }
  return text;
}

Pictures::Pictures(const Words& words) {
  for (const std::string& word : words) {
    labels_.push_back(label(word));
    cell_ = std::max(cell_, characters(labels_.back()) + 1);
  }
}

}  // namespace dikkat::lessons
