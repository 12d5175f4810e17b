// The lesson in English, steps 1 to 6. Every figure is this run's.
#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/size_text.h"
#include "dikkat/lessons/self_attention_layout.h"

namespace dikkat::lessons {
namespace {

// Whose row is looked at: the first word's, or the last one's where the first may see itself only.
std::size_t asking(const SelfAttentionLesson& lesson) {
  return lesson.options.direction == kernels::Direction::causal ? lesson.x.rows - 1 : 0;
}

std::string title(const SelfAttentionLesson& lesson) {
  const SelfAttentionOptions& o = lesson.options;
  return fmt::format(
      "Self-attention from scratch: \"{}\"\n"
      "{} as vectors of {} random numbers (seed {}); queries, keys and values\nare {} wide{}.\n\n",
      joined(o.words), counted(o.words.size(), "word"), o.width, decimal(o.seed), o.head_width,
      o.direction == kernels::Direction::causal ? "; causal mask" : "");
}

std::string why(const SelfAttentionLesson& lesson) {
  const Words& words = lesson.options.words;
  const std::size_t n = words.size();
  const bool causal = lesson.options.direction == kernels::Direction::causal;
  const std::string reach =
      causal ? "every word look at itself and\n   at the words before it" : "every word look at every word\n  ";
  const std::string scores = causal ? fmt::format("{} x {} / 2 = {}", n, n + 1, counted(n * (n + 1) / 2, "score"))
                                    : fmt::format("{0} x {0} = {1}", n, counted(n * n, "score"));
  return fmt::format(
      "1. Why: from one step after the other to all at once\n"
      "   A recurrent network reads {6} in {7}, O(n): what it knows of {1} is\n"
      "   squeezed through its hidden state {2} before it has read {3}.\n"
      "   Attention lets {0} in one parallel step: {4},\n"
      "   and no path is longer than 1.\n"
      "   Here {3} takes {5:.1f} % of what it becomes straight from {1}.\n\n",
      reach, quoted(words.front()), counted(n - 1, "time"), quoted(words.back()), scores,
      100 * lesson.base.weights[0](n - 1, 0), counted(n, "word"), counted(n, "step"));
}

std::string blend(const SelfAttentionLesson& lesson, std::size_t row) {
  constexpr std::size_t kShown = 3;
  const Words& words = lesson.options.words;
  std::string sum;
  for (std::size_t c = 0; c < std::min(words.size(), kShown); ++c) {
    sum += fmt::format("{}{:.3f} v({})", c == 0 ? "" : " + ", lesson.base.weights[0](row, c), label(words[c]));
  }
  return sum + (words.size() > kShown ? " + ..." : "");
}

std::string lookup(const SelfAttentionLesson& lesson) {
  const Words& words = lesson.options.words;
  const std::size_t row = asking(lesson);
  const std::size_t width = Pictures(words).cell();
  std::string text = fmt::format(
      "2. A table that is looked up softly\n"
      "   An ordinary table:  query \"capital of France\" -> the one key that is equal\n"
      "                       -> its value, \"Paris\"\n"
      "   Attention:          query of {0} -> similarity to {2}\n"
      "   Each word's vector is turned into three: a query (what am I looking for?),\n"
      "   a key (what do I contain?) and a value (what do I offer if I am chosen?).\n"
      "   {0} asks:\n"
      "      {1} score  weight\n",
      quoted(words[row]), padded("key of", width),
      lesson.options.direction == kernels::Direction::causal
          ? "its own and earlier keys\n                       -> a blend of their values"
          : "ALL keys\n                       -> a blend of ALL values");
  for (std::size_t c = 0; c < words.size(); ++c) {
    const double weight = lesson.base.weights[0](row, c);
    text += fmt::format("      {} {:5.2f}  {:.3f}  {}", padded(label(words[c]), width), lesson.scores(row, c), weight,
                        bar(weight));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text + fmt::format("   and becomes {}\n               = {}\n\n", blend(lesson, row),
                            listed(lesson.base.output.row(row)));
}

std::string pipeline(const SelfAttentionLesson& lesson) {
  const Attended& a = lesson.base;
  const std::string map = shape_text(a.weights[0]);
  const std::string score = fmt::format("Q K^T / sqrt({}) {} -> softmax {}", lesson.options.head_width, map, map);
  const std::string gap(shape_text(lesson.x).size() + 6, ' ');
  return fmt::format(
      "3. The pipeline, with this run's shapes\n"
      "   {0}+-> Q = X Wq {1} -+\n"
      "   X {2} ---+-> K = X Wk {1} -+-> {3} -+-> weighted sum {4}\n"
      "   {0}+-> V = X Wv {4} ----{5}-+\n"
      "   In one line:  Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V\n\n",
      gap, shape_text(a.queries), shape_text(lesson.x), score, shape_text(a.output),
      std::string(score.size() + 1, '-'));
}

std::string softmax_step(const SelfAttentionLesson& lesson) {
  const auto line = [](std::span<const double> scores, std::span<const double> weights) {
    return fmt::format("   {:<38} -> {}  sum {:.4f}\n", listed(scores, 2), listed(weights), sum_of(weights));
  };
  const std::size_t row = asking(lesson);
  const auto right = lesson.document_weights.row(0);
  return "4. Softmax makes weights of scores: none negative, 1 in sum\n" +
         line(lesson.first_example.scores, lesson.first_example.weights) +
         line(lesson.large_example.scores, lesson.large_example.weights) +
         "      (the largest score is subtracted first, so that nothing overflows)\n" +
         line(lesson.scores.row(row), lesson.base.weights[0].row(row)) +
         fmt::format("      (the row of {} in this run)\n", quoted(lesson.options.words[row])) +
         fmt::format(
             "   One example of the document is wrong. For the scores\n   {} it shows\n"
             "   {}, which is {:.2f} in sum: no softmax. Right is\n"
             "   {}, sum {:.3f}, and so the output is\n"
             "   {:.3f} v1 + {:.3f} v2 + {:.3f} v3 + {:.3f} v4 + {:.3f} v5.\n\n",
             listed(kDocumentScores[0], 1), listed(kDocumentWeights, 2), sum_of(kDocumentWeights), listed(right),
             sum_of(right), right[0], right[1], right[2], right[3], right[4]);
}

std::string pictures(const SelfAttentionLesson& lesson) {
  const Words& words = lesson.options.words;
  const Matrix& weights = lesson.base.weights[0];
  const Pictures pictures(words);
  const auto cell = static_cast<std::size_t>(std::ranges::max_element(weights.values) - weights.values.begin());
  return "5. All weights: row by row, where that word looks\n" + pictures.table(weights) +
         "\n6. The same as a heat map, in five shades of the largest weight\n" + pictures.map(weights) +
         fmt::format("   The darkest cell: {} looks at {} with {:.3f}. All rows are 1 in sum,\n   columns are not.\n\n",
                     quoted(words[cell / weights.columns]), quoted(words[cell % weights.columns]),
                     weights.values[cell]);
}

}  // namespace

std::string steps_explained(const SelfAttentionLesson& lesson) {
  return title(lesson) + why(lesson) + lookup(lesson) + pipeline(lesson) + softmax_step(lesson) + pictures(lesson);
}

std::string explained(const SelfAttentionLesson& lesson) {
  return steps_explained(lesson) + exercises_explained(lesson);
}

}  // namespace dikkat::lessons
