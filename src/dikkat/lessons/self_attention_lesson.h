// The lesson on self-attention (document "Self-attention from scratch"): softmax, scaled dot-product attention on
// random vectors for the words of a sentence, its weight table and heat map, and its exercises: a causal mask, several
// heads, two sentences through one instance. Everything in double.
//
// The numbers are the document's: drawn as NumPy's default_rng draws them (random/numpy_compatible.h).
//   X (n, d_model): standard normals from the seed
//   Wq, Wk: normals with deviation sqrt(2 / (d_model + dk)), Wv: sqrt(2 / (d_model + dv)), in that order, from the same
//   seed again (so Wq begins with the numbers of X, scaled)
// Two ways to several heads, each with Wo of deviation sqrt(2 / (2 d_model)):
//   split      Wq, Wk, Wv, Wo of full width, in that order from the seed; columns are cut in H chunks
//   per_head   head i is an instance of its own with dk = d_model / H from seed + i; Wo from seed + H
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "dikkat/base/json.h"
#include "dikkat/lessons/self_attention.h"

namespace dikkat::lessons {

using Seed = std::vector<std::uint32_t>;  // entropy words, lowest first

struct SelfAttentionOptions {
  std::vector<std::string> words = {"The", "cat", "sat", "on", "the", "mat"};
  std::vector<std::string> second_words = {"A", "dog", "ran", "in", "the", "park"};
  Seed seed = {42};
  Seed second_seed = {7};                                            // of the second sentence's X
  Seed scaling_seed = {0};                                           // of the random keys and queries
  std::size_t width = 8;                                             // d_model
  std::size_t head_width = 4;                                        // dk = dv
  std::size_t heads = 2;                                             // of exercise 2; divides width
  kernels::Direction direction = kernels::Direction::bidirectional;  // of steps 1 to 5
};

// Error{usage} that names the option: no words, more than kMostWords, a width of 0 or above kMostWidth, heads that do
// not divide the width.
inline constexpr std::size_t kMostWords = 16;  // tables of six columns a word still fit a wide terminal
inline constexpr std::size_t kMostWidth = 1024;
void check(const SelfAttentionOptions& options);

struct SoftmaxExample {
  std::vector<double> scores;
  std::vector<double> weights;
};

// How large scores grow with the width of keys: 2,000 random queries against 8 random keys.
struct WidthFigures {
  std::size_t width = 0;
  double raw_deviation = 0;     // of the scores
  double scaled_deviation = 0;  // of the scores divided by sqrt(width)
  double raw_largest = 0;       // mean over queries of the largest weight
  double scaled_largest = 0;
};

struct SeveralHeads {
  Projections projections;
  Attended free;  // no mask
  Attended causal;
};

struct TwoSentences {
  Matrix x;
  Attended second;
  Distance distance;  // of the weights
};

struct Permuted {
  std::vector<std::size_t> order;
  Attended attended;
  double weights_apart = 0;  // largest difference from the permuted weights
  double output_apart = 0;
};

// The document prints softmax of kDocumentScores' first row as kDocumentWeights, which sum to 0.90.
inline constexpr std::array<std::array<double, 5>, 5> kDocumentScores = {{{2.1, 0.3, 0.1, 0.8, 0.2},
                                                                          {0.4, 1.9, 0.7, 0.1, 0.3},
                                                                          {0.2, 0.6, 2.3, 0.5, 0.1},
                                                                          {0.9, 0.1, 0.4, 1.7, 0.6},
                                                                          {0.1, 0.3, 0.2, 0.5, 2.0}}};
inline constexpr std::array<double, 5> kDocumentWeights = {0.52, 0.09, 0.07, 0.14, 0.08};

struct SelfAttentionLesson {
  SelfAttentionOptions options;
  SoftmaxExample first_example;  // [2.0, 1.0, 0.1]
  SoftmaxExample large_example;  // [100, 200, 300]
  Matrix document_weights;       // softmax of kDocumentScores

  Matrix x;
  Projections projections;
  Matrix scores;         // scaled, before any mask
  double raw_score = 0;  // of the first word's query and the last one's key, undivided
  Attended base;

  Attended causal;
  bool first_output_is_first_value = false;  // causal, to the bit
  bool minus_1e9_is_minus_infinity = false;  // both added to the scores give the bits of skipping

  Matrix unscaled_weights;
  double entropy_scaled = 0;  // mean over rows, nats
  double entropy_unscaled = 0;
  double most_entropy = 0;  // of a row: log n; with the causal mask their mean
  std::vector<WidthFigures> widths;

  SeveralHeads split;
  SeveralHeads per_head;
  bool one_head_is_single_attention = false;  // to the bit
  double heads_apart = 0;  // mean |difference| of two heads' weights, over all pairs of the split; 0 for one head

  std::optional<TwoSentences> two;          // nothing where the lengths differ
  Permuted permuted;                        // without a mask
  std::optional<Permuted> causal_permuted;  // where the steps have the causal one

  std::optional<Distance> from_published;  // of the weights from those of default options; nothing at other lengths
};

[[nodiscard]] SelfAttentionLesson self_attention_lesson(const kernels::Executor& executor,
                                                        const SelfAttentionOptions& options = {});

// Five levels of a weight relative to the largest: int(4 w / largest), at most 4.
[[nodiscard]] std::vector<std::vector<std::size_t>> heat_levels(const Matrix& weights);
// The document's table (3 decimals) and heat map, in its layout: cells of six columns or more, words set to the right
// of theirs. Control characters of words are escaped.
inline constexpr std::size_t kCell = 6;
[[nodiscard]] std::string weight_table(const Matrix& weights, const std::vector<std::string>& words,
                                       std::size_t cell = kCell);
[[nodiscard]] std::string heat_map(const Matrix& weights, const std::vector<std::string>& words,
                                   std::size_t cell = kCell);

// What the document's program prints, byte for byte.
[[nodiscard]] std::string as_published(const SelfAttentionLesson& lesson);
// The lesson in English, step by step, with this run's figures.
[[nodiscard]] std::string explained(const SelfAttentionLesson& lesson);
[[nodiscard]] Json as_json(const SelfAttentionLesson& lesson);

// seed + addend.
[[nodiscard]] Seed added(Seed seed, std::uint32_t addend);
[[nodiscard]] std::string decimal(Seed seed);

}  // namespace dikkat::lessons
