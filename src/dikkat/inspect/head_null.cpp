#include "dikkat/inspect/head_null.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/nn/position/position.h"
#include "dikkat/random/streams.h"
#include "dikkat/stats/correction.h"
#include "dikkat/stats/summary.h"

namespace dikkat::inspect {
namespace {

constexpr std::size_t kBytesOfModels = std::size_t{2} << 30U;
constexpr std::size_t kDrawsBetweenReports = 4;  // for each worker

// Whatever makes the values of one draw, on threads of its own.
class Worker {
 public:
  explicit Worker(unsigned threads, const kernels::Executor& like)
      : pool_(threads), executor_{.pool = pool_, .bodies = like.bodies, .instructions = like.instructions} {}
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] virtual std::vector<double> draw(std::size_t number) = 0;

 protected:
  Pool pool_;
  kernels::Executor executor_;
};

class UntrainedWorker final : public Worker {
 public:
  UntrainedWorker(unsigned threads, const kernels::Executor& like, const models::Config& config, DType dtype,
                  const HeadWindows& windows, const NullOptions& options)
      : Worker(threads, like),
        model_(config, dtype, nn::ParameterStore::Gradients::none),
        passes_(model_, executor_),
        windows_(windows),
        options_(options) {}

  std::vector<double> draw(std::size_t number) override {
    model_.initialise(executor_, seed_of_draw(options_.seed, number));
    return score_heads(passes_, windows_, options_.stopped).means();
  }

 private:
  models::LanguageModel model_;
  Passes passes_;
  const HeadWindows& windows_;
  const NullOptions& options_;
};

class ShuffledWorker final : public Worker {
 public:
  ShuffledWorker(unsigned threads, const kernels::Executor& like, const models::LanguageModel& model,
                 const HeadWindows& windows, const NullOptions& options)
      : Worker(threads, like), passes_(model, executor_), windows_(windows), options_(options) {}

  std::vector<double> draw(std::size_t number) override {
    return score_heads(passes_, shuffled(windows_, options_.seed, number), options_.stopped).means();
  }

 private:
  Passes passes_;
  const HeadWindows& windows_;
  const NullOptions& options_;
};

using Workers = std::vector<std::unique_ptr<Worker>>;

HeadNull no_draws(const models::Config& config, const HeadWindows& windows, std::size_t draws) {
  const HeadColumns columns(windows.length, {.direction = config.direction, .window = config.window});
  return {.draws = draws,
          .layers = config.layers,
          .heads = config.heads,
          .columns = columns.count(),
          .values = std::vector<float>(draws * config.layers * config.heads * columns.count())};
}

// Which worker makes a draw is left open; a draw is a function of its number.
std::optional<HeadNull> drawn_by(Workers& workers, HeadNull null, const NullOptions& options) {
  Pool pool(static_cast<unsigned>(workers.size()));
  const std::size_t each = null.layers * null.heads * null.columns;
  const std::size_t at_a_time = workers.size() * kDrawsBetweenReports;
  for (std::size_t first = 0; first < null.draws; first += at_a_time) {
    const std::size_t count = std::min(at_a_time, null.draws - first);
    pool.run(count, [&](std::size_t part, unsigned worker) {
      const std::vector<double> values = workers[worker]->draw(first + part);
      std::transform(values.begin(), values.end(),
                     null.values.begin() + static_cast<std::ptrdiff_t>((first + part) * each),
                     [](double value) { return static_cast<float>(value); });
    });
    if (options.stopped && options.stopped()) return std::nullopt;
    if (options.progress && !options.progress(first + count)) return std::nullopt;
  }
  return null;
}

std::size_t number_of_workers(const kernels::Executor& executor, std::size_t bytes_each, std::size_t draws) {
  const std::size_t fit = std::max<std::size_t>(1, kBytesOfModels / std::max<std::size_t>(1, bytes_each));
  return std::max<std::size_t>(1, std::min({std::size_t{executor.pool.threads()}, fit, draws}));
}

double statistic_of(Alternative alternative, double z) {
  switch (alternative) {
    case Alternative::greater: return z;
    case Alternative::less: return -z;
    case Alternative::two_sided: return std::abs(z);
  }
  return z;
}

// A null that never moves calls any other value infinitely far.
double z_of(double value, double mean, double deviation) {
  if (deviation > 0) return (value - mean) / deviation;
  return value == mean ? 0 : std::copysign(std::numeric_limits<double>::infinity(), value - mean);
}

}  // namespace

std::uint64_t seed_of_draw(std::uint64_t seed, std::size_t draw) {
  return random::substream(random::stream(seed, "head null"), draw).key;
}

std::optional<HeadNull> untrained_null(const models::Config& config, DType dtype, const HeadWindows& windows,
                                       const NullOptions& options, const kernels::Executor& executor) {
  const std::size_t bytes = models::parameter_count(config) * bytes_of(dtype);
  const std::size_t count = number_of_workers(executor, bytes, options.draws);
  const auto threads = static_cast<unsigned>(executor.pool.threads() / count);
  Workers workers;
  for (std::size_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<UntrainedWorker>(threads, executor, config, dtype, windows, options));
  }
  return drawn_by(workers, no_draws(config, windows, options.draws), options);
}

