// What tests of models of series share: small models with every pooling, batches whose series depend on nothing but
// their number, and one pass forward and backward.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "dikkat/models/series_model.h"
#include "dikkat/models/testing.h"
#include "dikkat/ops/logistic_loss.h"
#include "dikkat/ops/squared_error.h"

namespace dikkat::models::testing {

// Every pooling, task and input once at least; odd widths; dropout at every place.
inline const std::vector<Named>& series_menu() {
  static const std::vector<Named> all = {
      {"mean_three_classes",
       {.task = Task::classify,
        .channels = 2,
        .outputs = 3,
        .context = 17,
        .width = 12,
        .layers = 2,
        .heads = 3,
        .direction = Direction::bidirectional,
        .norm_bias = true,
        .mlp_bias = true,
        .output_bias = true,
        .dropout = 0.2,
        .attention_dropout = 0.1}},
      {"last_rotary_window_number",
       {.task = Task::regress,
        .channels = 3,
        .outputs = 1,
        .context = 17,
        .width = 10,
        .layers = 2,
        .heads = 4,
        .kv_heads = 2,
        .head_width = 6,
        .norm = NormKind::rms,
        .activation = Activation::silu,
        .position = PositionKind::rotary,
        .window = 5,
        .pooling = PoolingKind::last,
        .attention_bias = true,
        .dropout = 0.3}},
      {"query_over_raw_channels",
       {.task = Task::classify,
        .channels = 3,
        .outputs = 1,
        .context = 17,
        .width = 3,
        .layers = 0,
        .heads = 2,
        .head_width = 2,
        .norm = NormKind::none,
        .position = PositionKind::none,
        .input = InputKind::raw,
        .pooling = PoolingKind::attention_query,
        .output_bias = true,
        .dropout = 0.25}},
      {"query_over_blocks",
       {.task = Task::classify,
        .channels = 1,
        .outputs = 2,
        .context = 17,
        .width = 7,
        .layers = 1,
        .heads = 3,
        .head_width = 5,
        .placement = Placement::post,
        .activation = Activation::swiglu,
        .position = PositionKind::alibi,
        .direction = Direction::bidirectional,
        .pooling = PoolingKind::attention_query,
        .norm_bias = true,
        .dropout = 0.1}},
      {"class_token_learned",
       {.task = Task::classify,
        .channels = 2,
        .outputs = 1,
        .context = 17,
        .width = 12,
        .layers = 2,
        .heads = 2,
        .direction = Direction::bidirectional,
        .pooling = PoolingKind::class_token,
        .output_bias = true,
        .dropout = 0.2,
        .attention_dropout = 0.2,
        .init = InitKind::book}},
      {"class_token_causal_number",
       {.task = Task::regress,
        .channels = 4,
        .outputs = 1,
        .context = 17,
        .width = 4,
        .layers = 1,
        .heads = 2,
        .activation = Activation::relu,
        .position = PositionKind::sinusoidal,
        .input = InputKind::raw,
        .pooling = PoolingKind::class_token,
        .residuals = Residuals::off}},
      {"mean_without_blocks",
       {.task = Task::regress,
        .channels = 2,
        .outputs = 1,
        .context = 17,
        .width = 9,
        .layers = 0,
        .heads = 4,
        .position = PositionKind::sinusoidal_one,
        .pooling = PoolingKind::mean,
        .output_bias = true,
        .dropout = 0.1}},
  };
  return all;
}

struct SeriesBatch {
  Tensor values;                      // (R, channels), zero in the rows of class tokens
  std::vector<std::int32_t> classes;  // (B)
  std::vector<double> numbers;        // (B)
  kernels::Rows rows;

  [[nodiscard]] std::size_t first_row(std::size_t b) const { return rows.first_row[b]; }
};

inline std::size_t extra_rows_of(const Config& config) { return config.pooling == PoolingKind::class_token ? 1 : 0; }

// Samples [first, first + lengths.size()) of a step: the values of a sample are a function of its number.
inline SeriesBatch series_of(const Config& config, DType dtype, const std::vector<std::size_t>& lengths,
                             std::size_t first = 0) {
  SeriesBatch batch;
  std::vector<std::size_t> with_extra = lengths;
  for (std::size_t& length : with_extra) length += extra_rows_of(config);
  batch.rows.lay_out(with_extra, config.context + extra_rows_of(config), first);
  batch.values = Tensor::zeros({batch.rows.count(), config.channels}, dtype);
  const random::Stream stream = random::stream(12, "test series");
  const auto draw = [&](std::size_t b, std::size_t t, std::size_t c) {
    return 4 * random::uniform(stream, {static_cast<std::uint32_t>(first + b), static_cast<std::uint32_t>(t),
                                        static_cast<std::uint32_t>(c), 0}) -
           2;
  };
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    with_number(dtype, [&]<class T>() {
      T* value = batch.values.data<T>() + batch.first_row(b) * config.channels;
      for (std::size_t t = 0; t < lengths[b]; ++t) {
        for (std::size_t c = 0; c < config.channels; ++c) *value++ = static_cast<T>(draw(b, t, c));
      }
    });
    const auto class_number = static_cast<std::int32_t>((first + b) % std::max<std::size_t>(2, config.outputs));
    batch.classes.push_back(class_number);
    batch.numbers.push_back(draw(b, 1000, 0));
  }
  return batch;
}

inline double scale_of(const SeriesBatch& batch) {
  const auto none = std::count(batch.classes.begin(), batch.classes.end(), kernels::kNoTarget);
  return 1.0 / static_cast<double>(std::max<std::ptrdiff_t>(1, std::ssize(batch.classes) - none));
}

inline Context context_of(const kernels::Executor& executor, const SeriesBatch& batch, Mode mode) {
  return {.executor = executor, .memory = heap(), .rows = &batch.rows, .mode = mode, .seed = 3, .step = 5};
}

inline Tensor loss_of(const Config& config, Context& context, const Variable& outputs, const SeriesBatch& batch,
                      double scale) {
  if (config.task == Task::regress) return ops::squared_error(context, outputs, batch.numbers, scale);
  if (config.outputs == 1) return ops::logistic_loss(context, outputs, batch.classes, scale);
  return ops::cross_entropy(context, outputs, batch.classes, scale);
}

inline void add_pass(const SeriesModel& model, Context context, const SeriesBatch& batch, double scale, Pass& pass) {
  Tape tape;
  context.tape = &tape;
  {
    const Variable outputs = model.forward(context, batch.values);
    pass.logits = outputs.value.clone();
    pass.losses = loss_of(model.config(), context, outputs, batch, scale);
  }
  tape.backward(context);
}

inline Pass pass_over(const SeriesModel& model, const Context& context, const SeriesBatch& batch) {
  Pass pass;
  model.parameters().zero_gradients();
  add_pass(model, context, batch, scale_of(batch), pass);
  take_gradients(model, context.executor, pass);
  return pass;
}

}  // namespace dikkat::models::testing
