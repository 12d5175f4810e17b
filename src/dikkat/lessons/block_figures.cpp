// What the parts of a block are for, as figures of the trained lesson's model.
#include <algorithm>
#include <array>
#include <cmath>

#include "dikkat/lessons/block.h"
#include "dikkat/lessons/block_batch.h"
#include "dikkat/models/book_layout.h"
#include "dikkat/nn/tap.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/stepper.h"

namespace dikkat::lessons {
namespace {

constexpr std::size_t kChangedPlace = 10;  // of the first window

// Silences what attention adds to the stream.
class WithoutAttention final : public nn::Tap {
 public:
  [[nodiscard]] bool wants(std::string_view path) const override { return path.ends_with(".attention.out"); }
  void see(std::string_view /*path*/, Tensor& activation) override { activation.fill(0.0); }
};

// Mean |difference| of the weights of two heads of a layer, over layers, pairs and visible keys.
class HeadsApart final : public nn::Tap {
 public:
  [[nodiscard]] bool wants(std::string_view path) const override { return path.ends_with(".attention.pattern"); }
  void see(std::string_view /*path*/, Tensor& pattern) override {
    const std::size_t heads = pattern.shape()[1];
    const std::size_t keys = pattern.shape()[2];
    const Tensor weights = pattern.clone();
    for (std::size_t row = 0; row < pattern.shape()[0]; ++row) {
      const double* at = weights.data<double>() + row * heads * keys;
      for (std::size_t a = 0; a < heads; ++a) {
        for (std::size_t b = a + 1; b < heads; ++b) add(at + a * keys, at + b * keys, row % keys + 1);
      }
    }
  }
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  void add(const double* a, const double* b, std::size_t visible) {
    for (std::size_t j = 0; j < visible; ++j) sum_ += std::abs(a[j] - b[j]);
    count_ += visible;
  }

  double sum_ = 0;
  std::size_t count_ = 0;
};

Tensor logits(const kernels::Executor& executor, const models::LanguageModel& model, const data::Batch& batch,
              nn::Tap* tap) {
  Context context{.executor = executor, .memory = heap(), .rows = &batch.rows, .tap = tap};
  return model.forward(context, batch.inputs).value;
}

// How far each row's logits move when one character changes.
std::vector<double> moves(const kernels::Executor& executor, const models::LanguageModel& model, nn::Tap* tap) {
  data::Batch batch = block_lesson_batch();
  const Tensor before = logits(executor, model, batch, tap);
  batch.inputs[kChangedPlace] = static_cast<text::Token>((batch.inputs[kChangedPlace] + 1) % model.config().vocabulary);
  const Tensor after = logits(executor, model, batch, tap);
  const std::size_t vocabulary = model.config().vocabulary;
  std::vector<double> rows(batch.inputs.size(), 0.0);
  for (std::size_t i = 0; i < before.count(); ++i) {
    double& row = rows[i / vocabulary];
    row = std::max(row, std::abs(after.data<double>()[i] - before.data<double>()[i]));
  }
  return rows;
}

std::size_t moved(const std::vector<double>& rows) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, [](double move) { return move > 0; }));
}

}  // namespace

double first_gradient(const kernels::Executor& executor, models::Residuals residuals, std::uint32_t seed) {
  const models::LanguageModel model = block_lesson_model(residuals, seed);
  const train::Settings& settings = train::preset_named("kucuk").settings;
  optim::Optimizer optimizer(model.parameters(), train::optimizer_settings(settings));
  LessonBatch batch;
  train::LanguageObjective objective(model, batch);
  train::Stepper stepper(objective, optimizer, settings, executor);
  const train::StopRequest never;
  static_cast<void>(stepper.measure(1, never));
  const Tensor gradient = models::book_gradients(model).front().value.clone();
  double squares = 0;
  for (const double g : gradient.span<double>()) squares += g * g;
  return std::sqrt(squares);
}

BlockFigures block_figures(const kernels::Executor& executor, const models::LanguageModel& model) {
  BlockFigures figures;
  HeadsApart apart;
  static_cast<void>(logits(executor, model, block_lesson_batch(), &apart));
  figures.heads_apart = apart.mean();
  const std::vector<double> rows = moves(executor, model, nullptr);
  figures.rows_moved = moved(rows);
  figures.later_move = *std::max_element(rows.begin() + kChangedPlace + 1, rows.end());
  WithoutAttention silent;
  figures.rows_moved_without_attention = moved(moves(executor, model, &silent));
  return figures;
}

}  // namespace dikkat::lessons
