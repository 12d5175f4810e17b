#include "dikkat/inspect/head_scores.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/inspect/head_rows.h"
#include "dikkat/kernels/maths.h"
#include "dikkat/stats/summary.h"

namespace dikkat::inspect {
namespace {

constexpr std::size_t kTokensAtATime = 256;
constexpr std::size_t kRowsInBlock = 32;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void append_bins(std::vector<DistanceBin>& bins, std::ptrdiff_t longest, std::ptrdiff_t sign) {
  for (std::ptrdiff_t first = 1, last = 1; first <= longest; first = last + 1, last = std::min(2 * last, longest)) {
    if (first > last) return;
    bins.push_back(sign > 0 ? DistanceBin{first, last} : DistanceBin{-last, -first});
  }
}

// Windows that go through the model together, and what their maps add up to.
class Collector {
 public:
  // columns, mask and values outlive it.
  Collector(const HeadColumns& columns, const kernels::Mask& mask, HeadValues& values)
      : columns_(columns), mask_(mask), values_(values) {}

  // Takes windows [first, first + count) next: of the text, or the repeated ones.
  void begin(const HeadWindows& windows, bool repeated, std::size_t first, std::size_t count) {
    looked_at_.clear();
    equal_.clear();
    first_ = first;
    for (std::size_t w = first; w < first + count; ++w) {
      looked_at_.push_back(repeated ? LookedAt{windows.repeated_window(w), windows.periods[w]}
                                    : LookedAt{windows.text_window(w), 0});
      equal_.emplace_back(looked_at_.back().tokens);
    }
  }

  // map (R, H, keys) of the windows begun with.
  void add(const kernels::Executor& executor, std::size_t layer, const Tensor& map) {
    const std::size_t length = looked_at_.front().tokens.size();
    if (map.shape().rank() != 3 || map.shape()[0] != looked_at_.size() * length || map.shape()[1] != values_.heads ||
        map.shape()[2] < length || layer >= values_.layers || !map.contiguous()) {
      throw Error(ErrorKind::internal, "head scores: a map of shape " + map.shape().text() + " does not fit");
    }
    with_number(map.dtype(), [&]<class T>() { add_map<T>(executor, layer, map); });
  }

 private:
  [[nodiscard]] RowFacts facts(std::size_t w) const { return {columns_, mask_, looked_at_[w], equal_[w]}; }

  // Blocks of rows in parallel, each into its own sums; then the sums in order.
  template <class T>
  void add_map(const kernels::Executor& executor, std::size_t layer, const Tensor& map) {
    const std::size_t heads = values_.heads;
    const std::size_t length = looked_at_.front().tokens.size();
    const std::size_t blocks = (length + kRowsInBlock - 1) / kRowsInBlock;
    const std::size_t sums = heads * columns_.count();
    const std::size_t each = sums + heads * heads;
    partial_.assign(looked_at_.size() * blocks * each, 0.0);
    executor.pool.run(looked_at_.size() * blocks, [&](std::size_t part, unsigned) {
      const std::size_t w = part / blocks;
      const std::size_t begin = part % blocks * kRowsInBlock;
      const HeadRows<T> rows{.map = map.data<T>() + w * length * heads * map.shape()[2],
                             .heads = heads,
                             .keys = map.shape()[2],
                             .begin = begin,
                             .end = std::min(begin + kRowsInBlock, length)};
      const std::span<double> own = std::span(partial_).subspan(part * each, each);
      add_rows<T>({.pool = executor.pool, .bodies = executor.bodies, .instructions = executor.instructions}, facts(w),
                  rows, own.first(sums), own.subspan(sums));
    });
    for (std::size_t w = 0; w < looked_at_.size(); ++w) {
      const std::span<double> of_window = std::span(partial_).subspan(w * blocks * each, blocks * each);
      for (std::size_t b = 1; b < blocks; ++b) {
        for (std::size_t k = 0; k < each; ++k) of_window[k] += of_window[b * each + k];
      }
      take(w, layer, of_window.first(sums), of_window.subspan(sums, heads * heads));
    }
  }

  void take(std::size_t w, std::size_t layer, std::span<const double> sums, std::span<const double> pairs) {
    const std::vector<std::size_t> rows = rows_that_count(facts(w));
    const std::size_t all = columns_.count();
    for (std::size_t h = 0; h < values_.heads; ++h) {
      double* to = &values_.values[(((first_ + w) * values_.layers + layer) * values_.heads + h) * all];
      for (std::size_t c = 0; c < all; ++c) {
        if ((c == column(HeadScore::induction)) != (looked_at_[w].period != 0)) continue;
        const double sum = c == column(HeadScore::separation) ? nearest(h, pairs) : sums[h * all + c];
        to[c] = rows[c] == 0 ? kNone : sum / static_cast<double>(rows[c]);
      }
    }
  }

