// The lesson's model and how it is trained: library parts put together (see heads.h).
#pragma once

#include <functional>
#include <span>

#include "dikkat/kernels/rows.h"
#include "dikkat/lessons/heads.h"
#include "dikkat/models/series_model.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::lessons {

[[nodiscard]] models::Config heads_config(std::size_t heads, std::size_t width);
[[nodiscard]] models::SeriesModel heads_model(std::size_t heads, std::size_t width);
void put_parameters(const HeadsParameters& from, const models::SeriesModel& to);
[[nodiscard]] HeadsParameters parameters_of(const models::SeriesModel& model);

// Series as the model takes them.
struct HeadsBatch {
  Tensor values;  // (series * 12, 3): reading, sine, cosine
  std::vector<std::int32_t> labels;
  kernels::Rows rows;
};
// sin(pi t / 11) and cos(pi t / 11).
[[nodiscard]] std::array<std::array<double, 2>, kHeadsSteps> position_channels(const kernels::Executor& executor);
[[nodiscard]] HeadsBatch heads_batch(const kernels::Executor& executor, std::span<const HeadsSeries> series,
                                     PositionChannels position);

// Full-batch descent; after(epoch) is called when an epoch (from 1) is done.
void train_heads(const kernels::Executor& executor, const models::SeriesModel& model, const HeadsBatch& batch,
                 std::size_t epochs, const std::function<void(std::size_t)>& after = {});

struct HeadsOutputs {
  std::vector<double> logits;   // (B)
  std::vector<double> weights;  // (R,H)
};
[[nodiscard]] HeadsOutputs heads_outputs(const kernels::Executor& executor, const models::SeriesModel& model,
                                         const HeadsBatch& batch);

}  // namespace dikkat::lessons
