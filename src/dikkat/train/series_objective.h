// The class or the number of a series: samples are series, each once an epoch.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "dikkat/data/series_coding.h"
#include "dikkat/models/series_model.h"
#include "dikkat/random/streams.h"
#include "dikkat/train/objective.h"

namespace dikkat::train {

// Series in packed rows, with what is to be learned of them.
struct SeriesBatch {
  Tensor values;                      // (R, channels); rows a model has beyond the steps (class token) are zero
  std::vector<std::int32_t> classes;  // (B)
  std::vector<double> numbers;        // (B)
  std::vector<std::size_t> lengths;   // (B) rows
  kernels::Rows rows;

  [[nodiscard]] std::size_t count() const { return lengths.size(); }
};

// Series `which` of `series` for the model; keeps the batch's memory. first_sample: number of the first within the
// step.
void fill(const models::SeriesModel& model, const data::CodedSeries& series, std::span<const std::size_t> which,
          std::size_t first_sample, SeriesBatch& batch);

// The losses (B) of a batch: logistic for two classes, cross entropy for more, squared error for a number; root of
// backward with a tape, as Objective::losses.
[[nodiscard]] Tensor series_losses(Context& context, const models::SeriesModel& model, const Variable& outputs,
                                   const SeriesBatch& batch, double gradient_scale);

// Which series a step sees: sample s of step t is number g = (t-1) * batch + s of an endless order in which epoch e is
// a permutation of the training rows, a function of stream(seed, "sampler") and e alone.
class EpochOrder {
 public:
  EpochOrder(std::vector<std::size_t> rows, std::uint64_t seed);
  [[nodiscard]] std::size_t at(std::uint64_t number);

 private:
  std::vector<std::size_t> rows_;
  random::Stream sampler_;
  std::vector<std::size_t> order_;  // of epoch_
  std::uint64_t epoch_ = 0;
};

class SeriesObjective final : public Objective {
 public:
  // model and series outlive it. rows: of the training part; samples: a step.
  SeriesObjective(const models::SeriesModel& model, const data::CodedSeries& series, std::vector<std::size_t> rows,
                  std::size_t samples, std::uint64_t seed);

  [[nodiscard]] const nn::ParameterStore& parameters() const override { return model_.parameters(); }
  [[nodiscard]] std::size_t longest_sample() const override { return model_.config().longest_sample(); }
  Drawn draw(std::size_t place, std::uint64_t t, std::size_t first, std::size_t count) override;
  [[nodiscard]] Tensor losses(Context& context, std::size_t place, double gradient_scale) override;
  // The series that is sample `sample` of step t.
  [[nodiscard]] std::size_t series_of(std::uint64_t t, std::size_t sample);

 private:
  const models::SeriesModel& model_;
  const data::CodedSeries& series_;
  std::size_t samples_;
  EpochOrder order_;
  std::vector<std::size_t> which_;
  std::deque<SeriesBatch> batches_;  // growing moves none: what was drawn points into them
};

}  // namespace dikkat::train