  [[nodiscard]] double nearest(std::size_t h, std::span<const double> pairs) const {
    double least = kNone;
    for (std::size_t g = 0; g < values_.heads; ++g) {
      if (g == h) continue;
      const double distance = pairs[std::min(g, h) * values_.heads + std::max(g, h)];
      if (!(least <= distance)) least = distance;
    }
    return least;
  }

  const HeadColumns& columns_;
  const kernels::Mask& mask_;
  HeadValues& values_;
  std::vector<LookedAt> looked_at_;
  std::vector<EarlierEqual> equal_;
  std::size_t first_ = 0;
  std::vector<double> partial_;
};

// Hands every layer's map to the collector.
class MapTap final : public nn::Tap {
 public:
  MapTap(Collector& collector, const kernels::Executor& executor) : collector_(collector), executor_(executor) {}

  bool wants(std::string_view path) const override { return layer_of(path).has_value(); }
  void see(std::string_view path, Tensor& activation) override {
    collector_.add(executor_, static_cast<std::size_t>(*layer_of(path)), activation);
  }

 private:
  static std::optional<std::uint64_t> layer_of(std::string_view path) {
    constexpr std::string_view kBefore = "blocks.";
    constexpr std::string_view kAfter = ".attention.pattern";
    if (!path.starts_with(kBefore) || !path.ends_with(kAfter)) return std::nullopt;
    return count_from(path.substr(kBefore.size(), path.size() - kBefore.size() - kAfter.size()));
  }

  Collector& collector_;
  const kernels::Executor& executor_;
};

HeadValues no_values(std::size_t windows, std::size_t layers, std::size_t heads, std::size_t columns) {
  return {.windows = windows,
          .layers = layers,
          .heads = heads,
          .columns = columns,
          .values = std::vector<double>(windows * layers * heads * columns, kNone)};
}

void lay_out(std::span<const text::Token> tokens, std::size_t count, std::size_t length, data::Batch& batch) {
  batch.inputs.assign(tokens.begin(), tokens.end());
  batch.targets.clear();
  batch.lengths.assign(count, length);
  batch.rows.lay_out(batch.lengths, length);
}

void look_at(Passes& passes, const HeadWindows& windows, bool repeated, const std::function<bool()>& stopped,
             Collector& collector) {
  const std::size_t at_a_time = std::max<std::size_t>(1, kTokensAtATime / windows.length);
  const std::span<const text::Token> tokens = repeated ? windows.repeated : windows.text;
  MapTap tap(collector, passes.executor());
  data::Batch batch;
  for (std::size_t first = 0; first < tokens.size() / windows.length; first += at_a_time) {
    if (stopped && stopped()) return;
    const std::size_t count = std::min(at_a_time, tokens.size() / windows.length - first);
    collector.begin(windows, repeated, first, count);
    lay_out(tokens.subspan(first * windows.length, count * windows.length), count, windows.length, batch);
    passes.look(batch, tap);
  }
}

// ln 0, ..., ln n by the house's own logarithm.
std::vector<double> logarithms(std::size_t n) {
  std::vector<double> values(n + 1);
  for (std::size_t i = 0; i <= n; ++i) values[i] = static_cast<double>(i);
  Pool pool(1);
  kernels::evaluate<double>({.pool = pool}, kernels::Function::logarithm, values.data(), values.data(), n + 1);
  return values;
}

// What one window adds to the uniform head's values and to the windows that have them.
void add_uniform(const RowFacts& facts, std::span<const double> logarithm, std::vector<double>& sums,
                 std::vector<std::size_t>& windows) {
  std::vector<double> values(facts.columns.count());
  const auto add = [&](HeadScore score, double value) { values[column(score)] += value; };
  for (std::size_t i = 0; i < facts.length(); ++i) {
    if (!facts.counts(i)) continue;
    const kernels::KeyRange seen = facts.visible(i);
    const auto n = static_cast<double>(seen.end - seen.begin);
    add(HeadScore::centre, static_cast<double>(i) - static_cast<double>(seen.begin + seen.end - 1) / 2);
    add(HeadScore::spread, std::sqrt((n * n - 1) / 12));
    add(HeadScore::entropy, logarithm[seen.end - seen.begin]);
    add(HeadScore::self, 1 / n);
    add(HeadScore::previous, i >= 1 && i - 1 >= seen.begin ? 1 / n : 0);
    add(HeadScore::first, i >= 1 && seen.begin == 0 ? 1 / n : 0);
    facts.each_induction(i, [&](std::size_t) { add(HeadScore::induction, 1 / n); });
    facts.each_equal(i, [&](std::size_t) { add(HeadScore::same_character, 1 / n); });
    for (std::size_t b = 0; b < facts.columns.bins.size(); ++b) {
      const kernels::KeyRange keys = facts.keys_of(facts.columns.bins[b], i);
      values[column(HeadScore::distance) + b] += static_cast<double>(keys.end - keys.begin) / n;
    }
  }
  const std::vector<std::size_t> rows = rows_that_count(facts);
  for (std::size_t c = 0; c < values.size(); ++c) {
    if (rows[c] == 0) continue;
    sums[c] += values[c] / static_cast<double>(rows[c]);
    ++windows[c];
  }
}

}  // namespace

Alternative alternative_of(HeadScore score) {
  switch (score) {
    case HeadScore::centre:
    case HeadScore::spread: return Alternative::two_sided;
    case HeadScore::entropy: return Alternative::less;
    default: return Alternative::greater;
  }
}

HeadColumns::HeadColumns(std::size_t length, const kernels::Mask& mask) : bins{{0, 0}} {
  auto longest = static_cast<std::ptrdiff_t>(length) - 1;
  if (mask.window != 0) longest = std::min(longest, static_cast<std::ptrdiff_t>(mask.window) - 1);
  append_bins(bins, longest, 1);
  if (mask.direction == kernels::Direction::bidirectional) append_bins(bins, longest, -1);
}

HeadScore HeadColumns::score_of(std::size_t c) const {
  return static_cast<HeadScore>(std::min(c, column(HeadScore::distance)));
}

std::pair<std::size_t, std::size_t> HeadColumns::of(HeadScore score) const {
  return {column(score), score == HeadScore::distance ? count() : column(score) + 1};
}

std::vector<double> HeadValues::over_windows(std::size_t layer, std::size_t head, std::size_t c) const {
  std::vector<double> there;
  for (std::size_t w = 0; w < windows; ++w) {
    const double value = at(w, layer, head, c);
    if (!std::isnan(value)) there.push_back(value);
  }
  return there;
}

std::vector<double> HeadValues::means() const {
  std::vector<double> all;
  all.reserve(layers * heads * columns);
  for (std::size_t l = 0; l < layers; ++l) {
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t c = 0; c < columns; ++c) all.push_back(stats::mean(over_windows(l, h, c)));
    }
  }
  return all;
}

