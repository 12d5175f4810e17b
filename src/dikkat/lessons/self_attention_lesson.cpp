#include "dikkat/lessons/self_attention_lesson.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dikkat/random/numpy_compatible.h"

namespace dikkat::lessons {
namespace {

using random::NumpyGenerator;

constexpr std::array<std::size_t, 6> kWidths = {1, 4, 16, 64, 256, 1024};
constexpr std::size_t kRandomQueries = 2000;
constexpr std::size_t kRandomKeys = 8;
constexpr kernels::Mask kFree = {.direction = kernels::Direction::bidirectional};
constexpr kernels::Mask kCausal = {.direction = kernels::Direction::causal};

void need(bool holds, std::string message, const char* key, std::string hint) {
  if (!holds) throw Error(ErrorKind::usage, std::move(message), {.key = key, .hint = std::move(hint)});
}

Matrix drawn(NumpyGenerator& generator, std::size_t rows, std::size_t columns, double deviation) {
  Matrix matrix(rows, columns);
  generator.fill_normal(deviation, matrix.values);
  return matrix;
}

Matrix words_as_vectors(const Seed& seed, std::size_t words, std::size_t width) {
  NumpyGenerator generator{seed};
  return drawn(generator, words, width, 1.0);
}

double deviation(std::size_t width, std::size_t head_width) {
  return std::sqrt(2.0 / static_cast<double>(width + head_width));
}

Projections one_instance(const Seed& seed, std::size_t width, std::size_t head_width) {
  NumpyGenerator generator{seed};
  const double scale = deviation(width, head_width);
  Projections projections;
  projections.query = drawn(generator, width, head_width, scale);
  projections.key = drawn(generator, width, head_width, scale);
  projections.value = drawn(generator, width, head_width, scale);
  return projections;
}

Projections split_projections(const Seed& seed, std::size_t width) {
  NumpyGenerator generator{seed};
  const double scale = deviation(width, width);
  Projections projections;
  for (Matrix* matrix : {&projections.query, &projections.key, &projections.value, &projections.output}) {
    *matrix = drawn(generator, width, width, scale);
  }
  return projections;
}

Projections per_head_projections(const Seed& seed, std::size_t width, std::size_t heads) {
  std::vector<Matrix> queries;
  std::vector<Matrix> keys;
  std::vector<Matrix> values;
  for (std::size_t head = 0; head < heads; ++head) {
    Projections one = one_instance(added(seed, static_cast<std::uint32_t>(head)), width, width / heads);
    queries.push_back(std::move(one.query));
    keys.push_back(std::move(one.key));
    values.push_back(std::move(one.value));
  }
  NumpyGenerator generator{added(seed, static_cast<std::uint32_t>(heads))};
  return {side_by_side(queries), side_by_side(keys), side_by_side(values),
          drawn(generator, width, width, deviation(width, width))};
}

SoftmaxExample example(const kernels::Executor& executor, std::vector<double> scores) {
  Matrix row(1, scores.size());
  row.values = scores;
  return {std::move(scores), softmax(executor, std::move(row)).values};
}

Matrix document_weights(const kernels::Executor& executor) {
  Matrix scores(kDocumentScores.size(), kDocumentScores.size());
  for (std::size_t r = 0; r < scores.rows; ++r) std::ranges::copy(kDocumentScores[r], scores.row(r).data());
  return softmax(executor, std::move(scores));
}

// The document's exercise: a number added to what may not be seen, before softmax.
Matrix weights_with_added(const kernels::Executor& executor, Matrix scores, double hidden) {
  for (std::size_t r = 0; r < scores.rows; ++r) {
    for (std::size_t c = r + 1; c < scores.columns; ++c) scores(r, c) += hidden;
  }
  return softmax(executor, std::move(scores));
}

double deviation_of(const Matrix& scores) {
  const auto n = static_cast<double>(scores.values.size());
  double mean = 0;
  for (const double s : scores.values) mean += s;
  mean /= n;
  double squares = 0;
  for (const double s : scores.values) squares += (s - mean) * (s - mean);
  return std::sqrt(squares / n);
}

double mean_largest(const kernels::Executor& executor, const Matrix& scores) {
  const Matrix weights = softmax(executor, scores);
  double sum = 0;
  for (std::size_t r = 0; r < weights.rows; ++r) sum += std::ranges::max(weights.row(r));
  return sum / static_cast<double>(weights.rows);
}

std::vector<WidthFigures> width_figures(const kernels::Executor& executor, const Seed& seed) {
  NumpyGenerator generator{seed};
  std::vector<WidthFigures> figures;
  for (const std::size_t width : kWidths) {
    Attended random;
    random.queries = drawn(generator, kRandomQueries, width, 1.0);
    random.keys = drawn(generator, kRandomKeys, width, 1.0);
    const Matrix raw = scores_of(executor, random, {.scaling = Scaling::none});
    const Matrix scaled = scores_of(executor, random, {});
    figures.push_back(
        {width, deviation_of(raw), deviation_of(scaled), mean_largest(executor, raw), mean_largest(executor, scaled)});
  }
  return figures;
}

SeveralHeads several_heads(const kernels::Executor& executor, const Matrix& x, Projections projections,
                           std::size_t heads) {
  Attended free = self_attention(executor, x, projections, {.heads = heads, .mask = kFree});
  Attended causal = self_attention(executor, x, projections, {.heads = heads, .mask = kCausal});
  return {std::move(projections), std::move(free), std::move(causal)};
}

// Cut in one chunk, full-width projections are what a single attention of full width computes.
bool one_head_equals_single(const kernels::Executor& executor, const Matrix& x, Projections projections) {
  const Attended split = self_attention(executor, x, projections, {.heads = 1});
  projections.output = {};
  const Attended single = self_attention(executor, x, projections);
  return split.heads == single.output && split.weights == single.weights;
}

std::optional<TwoSentences> two_sentences(const kernels::Executor& executor, const SelfAttentionLesson& lesson,
                                          const AttentionSetting& setting) {
  const SelfAttentionOptions& options = lesson.options;
  if (options.second_words.size() != options.words.size()) return std::nullopt;
  TwoSentences two;
  two.x = words_as_vectors(options.second_seed, options.second_words.size(), options.width);
  two.second = self_attention(executor, two.x, lesson.projections, setting);
  two.distance = distance(lesson.base.weights[0], two.second.weights[0]);
  return two;
}

// The first word changes places with the last but one (with the last of two).
std::vector<std::size_t> swapped_order(std::size_t words) {
  std::vector<std::size_t> order(words);
  std::iota(order.begin(), order.end(), 0U);
  if (words > 1) std::swap(order[0], order[words > 2 ? words - 2 : 1]);
  return order;
}

// With the causal mask a word's neighbours change with its place, and so do its weights.
Permuted permuted(const kernels::Executor& executor, const SelfAttentionLesson& lesson, kernels::Mask mask) {
  const Attended straight = self_attention(executor, lesson.x, lesson.projections, {.mask = mask});
  Permuted result;
  result.order = swapped_order(lesson.x.rows);
  result.attended = self_attention(executor, rows_in_order(lesson.x, result.order), lesson.projections, {.mask = mask});
  Matrix expected = rows_in_order(straight.weights[0], result.order);
  for (std::size_t r = 0; r < expected.rows; ++r) {
    const std::vector<double> row(expected.row(r).begin(), expected.row(r).end());
    for (std::size_t c = 0; c < expected.columns; ++c) expected(r, c) = row[result.order[c]];
  }
  result.weights_apart = distance(result.attended.weights[0], expected).largest;
  result.output_apart = distance(result.attended.output, rows_in_order(straight.output, result.order)).largest;
  return result;
}

// The weights of step 4 with the document's own settings.
std::optional<Distance> from_published(const kernels::Executor& executor, const SelfAttentionLesson& lesson) {
  const SelfAttentionOptions published;
  if (lesson.x.rows != published.words.size()) return std::nullopt;
  const Matrix x = words_as_vectors(published.seed, published.words.size(), published.width);
  const Attended base =
      self_attention(executor, x, one_instance(published.seed, published.width, published.head_width));
  return distance(lesson.base.weights[0], base.weights[0]);
}

void run_mask_exercise(const kernels::Executor& executor, SelfAttentionLesson& lesson) {
  lesson.causal = self_attention(executor, lesson.x, lesson.projections, {.mask = kCausal});
  lesson.first_output_is_first_value = std::ranges::equal(lesson.causal.output.row(0), lesson.causal.values.row(0));
  const double infinity = std::numeric_limits<double>::infinity();
  const Matrix& skipped = lesson.causal.weights[0];
  lesson.minus_1e9_is_minus_infinity = weights_with_added(executor, lesson.scores, -infinity) == skipped &&
                                       weights_with_added(executor, lesson.scores, -1e9) == skipped;
}

// As even as the mask lets them be.
Matrix weights_of_equal_scores(const kernels::Executor& executor, std::size_t words, kernels::Mask mask) {
  const Matrix nothing(1, 1);
  return self_attention(executor, Matrix(words, 1), {nothing, nothing, nothing}, {.mask = mask}).weights[0];
}

double mean_distance_of_pairs(const std::vector<Matrix>& maps) {
  double sum = 0;
  std::size_t pairs = 0;
  for (std::size_t a = 0; a < maps.size(); ++a) {
    for (std::size_t b = a + 1; b < maps.size(); ++b, ++pairs) sum += distance(maps[a], maps[b]).mean;
  }
  return pairs == 0 ? 0 : sum / static_cast<double>(pairs);
}

void run_scaling(const kernels::Executor& executor, SelfAttentionLesson& lesson, AttentionSetting setting) {
  lesson.entropy_scaled = mean_row_entropy(executor, lesson.base.weights[0]);
  setting.scaling = Scaling::none;
  lesson.most_entropy = mean_row_entropy(executor, weights_of_equal_scores(executor, lesson.x.rows, setting.mask));
  lesson.unscaled_weights = self_attention(executor, lesson.x, lesson.projections, setting).weights[0];
  lesson.entropy_unscaled = mean_row_entropy(executor, lesson.unscaled_weights);
  lesson.widths = width_figures(executor, lesson.options.scaling_seed);
}

void run_several_heads(const kernels::Executor& executor, SelfAttentionLesson& lesson) {
  const SelfAttentionOptions& o = lesson.options;
  const Projections split = split_projections(o.seed, o.width);
  lesson.one_head_is_single_attention = one_head_equals_single(executor, lesson.x, split);
  lesson.split = several_heads(executor, lesson.x, split, o.heads);
  const bool causal = o.direction == kernels::Direction::causal;
  lesson.heads_apart = mean_distance_of_pairs((causal ? lesson.split.causal : lesson.split.free).weights);
  lesson.per_head = several_heads(executor, lesson.x, per_head_projections(o.seed, o.width, o.heads), o.heads);
}

}  // namespace

void check(const SelfAttentionOptions& options) {
  const std::size_t words = options.words.size();
  need(words != 0, "a sentence of no words has nothing to attend to", "sentence", "give at least one word");
  need(words <= kMostWords && options.second_words.size() <= kMostWords,
       "a sentence of " + std::to_string(std::max(words, options.second_words.size())) +
           " words does not fit into the lesson's tables (at most " + std::to_string(kMostWords) + ")",
       "sentence", "give a shorter one; dikkat attend takes longer ones");
  const auto fits = [](std::size_t width) { return width >= 1 && width <= kMostWidth; };
  need(fits(options.width), "the width of the words' vectors is 1 to " + std::to_string(kMostWidth), "d-model",
       "give a width like --d-model 16");
  need(fits(options.head_width), "the width of queries, keys and values is 1 to " + std::to_string(kMostWidth), "dk",
       "give a width like --dk 8");
  need(options.heads != 0 && options.width % options.heads == 0,
       std::to_string(options.heads) + " heads do not divide the width " + std::to_string(options.width), "heads",
       "each head gets an equal chunk of it: give a divisor");
}

SelfAttentionLesson self_attention_lesson(const kernels::Executor& executor, const SelfAttentionOptions& options) {
  check(options);
  SelfAttentionLesson lesson;
  lesson.options = options;
  lesson.first_example = example(executor, {2.0, 1.0, 0.1});
  lesson.large_example = example(executor, {100.0, 200.0, 300.0});
  lesson.document_weights = document_weights(executor);

  const AttentionSetting setting{.mask = {.direction = options.direction}};
  lesson.x = words_as_vectors(options.seed, options.words.size(), options.width);
  lesson.projections = one_instance(options.seed, options.width, options.head_width);
  lesson.base = self_attention(executor, lesson.x, lesson.projections, setting);
  lesson.scores = scores_of(executor, lesson.base, setting);
  lesson.raw_score = scores_of(executor, lesson.base, {.scaling = Scaling::none})(0, lesson.x.rows - 1);

  run_mask_exercise(executor, lesson);
  run_scaling(executor, lesson, setting);
  run_several_heads(executor, lesson);
  lesson.two = two_sentences(executor, lesson, setting);
  lesson.permuted = permuted(executor, lesson, kFree);
  if (options.direction == kernels::Direction::causal) lesson.causal_permuted = permuted(executor, lesson, kCausal);
  lesson.from_published = from_published(executor, lesson);
  return lesson;
}

Seed added(Seed seed, std::uint32_t addend) {
  std::uint64_t carry = addend;
  for (std::uint32_t& word : seed) {
    carry += word;
    word = static_cast<std::uint32_t>(carry);
    carry >>= 32U;
  }
  if (carry != 0) seed.push_back(static_cast<std::uint32_t>(carry));
  return seed;
}

std::string decimal(Seed seed) {
  std::string digits;
  do {
    std::uint64_t rest = 0;
    for (std::size_t i = seed.size(); i-- > 0;) {
      rest = rest << 32U | seed[i];
      seed[i] = static_cast<std::uint32_t>(rest / 10);
      rest %= 10;
    }
    digits.insert(digits.begin(), static_cast<char>('0' + rest));
    while (!seed.empty() && seed.back() == 0) seed.pop_back();
  } while (!seed.empty());
  return digits;
}

}  // namespace dikkat::lessons