std::optional<HeadNull> shuffled_null(const models::LanguageModel& model, const HeadWindows& windows,
                                      const NullOptions& options, const kernels::Executor& executor) {
  Workers workers;
  for (std::size_t i = 0; i < number_of_workers(executor, 0, options.draws); ++i) {
    workers.push_back(std::make_unique<ShuffledWorker>(1U, executor, model, windows, options));
  }
  return drawn_by(workers, no_draws(model.config(), windows, options.draws), options);
}

NullGroup group_of(const models::Config& config) {
  return config.position == models::PositionKind::alibi ? NullGroup::head : NullGroup::layer;
}

HeadTests::HeadTests(const HeadNull& null, HeadColumns columns, NullGroup group)
    : null_(null),
      columns_(std::move(columns)),
      by_head_(group == NullGroup::head),
      drawn_(kHeadScores),
      maxima_(kHeadScores) {
  if (null.columns != columns_.count() || null.draws == 0) {
    throw Error(ErrorKind::internal, "a null of other columns, or of no draws");
  }
  const std::size_t groups = by_head_ ? all_heads() : null.layers;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t c = 0; c < null.columns; ++c) moments_.push_back(moments_over_draws(g, c));
  }
  for (std::size_t s = 0; s < kHeadScores; ++s) {
    const auto score = static_cast<HeadScore>(s);
    if (!has(score)) continue;
    for (std::size_t k = 0; k < null.draws; ++k) {
      for (std::size_t head = 0; head < all_heads(); ++head) {
        const auto value = [&](std::size_t c) { return null_.at(k, head, c); };
        drawn_[s].push_back(outstanding(score, head, value).statistic);
      }
      maxima_[s].push_back(
          *std::max_element(drawn_[s].end() - static_cast<std::ptrdiff_t>(all_heads()), drawn_[s].end()));
    }
  }
}

HeadTests::Moments HeadTests::moments_over_draws(std::size_t g, std::size_t column) const {
  const std::size_t width = by_head_ ? 1 : null_.heads;
  std::vector<double> values;
  values.reserve(null_.draws * width);
  for (std::size_t k = 0; k < null_.draws; ++k) {
    for (std::size_t h = 0; h < width; ++h) values.push_back(null_.at(k, g * width + h, column));
  }
  const double deviation = stats::deviation(values);
  return {stats::mean(values), values.size() < 2 ? 0 : deviation};
}

template <class F>
HeadTests::Outstanding HeadTests::outstanding(HeadScore score, std::size_t head, F&& value) const {
  Outstanding most{.column = columns_.of(score).first, .z = 0, .statistic = -std::numeric_limits<double>::infinity()};
  for (std::size_t c = columns_.of(score).first; c < columns_.of(score).second; ++c) {
    const Moments& null = moments(head, c);
    if (std::isnan(null.mean)) continue;
    const double z = z_of(value(c), null.mean, null.deviation);
    const double statistic = statistic_of(alternative_of(score), z);
    if (statistic > most.statistic) most = {c, z, statistic};
  }
  return most;
}

bool HeadTests::has(HeadScore score) const {
  const auto [first, last] = columns_.of(score);
  for (std::size_t c = first; c < last; ++c) {
    if (!std::isnan(moments_[c].mean)) return true;
  }
  return false;
}

std::size_t HeadTests::scores() const {
  std::size_t count = 0;
  for (std::size_t s = 0; s < kHeadScores; ++s) count += has(static_cast<HeadScore>(s)) ? 1U : 0U;
  return count;
}

std::vector<HeadTest> HeadTests::test(HeadScore score, std::span<const double> values) const {
  const auto s = static_cast<std::size_t>(score);
  if (!has(score) || values.size() != all_heads() * null_.columns) {
    throw Error(ErrorKind::internal, "head scores: nothing to test");
  }
  std::vector<HeadTest> tests;
  std::vector<double> own(null_.draws);
  for (std::size_t head = 0; head < all_heads(); ++head) {
    // Rounded as the null's values are.
    const auto value = [&](std::size_t c) {
      return static_cast<double>(static_cast<float>(values[head * null_.columns + c]));
    };
    const Outstanding found = outstanding(score, head, value);
    for (std::size_t k = 0; k < null_.draws; ++k) own[k] = drawn_[s][k * all_heads() + head];
    const Moments& null = moments(head, found.column);
    tests.push_back({.column = found.column,
                     .null_mean = null.mean,
                     .null_deviation = null.deviation,
                     .z = found.z,
                     .raw_p = stats::max_statistic_p(found.statistic, own),
                     .adjusted_p = stats::max_statistic_p(found.statistic, maxima_[s])});
  }
  return tests;
}

}  // namespace dikkat::inspect
