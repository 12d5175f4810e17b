#include "dikkat/train/series_objective.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dikkat/ops/cross_entropy.h"
#include "dikkat/ops/logistic_loss.h"
#include "dikkat/ops/squared_error.h"
#include "dikkat/random/shuffle.h"

namespace dikkat::train {

void fill(const models::SeriesModel& model, const data::CodedSeries& series, std::span<const std::size_t> which,
          std::size_t first_sample, SeriesBatch& batch) {
  const std::size_t extra = model.extra_rows();
  batch.lengths.clear();
  batch.classes.clear();
  batch.numbers.clear();
  for (const std::size_t s : which) {
    batch.lengths.push_back(series.length(s) + extra);
    if (!series.classes.empty()) batch.classes.push_back(series.classes[s]);
    if (!series.numbers.empty()) batch.numbers.push_back(series.numbers[s]);
  }
  batch.rows.lay_out(batch.lengths, model.config().context + extra, first_sample);
  const Shape shape{batch.rows.count(), series.channels};
  const DType dtype = model.parameters().dtype();
  if (!batch.values.defined() || batch.values.shape() != shape) batch.values = Tensor::empty(shape, dtype);
  with_number(dtype, [&]<class T>() {
    T* out = batch.values.data<T>();
    for (const std::size_t s : which) {
      const double* in = series.values.data() + series.first_step[s] * series.channels;
      const std::size_t numbers = series.length(s) * series.channels;
      for (std::size_t i = 0; i < numbers; ++i) *out++ = static_cast<T>(in[i]);
      out = std::fill_n(out, extra * series.channels, T(0));
    }
  });
}

Tensor series_losses(Context& context, const models::SeriesModel& model, const Variable& outputs,
                     const SeriesBatch& batch, double gradient_scale) {
  if (model.config().task == models::Task::regress) {
    return ops::squared_error(context, outputs, batch.numbers, gradient_scale);
  }
  if (model.config().outputs == 1) return ops::logistic_loss(context, outputs, batch.classes, gradient_scale);
  return ops::cross_entropy(context, outputs, batch.classes, gradient_scale);
}

EpochOrder::EpochOrder(std::vector<std::size_t> rows, std::uint64_t seed)
    : rows_(std::move(rows)), sampler_(random::stream(seed, "sampler")) {}

std::size_t EpochOrder::at(std::uint64_t number) {
  const std::uint64_t epoch = number / rows_.size();
  if (order_.empty() || epoch != epoch_) {
    epoch_ = epoch;
    order_ = rows_;
    const auto low = static_cast<std::uint32_t>(epoch);
    const auto high = static_cast<std::uint32_t>(epoch >> 32U);
    random::shuffle(std::span(order_), sampler_, [&](std::size_t i) {
      return random::Counter{static_cast<std::uint32_t>(i), 0, low, high};
    });
  }
  return order_[static_cast<std::size_t>(number % rows_.size())];
}

SeriesObjective::SeriesObjective(const models::SeriesModel& model, const data::CodedSeries& series,
                                 std::vector<std::size_t> rows, std::size_t samples, std::uint64_t seed)
    : model_(model), series_(series), samples_(samples), order_(std::move(rows), seed) {}

std::size_t SeriesObjective::series_of(std::uint64_t t, std::size_t sample) {
  return order_.at((t - 1) * samples_ + sample);
}

Drawn SeriesObjective::draw(std::size_t place, std::uint64_t t, std::size_t first, std::size_t count) {
  if (batches_.size() <= place) batches_.resize(place + 1);
  which_.clear();
  for (std::size_t s = first; s < first + count; ++s) which_.push_back(series_of(t, s));
  SeriesBatch& batch = batches_[place];
  fill(model_, series_, which_, first, batch);
  return {.rows = &batch.rows, .losses = count, .targets = count};
}

Tensor SeriesObjective::losses(Context& context, std::size_t place, double gradient_scale) {
  const SeriesBatch& batch = batches_[place];
  const Variable outputs = model_.forward(context, batch.values);
  return series_losses(context, model_, outputs, batch, gradient_scale);
}

}  // namespace dikkat::train