HeadValues HeadValues::spread(std::size_t wanted) const {
  if (wanted >= windows) return *this;
  HeadValues some{.windows = wanted, .layers = layers, .heads = heads, .columns = columns, .values = {}};
  const std::size_t each = layers * heads * columns;
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(spread_window(i, windows, wanted) * each);
    some.values.insert(some.values.end(), from, from + static_cast<std::ptrdiff_t>(each));
  }
  return some;
}

HeadValues score_heads(Passes& passes, const HeadWindows& windows, const std::function<bool()>& stopped) {
  const models::Config& config = passes.model().config();
  const kernels::Mask mask{.direction = config.direction, .window = config.window};
  const HeadColumns columns(windows.length, mask);
  HeadValues values = no_values(windows.count(), config.layers, config.heads, columns.count());
  Collector collector(columns, mask, values);
  look_at(passes, windows, false, stopped, collector);
  look_at(passes, windows, true, stopped, collector);
  return values;
}

HeadValues score_maps(const Tensor& text, const Tensor& repeated, const HeadWindows& windows, const kernels::Mask& mask,
                      const kernels::Executor& executor) {
  const HeadColumns columns(windows.length, mask);
  const std::size_t heads = text.shape().rank() == 4 ? text.shape()[2] : 0;
  HeadValues values = no_values(windows.count(), 1, heads, columns.count());
  Collector collector(columns, mask, values);
  const auto add = [&](const Tensor& maps, bool is_repeated) {
    collector.begin(windows, is_repeated, 0, windows.count());
    collector.add(executor, 0, maps.reshape({windows.count() * windows.length, heads, windows.length}));
  };
  add(text, false);
  if (!windows.periods.empty()) add(repeated, true);
  return values;
}

std::vector<double> uniform_head(const HeadWindows& windows, const kernels::Mask& mask) {
  const HeadColumns columns(windows.length, mask);
  std::vector<double> sums(columns.count());
  std::vector<std::size_t> there(columns.count());
  const std::vector<double> logarithm = logarithms(windows.length);
  const auto add = [&](const LookedAt& window) {
    const EarlierEqual equal(window.tokens);
    add_uniform({columns, mask, window, equal}, logarithm, sums, there);
  };
  for (std::size_t w = 0; w < windows.count(); ++w) {
    add({windows.text_window(w), 0});
    if (!windows.periods.empty()) add({windows.repeated_window(w), windows.periods[w]});
  }
  for (std::size_t c = 0; c < sums.size(); ++c)
    sums[c] = there[c] == 0 ? kNone : sums[c] / static_cast<double>(there[c]);
  return sums;
}

}  // namespace dikkat::inspect
