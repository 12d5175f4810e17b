#include "dikkat/lessons/heads_model.h"

#include <numbers>

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/maths.h"
#include "dikkat/lessons/published_generator.h"
#include "dikkat/nn/tap.h"
#include "dikkat/ops/logistic_loss.h"
#include "dikkat/optim/optimizer.h"
#include "dikkat/tensor/arena.h"

namespace dikkat::lessons {
namespace {

constexpr std::size_t kChannels = 3;
constexpr double kStartScale = 0.9;
constexpr double kRate = 0.15;
constexpr double kMomentum = 0.8;

// Element of the joint projection (3, 2 H D) that the document calls W[h][i][j]; h and i are counted together in
// `row`, and `half` is 0 for keys, 1 for values.
std::size_t joint_index(std::size_t width, std::size_t half, std::size_t row, std::size_t channel) {
  return channel * 2 * width + half * width + row;
}

double* values_of(const models::SeriesModel& model, std::string_view path) {
  return model.parameters().find(path)->value().span<double>().data();
}

// Keeps the pooling's pattern of a pass.
class PatternTap final : public nn::Tap {
 public:
  explicit PatternTap(std::vector<double>& pattern) : pattern_(pattern) {}
  [[nodiscard]] bool wants(std::string_view path) const override { return path == "pooling.pattern"; }
  void see(std::string_view /*path*/, Tensor& activation) override {
    const auto seen = activation.span<double>();
    pattern_.assign(seen.begin(), seen.end());
  }

 private:
  std::vector<double>& pattern_;
};

}  // namespace

models::Config heads_config(std::size_t heads, std::size_t width) {
  return {.task = models::Task::classify,
          .channels = kChannels,
          .outputs = 1,
          .context = kHeadsSteps,
          .width = kChannels,
          .layers = 0,
          .heads = heads,
          .head_width = width / heads,
          .norm = models::NormKind::none,
          .position = models::PositionKind::none,
          .input = models::InputKind::raw,
          .pooling = models::PoolingKind::attention_query,
          .output_bias = true};
}

models::SeriesModel heads_model(std::size_t heads, std::size_t width) {
  return models::SeriesModel(heads_config(heads, width), DType::f64, nn::ParameterStore::Gradients::kept);
}

HeadsParameters heads_start(std::uint64_t seed, std::size_t heads, std::size_t width) {
  PublishedGenerator generator(seed);
  const auto drawn = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = generator.bell() * kStartScale;
    return values;
  };
  const std::size_t rows = width / heads * heads;
  HeadsParameters start;
  start.keys = drawn(rows * kChannels);
  start.values = drawn(rows * kChannels);
  start.query = drawn(rows);
  start.output = drawn(rows);
  return start;
}

void put_parameters(const HeadsParameters& from, const models::SeriesModel& to) {
  const std::size_t width = from.query.size();
  double* joint = values_of(to, "pooling.key_value.weight");
  for (std::size_t row = 0; row < width; ++row) {
    for (std::size_t j = 0; j < kChannels; ++j) {
      joint[joint_index(width, 0, row, j)] = from.keys[row * kChannels + j];
      joint[joint_index(width, 1, row, j)] = from.values[row * kChannels + j];
    }
  }
  std::copy(from.query.begin(), from.query.end(), values_of(to, "pooling.query"));
  std::copy(from.output.begin(), from.output.end(), values_of(to, "output.weight"));
  *values_of(to, "output.bias") = from.bias;
}

HeadsParameters parameters_of(const models::SeriesModel& model) {
  const std::size_t width = model.config().heads * model.config().head_width_or_default();
  const double* joint = values_of(model, "pooling.key_value.weight");
  const double* query = values_of(model, "pooling.query");
  const double* output = values_of(model, "output.weight");
  HeadsParameters parameters{.keys = std::vector<double>(width * kChannels),
                             .values = std::vector<double>(width * kChannels),
                             .query = std::vector<double>(query, query + width),
                             .output = std::vector<double>(output, output + width),
                             .bias = *values_of(model, "output.bias")};
  for (std::size_t row = 0; row < width; ++row) {
    for (std::size_t j = 0; j < kChannels; ++j) {
      parameters.keys[row * kChannels + j] = joint[joint_index(width, 0, row, j)];
      parameters.values[row * kChannels + j] = joint[joint_index(width, 1, row, j)];
    }
  }
  return parameters;
}

std::array<std::array<double, 2>, kHeadsSteps> position_channels(const kernels::Executor& executor) {
  std::array<double, kHeadsSteps> angles{};
  for (std::size_t t = 0; t < kHeadsSteps; ++t) {
    angles[t] = std::numbers::pi * static_cast<double>(t) / static_cast<double>(kHeadsSteps - 1);
  }
  std::array<double, kHeadsSteps> sines{};
  std::array<double, kHeadsSteps> cosines{};
  kernels::evaluate(executor, kernels::Function::sine, angles.data(), sines.data(), kHeadsSteps);
  kernels::evaluate(executor, kernels::Function::cosine, angles.data(), cosines.data(), kHeadsSteps);
  std::array<std::array<double, 2>, kHeadsSteps> channels{};
  for (std::size_t t = 0; t < kHeadsSteps; ++t) channels[t] = {sines[t], cosines[t]};
  return channels;
}

HeadsBatch heads_batch(const kernels::Executor& executor, std::span<const HeadsSeries> series,
                       PositionChannels position) {
  HeadsBatch batch{Tensor::zeros({series.size() * kHeadsSteps, kChannels}, DType::f64), {}, {}};
  const auto channels = position_channels(executor);
  double* to = batch.values.data<double>();
  for (const HeadsSeries& one : series) {
    for (std::size_t t = 0; t < kHeadsSteps; ++t, to += kChannels) {
      to[0] = one.readings[t];
      if (position == PositionChannels::on) std::copy(channels[t].begin(), channels[t].end(), to + 1);
    }
    batch.labels.push_back(one.label);
  }
  batch.rows.lay_out(std::vector<std::size_t>(series.size(), kHeadsSteps), kHeadsSteps);
  return batch;
}

void train_heads(const kernels::Executor& executor, const models::SeriesModel& model, const HeadsBatch& batch,
                 std::size_t epochs, const std::function<void(std::size_t)>& after) {
  optim::Optimizer optimizer(model.parameters(), {.rule = optim::Rule::sgd, .momentum = kMomentum});
  Arena arena;
  Tape tape;
  const double scale = 1.0 / static_cast<double>(batch.labels.size());
  for (std::size_t epoch = 1; epoch <= epochs; ++epoch) {
    model.parameters().zero_gradients();
    {
      const ArenaPass pass(arena);
      Context context{
          .executor = executor, .memory = arena, .rows = &batch.rows, .tape = &tape, .mode = Mode::training};
      const Variable logits = model.forward(context, batch.values);
      (void)ops::logistic_loss(context, logits, batch.labels, scale);
      tape.backward(context);
    }
    optimizer.step(executor, kRate, 1.0, epoch);
    if (after) after(epoch);
  }
}

HeadsOutputs heads_outputs(const kernels::Executor& executor, const models::SeriesModel& model,
                           const HeadsBatch& batch) {
  HeadsOutputs outputs;
  PatternTap tap(outputs.weights);
  Context context{.executor = executor, .memory = heap(), .rows = &batch.rows, .tap = &tap};
  const Tensor logits = model.forward(context, batch.values).value;
  outputs.logits.assign(logits.span<double>().begin(), logits.span<double>().end());
  return outputs;
}

}  // namespace dikkat::lessons
