#include "dikkat/train/check_probe.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/models/language_model.h"
#include "dikkat/models/series_model.h"
#include "dikkat/tensor/arena.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/series_objective.h"

namespace dikkat::train {
namespace {

using Gradients = nn::ParameterStore::Gradients;

// Of an objective that its children hold.
class ObjectiveProbe : public Probe {
 public:
  const nn::ParameterStore& parameters() const final { return objective().parameters(); }

  double loss(Gradients gradients) final {
    if (drawn_.rows == nullptr) drawn_ = objective().draw(0, 1, 0, samples_);
    const bool kept = gradients == Gradients::kept;
    if (kept) parameters().zero_gradients();
    const double scale = 1.0 / static_cast<double>(std::max<std::size_t>(drawn_.targets, 1));
    const double total = pass(kept ? &tape_ : nullptr, scale);
    if (kept) parameters().finish_gradients(executor_);
    return total * scale;
  }

 protected:
  ObjectiveProbe(const ProbeOptions& options, const kernels::Executor& executor)
      : executor_(executor), seed_(options.seed), samples_(options.samples) {}
  [[nodiscard]] virtual Objective& objective() const = 0;

 private:
  double pass(Tape* tape, double scale) {
    const ArenaPass pass(arena_);
    Context context{.executor = executor_,
                    .memory = arena_,
                    .rows = drawn_.rows,
                    .tape = tape,
                    .mode = Mode::training,
                    .seed = seed_,
                    .step = 1};
    double total = 0;
    {
      const Tensor losses = objective().losses(context, 0, scale);
      with_number(losses.dtype(),
                  [&]<class T>() { total = kernels::sum<T>(executor_, losses.data<T>(), losses.count()); });
    }
    if (tape != nullptr) tape->backward(context);
    return total;
  }

  kernels::Executor executor_;
  std::uint64_t seed_;
  std::size_t samples_;
  Drawn drawn_;
  Arena arena_;
  Tape tape_;
};

class TextProbe final : public ObjectiveProbe {
 public:
  TextProbe(const ProbeOptions& options, std::span<const text::Token> tokens, const kernels::Executor& executor)
      : ObjectiveProbe(options, executor),
        model_(options.model, options.dtype, Gradients::kept),
        source_(tokens, options.length, options.seed),
        objective_(model_, source_) {
    model_.initialise(executor, options.seed);
  }
  double ignorance() const override { return std::log(static_cast<double>(model_.config().vocabulary)); }

 protected:
  Objective& objective() const override { return objective_; }

 private:
  models::LanguageModel model_;
  WindowSource source_;
  mutable LanguageObjective objective_;
};

// The first `length` steps of the series `which`.
data::CodedSeries beginnings(const data::CodedSeries& series, std::span<const std::size_t> which, std::size_t length) {
  data::CodedSeries cut;
  cut.channels = series.channels;
  for (const std::size_t s : which) {
    const std::size_t steps = std::min(length, series.length(s));
    const auto first = series.values.begin() + static_cast<std::ptrdiff_t>(series.first_step[s] * series.channels);
    cut.values.insert(cut.values.end(), first, first + static_cast<std::ptrdiff_t>(steps * series.channels));
    cut.first_step.push_back(cut.first_step.back() + steps);
    if (!series.classes.empty()) cut.classes.push_back(series.classes[s]);
    if (!series.numbers.empty()) cut.numbers.push_back(series.numbers[s]);
  }
  return cut;
}

std::vector<std::size_t> first_rows(std::span<const std::size_t> rows, std::size_t count, std::uint64_t seed) {
  EpochOrder order({rows.begin(), rows.end()}, seed);
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < std::min(count, rows.size()); ++i) first.push_back(order.at(i));
  return first;
}

std::vector<std::size_t> all_of(const data::CodedSeries& series) {
  std::vector<std::size_t> rows(series.count());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return rows;
}

class SeriesProbe final : public ObjectiveProbe {
 public:
  SeriesProbe(const ProbeOptions& options, const data::CodedSeries& series, const kernels::Executor& executor)
      : ObjectiveProbe(options, executor),
        series_(series),
        model_(options.model, options.dtype, Gradients::kept),
        objective_(model_, series_, all_of(series_), options.samples, options.seed) {
    model_.initialise(executor, options.seed);
  }
  double ignorance() const override {
    const models::Config& config = model_.config();
    if (config.task == models::Task::classify) {
      return std::log(static_cast<double>(std::max<std::size_t>(2, config.outputs)));
    }
    double squares = 0;
    for (const double number : series_.numbers) squares += number * number;
    return squares / static_cast<double>(series_.count());
  }

 protected:
  Objective& objective() const override { return objective_; }

 private:
  data::CodedSeries series_;
  models::SeriesModel model_;
  mutable SeriesObjective objective_;
};

}  // namespace

std::unique_ptr<Probe> text_probe(const ProbeOptions& options, std::span<const text::Token> tokens,
                                  const kernels::Executor& executor) {
  return std::make_unique<TextProbe>(options, tokens, executor);
}

std::unique_ptr<Probe> series_probe(const ProbeOptions& options, const data::CodedSeries& series,
                                    std::span<const std::size_t> rows, const kernels::Executor& executor) {
  const std::vector<std::size_t> which = first_rows(rows, options.samples, options.seed);
  ProbeOptions of_those = options;
  of_those.samples = which.size();
  return std::make_unique<SeriesProbe>(of_those, beginnings(series, which, options.length), executor);
}

}  // namespace dikkat::train
