// How the lesson on self-attention sets words, numbers and tables in text: what its parts share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/lessons/self_attention_lesson.h"

namespace dikkat::lessons {

using Words = std::vector<std::string>;

// As Python counts them; an invalid byte is one.
[[nodiscard]] std::size_t characters(std::string_view text);
[[nodiscard]] std::string padded(std::string text, std::size_t width);
// What a word is called: escaped, and cut to 11 characters.
[[nodiscard]] std::string label(const std::string& word);
[[nodiscard]] std::string quoted(const std::string& word);
[[nodiscard]] std::string joined(const Words& words);
// [0.097 0.122 ...], at most six.
[[nodiscard]] std::string listed(std::span<const double> numbers, int decimals = 3);
[[nodiscard]] std::string shape_text(const Matrix& matrix);
[[nodiscard]] double sum_of(std::span<const double> numbers);
// share of `length` marks.
[[nodiscard]] std::string bar(double share, double length = 40);
// Each line moved three columns in.
[[nodiscard]] std::string indented(const std::string& lines);

// Tables with labels that fit their cells.
class Pictures {
 public:
  explicit Pictures(const Words& words);

  [[nodiscard]] std::string table(const Matrix& weights) const {
    return indented(weight_table(weights, labels_, cell_));
  }
  [[nodiscard]] std::string map(const Matrix& weights) const { return indented(heat_map(weights, labels_, cell_)); }
  [[nodiscard]] std::size_t cell() const { return cell_; }

 private:
  Words labels_;
  std::size_t cell_ = kCell;
};

// The parts of explained(): steps 1 to 6; from the root of the width on to the end.
[[nodiscard]] std::string steps_explained(const SelfAttentionLesson& lesson);
[[nodiscard]] std::string exercises_explained(const SelfAttentionLesson& lesson);

}  // namespace dikkat::lessons
