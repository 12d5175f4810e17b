// The document's own layout, digit by digit.
#include <fmt/format.h>

#include <algorithm>

#include "dikkat/lessons/self_attention_layout.h"
#include "dikkat/text/utf8.h"

namespace dikkat::lessons {
namespace {

constexpr std::array<std::string_view, 5> kShades = {" ", "░", "▒", "▓", "█"};

// A word in its cell, counted in characters as Python counts them.
std::string in_cell(const std::string& word, std::size_t cell) {
  std::string shown = text::escaped(word);
  const std::size_t length = characters(shown);
  return length < cell ? shown.insert(0, cell - length, ' ') : shown;
}

std::string heading(const std::vector<std::string>& words, std::size_t cell) {
  std::string line(cell, ' ');
  for (const std::string& word : words) line += in_cell(word, cell);
  return line + "\n";
}

// A row of numbers as NumPy prints it: 8 decimals without the zeros at their end, points under each other.
std::string numpy_row(const std::vector<double>& values) {
  std::vector<std::string> numbers;
  std::size_t whole = 0;
  std::size_t decimals = 0;
  for (const double value : values) {
    std::string number = fmt::format("{:.8f}", value);
    number.erase(number.find_last_not_of('0') + 1);
    const std::size_t point = number.find('.');
    whole = std::max(whole, point);
    decimals = std::max(decimals, number.size() - point - 1);
    numbers.push_back(std::move(number));
  }
  std::string row;
  for (const std::string& number : numbers) {
    const std::size_t point = number.find('.');
    row += (row.empty() ? "" : " ") + std::string(whole - point, ' ') + number +
           std::string(decimals - (number.size() - point - 1), ' ');
  }
  return "[" + row + "]";
}

}  // namespace

std::vector<std::vector<std::size_t>> heat_levels(const Matrix& weights) {
  const double largest = std::ranges::max(weights.values);
  const auto top = static_cast<double>(kShades.size() - 1);
  std::vector<std::vector<std::size_t>> levels(weights.rows);
  for (std::size_t r = 0; r < weights.rows; ++r) {
    for (const double w : weights.row(r)) {
      levels[r].push_back(std::min(static_cast<std::size_t>(w * top / largest), kShades.size() - 1));
    }
  }
  return levels;
}

std::string weight_table(const Matrix& weights, const std::vector<std::string>& words, std::size_t cell) {
  std::string table = heading(words, cell);
  for (std::size_t r = 0; r < weights.rows; ++r) {
    table += in_cell(words[r], cell);
    for (const double w : weights.row(r)) table += fmt::format("{:{}.3f}", w, cell);
    table += '\n';
  }
  return table;
}

std::string heat_map(const Matrix& weights, const std::vector<std::string>& words, std::size_t cell) {
  std::string map = heading(words, cell);
  const auto levels = heat_levels(weights);
  for (std::size_t r = 0; r < weights.rows; ++r) {
    map += in_cell(words[r], cell);
    for (const std::size_t level : levels[r]) map += fmt::format("{}{}   ", std::string(cell - 4, ' '), kShades[level]);
    map += '\n';
  }
  return map;
}

std::string as_published(const SelfAttentionLesson& lesson) {
  const SoftmaxExample& first = lesson.first_example;
  const std::vector<std::string>& words = lesson.options.words;
  const Matrix& weights = lesson.base.weights[0];
  return fmt::format("logits:  {}\nsoftmax: {}\nsum:     {:.4f}\n", numpy_row(first.scores), numpy_row(first.weights),
                     sum_of(first.weights)) +
         "Attention weights (each row: where that token looks):\n\n" + weight_table(weights, words) + "\n" +
         heat_map(weights, words);
}

}  // namespace dikkat::lessons
