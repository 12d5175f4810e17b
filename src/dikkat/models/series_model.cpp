#include "dikkat/models/series_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dikkat/autograd/tape.h"
#include "dikkat/base/error.h"
#include "dikkat/models/body.h"
#include "dikkat/nn/linear.h"
#include "dikkat/nn/pooling.h"
#include "dikkat/nn/tap.h"
#include "dikkat/ops/shapes.h"

namespace dikkat::models {
namespace {

Config of_series(const Config& config) {
  check(config);
  if (config.task == Task::next_token) {
    throw Error(ErrorKind::usage,
                "task: a model of series learns a class or a number; got " + std::string(text_of(config.task)),
                {.key = "task", .hint = "give classify or regress"});
  }
  return config;
}

nn::PoolingOptions pooling_of(const Config& config) {
  const Deviations deviations = deviations_of(config);
  return {.width = config.width,
          .heads = config.heads,
          .head_width = config.head_width_or_default(),
          .projection = nn::normal(deviations.projection),
          .query = nn::normal(deviations.projection),
          .token = nn::normal(deviations.input)};
}

void require_steps(const kernels::Rows& rows) {
  for (std::size_t b = 0; b < rows.samples(); ++b) {
    if (rows.first_row[b + 1] > rows.first_row[b]) continue;
    throw Error(ErrorKind::internal, "series model: sample " + std::to_string(b) + " has no steps");
  }
}

}  // namespace

struct SeriesModel::Parts {
  std::optional<nn::Linear> input;  // none: the channels are the stream
  Body body;
  std::unique_ptr<nn::Pooling> pooling;
  nn::Linear output;
};

SeriesModel::SeriesModel(const Config& config, DType dtype, nn::ParameterStore::Gradients gradients)
    : config_(of_series(config)) {
  const Deviations deviations = deviations_of(config_);
  const std::size_t token = config_.pooling == PoolingKind::class_token ? 1 : 0;
  std::optional<nn::Linear> input;
  if (config_.input == InputKind::embedded) {
    input.emplace(parameters_, "input", nn::Linear::Shape{config_.channels, config_.width},
                  nn::normal(deviations.input), nn::Bias::none);
  }
  Body body(config_, parameters_, config_.context + token);
  std::unique_ptr<nn::Pooling> pooling = nn::make_pooling(config_.pooling, parameters_, pooling_of(config_));
  const nn::Linear output(parameters_, "output", {pooling->width(), config_.outputs}, nn::normal(deviations.output),
                          nn::bias_if(config_.output_bias));
  parts_.reset(new Parts{input, std::move(body), std::move(pooling), output});
  parameters_.allocate(dtype, gradients);
  parts_->body.prepare(dtype);
}

SeriesModel::~SeriesModel() = default;
SeriesModel::SeriesModel(SeriesModel&&) noexcept = default;

std::size_t SeriesModel::extra_rows() const { return parts_->pooling->extra_rows(); }

Variable SeriesModel::read_out(Context& context, const Variable& pooled) const {
  if (context.tape == nullptr) return parts_->output.forward(context, pooled);
  kernels::Rows& rows = context.tape->new_rows();
  rows.lay_out_pooled(*context.rows);
  Context of_samples = context;
  of_samples.rows = &rows;
  return parts_->output.forward(of_samples, pooled);
}

Variable SeriesModel::forward(Context& context, const Tensor& values) const {
  ops::require_shape("series model", "values", values, {context.rows->count(), config_.channels});
  require_steps(*context.rows);
  const Parts& p = *parts_;
  // A tap may write into what it is shown, and the values are the caller's.
  Variable x = {!p.input && context.tap != nullptr ? values.clone(context.memory) : values};
  if (p.input) x = p.input->forward(context, x);
  x = p.pooling->begin(context, x);
  x = p.body.forward(context, std::move(x));
  const Variable pooled = p.pooling->pool(context, x);
  nn::show(context, "", "pooled", pooled.value);
  Variable outputs = read_out(context, pooled);
  nn::show(context, "", "outputs", outputs.value);
  return outputs;
}

}  // namespace dikkat::models
