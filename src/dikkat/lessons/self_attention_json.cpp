// The lesson as data, under the names of its golden file (tests/golden/self_attention_expected.json).
#include <algorithm>

#include "dikkat/lessons/self_attention_lesson.h"

namespace dikkat::lessons {
namespace {

template <class Numbers>
Json list(const Numbers& numbers) {
  Json array = Json::array();
  for (const auto& number : numbers) array.push(Json(number));
  return array;
}

Json grid(const Matrix& matrix) {
  Json rows = Json::array();
  for (std::size_t r = 0; r < matrix.rows; ++r) rows.push(list(matrix.row(r)));
  return rows;
}

Json grids(const std::vector<Matrix>& matrices) {
  Json all = Json::array();
  for (const Matrix& matrix : matrices) all.push(grid(matrix));
  return all;
}

Json levels(const Matrix& weights) {
  Json rows = Json::array();
  for (const auto& row : heat_levels(weights)) rows.push(list(row));
  return rows;
}

// A whole number where it fits one, digits otherwise.
Json seed_of(const Seed& seed) {
  if (seed.size() > 2) return decimal(seed);
  return std::uint64_t{seed.size() > 1 ? seed[1] : 0} << 32U | seed[0];
}

Json row_sums(const Matrix& weights) {
  Json sums = Json::array();
  for (std::size_t r = 0; r < weights.rows; ++r) {
    double sum = 0;
    for (const double w : weights.row(r)) sum += w;
    sums.push(sum);
  }
  return sums;
}

void set_pictures(Json& object, const Matrix& weights, const std::vector<std::string>& words) {
  object.set("weights", grid(weights))
      .set("weights_3dp", weight_table(weights, words))
      .set("heatmap", heat_map(weights, words))
      .set("heatmap_levels", levels(weights));
}

Json example(const SoftmaxExample& example) {
  return Json::object().set("logits", list(example.scores)).set("probs", list(example.weights));
}

Json document_example(const SelfAttentionLesson& lesson) {
  Json scores = Json::array();
  for (const auto& row : kDocumentScores) scores.push(list(row));
  return Json::object()
      .set("scores_q1", list(kDocumentScores[0]))
      .set("weights_printed_in_document", list(kDocumentWeights))
      .set("weights_correct", list(lesson.document_weights.row(0)))
      .set("scores_5x5", std::move(scores))
      .set("weights_5x5", grid(lesson.document_weights));
}

Json base(const SelfAttentionLesson& lesson) {
  const SelfAttentionOptions& o = lesson.options;
  const Attended& a = lesson.base;
  Json object = Json::object();
  object.set("tokens", list(o.words))
      .set("mask", o.direction == kernels::Direction::causal ? "causal" : "none")
      .set("d_model", o.width)
      .set("dk", o.head_width)
      .set("dv", o.head_width)
      .set("seed", seed_of(o.seed))
      .set("X", grid(lesson.x))
      .set("Wq", grid(lesson.projections.query))
      .set("Wk", grid(lesson.projections.key))
      .set("Wv", grid(lesson.projections.value))
      .set("Q", grid(a.queries))
      .set("K", grid(a.keys))
      .set("V", grid(a.values))
      .set("scores", grid(lesson.scores))
      .set("output", grid(a.output))
      .set("row_sums", row_sums(a.weights[0]));
  set_pictures(object, a.weights[0], o.words);
  return object;
}

Json causal(const SelfAttentionLesson& lesson) {
  const Matrix& weights = lesson.causal.weights[0];
  double above = 0;
  for (std::size_t r = 0; r < weights.rows; ++r) {
    for (std::size_t c = r + 1; c < weights.columns; ++c) above = std::max(above, weights(r, c));
  }
  Json object = Json::object();
  object.set("output", grid(lesson.causal.output))
      .set("max_above_diagonal", above)
      .set("row0_is_v0", lesson.first_output_is_first_value)
      .set("same_with_minus_1e9", lesson.minus_1e9_is_minus_infinity);
  set_pictures(object, weights, lesson.options.words);
  return object;
}

Json scaling(const SelfAttentionLesson& lesson) {
  Json widths = Json::object();
  for (const WidthFigures& f : lesson.widths) {
    widths.set(std::to_string(f.width), Json::object()
                                            .set("std_raw", f.raw_deviation)
                                            .set("std_scaled", f.scaled_deviation)
                                            .set("mean_max_weight_raw", f.raw_largest)
                                            .set("mean_max_weight_scaled", f.scaled_largest));
  }
  return Json::object()
      .set("unscaled_weights", grid(lesson.unscaled_weights))
      .set("mean_row_entropy_scaled", lesson.entropy_scaled)
      .set("mean_row_entropy_unscaled", lesson.entropy_unscaled)
      .set("synthetic_n8_keys", std::move(widths));
}

Json heads(const SelfAttentionLesson& lesson, const SeveralHeads& several, const Attended& attended) {
  const SelfAttentionOptions& o = lesson.options;
  Json tables = Json::array();
  for (const Matrix& weights : attended.weights) tables.push(weight_table(weights, o.words));
  return Json::object()
      .set("d_model", o.width)
      .set("n_heads", o.heads)
      .set("seed", seed_of(o.seed))
      .set("Wq", grid(several.projections.query))
      .set("Wk", grid(several.projections.key))
      .set("Wv", grid(several.projections.value))
      .set("Wo", grid(several.projections.output))
      .set("head_weights", grids(attended.weights))
      .set("head_weights_3dp", std::move(tables))
      .set("mean_weights", grid(mean_of(attended.weights)))
      .set("concat", grid(attended.heads))
      .set("output", grid(attended.output));
}

Json two_sentences(const SelfAttentionLesson& lesson) {
  Json object = Json::object();
  object.set("A",
             Json::object().set("tokens", list(lesson.options.words)).set("weights", grid(lesson.base.weights[0])));
  if (lesson.two) {
    const Matrix& weights = lesson.two->second.weights[0];
    Json second = Json::object();
    second.set("tokens", list(lesson.options.second_words))
        .set("Xvalues", grid(lesson.two->x))
        .set("output", grid(lesson.two->second.output));
    set_pictures(second, weights, lesson.options.second_words);
    object.set("B", std::move(second))
        .set("compare", Json::object()
                            .set("mean_abs_weight_diff", lesson.two->distance.mean)
                            .set("max_abs_weight_diff", lesson.two->distance.largest)
                            .set("argmax_A", list(row_maxima(lesson.base.weights[0])))
                            .set("argmax_B", list(row_maxima(weights))));
  }
  std::vector<std::string> permuted;
  for (const std::size_t i : lesson.permuted.order) permuted.push_back(lesson.options.words[i]);
  if (lesson.causal_permuted) {
    object.set("permuted_A_causal", Json::object()
                                        .set("weights", grid(lesson.causal_permuted->attended.weights[0]))
                                        .set("equals_permuted_weights_max_abs", lesson.causal_permuted->weights_apart)
                                        .set("output_equals_permuted_max_abs", lesson.causal_permuted->output_apart));
  }
  return std::move(object.set("permuted_A", Json::object()
                                                .set("perm", list(lesson.permuted.order))
                                                .set("tokens", list(permuted))
                                                .set("weights", grid(lesson.permuted.attended.weights[0]))
                                                .set("equals_permuted_weights_max_abs", lesson.permuted.weights_apart)
                                                .set("output_equals_permuted_max_abs", lesson.permuted.output_apart)));
}

}  // namespace

Json as_json(const SelfAttentionLesson& lesson) {
  return Json::object()
      .set("softmax_demo", example(lesson.first_example))
      .set("softmax_large", example(lesson.large_example))
      .set("doc_illustration", document_example(lesson))
      .set("base", base(lesson))
      .set("causal", causal(lesson))
      .set("scaling", scaling(lesson))
      .set("multihead_split", heads(lesson, lesson.split, lesson.split.free))
      .set("multihead_split_causal", heads(lesson, lesson.split, lesson.split.causal))
      .set("multihead_per_head", heads(lesson, lesson.per_head, lesson.per_head.free))
      .set("multihead_per_head_causal", heads(lesson, lesson.per_head, lesson.per_head.causal))
      .set("multihead_split_H1_equals_single", lesson.one_head_is_single_attention)
      .set("two_sentences", two_sentences(lesson));
}

}  // namespace dikkat::lessons
