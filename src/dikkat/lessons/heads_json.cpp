#include <fmt/format.h>

#include "dikkat/lessons/heads.h"
#include "dikkat/lessons/heads_model.h"
#include "dikkat/lessons/published_generator.h"

namespace dikkat::lessons {
namespace {

Json list_of(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push(value);
  return list;
}

// (rows, columns) as a list of lists; row r of column c stands at r * row_step + c * column_step.
struct Grid {
  std::size_t rows, columns, row_step, column_step;
};
Json grid_of(const double* values, const Grid& grid) {
  Json list = Json::array();
  for (std::size_t r = 0; r < grid.rows; ++r) {
    Json row = Json::array();
    for (std::size_t c = 0; c < grid.columns; ++c) row.push(values[r * grid.row_step + c * grid.column_step]);
    list.push(std::move(row));
  }
  return list;
}

// Wk or Wv as lists [head][row][channel].
Json projections_of(const std::vector<double>& values, std::size_t heads) {
  constexpr std::size_t kChannels = 3;
  const std::size_t per_head = values.size() / heads;
  Json list = Json::array();
  for (std::size_t h = 0; h < heads; ++h) {
    list.push(grid_of(values.data() + h * per_head, {per_head / kChannels, kChannels, kChannels, 1}));
  }
  return list;
}

Json parameters_json(const HeadsParameters& p, std::size_t heads) {
  const std::size_t width = p.query.size() / heads;
  return Json::object()
      .set("Wk", projections_of(p.keys, heads))
      .set("Wv", projections_of(p.values, heads))
      .set("q", grid_of(p.query.data(), {heads, width, width, 1}))
      .set("w", list_of(p.output))
      .set("b", list_of(std::array<double, 1>{p.bias}));
}

std::string name_of(const HeadsRun& run) {
  return fmt::format("{} H={} run{}", run.position == PositionChannels::on ? "pos" : "nopos", run.heads, run.number);
}

Json run_json(const HeadsRun& run, const HeadsSettings& settings) {
  return Json::object()
      .set("name", name_of(run))
      .set("heads", run.heads)
      .set("run", run.number)
      .set("init_seed", settings.seed + run.number)
      .set("init", parameters_json(run.start, run.heads))
      .set("trained", parameters_json(run.trained, run.heads))
      .set("test_logits", list_of(run.logits))
      .set("test_probs", list_of(run.probabilities))
      .set("test_probs_shuffled", list_of(run.shuffled_probabilities))
      .set("correct_of_180", run.correct)
      .set("accuracy", run.accuracy())
      .set("predicted_positive", run.predicted_rising)
      .set("train_accuracy", run.training_accuracy)
      .set("train_bce", run.training_loss_nats)
      .set("test_bce", run.held_out_loss_nats)
      .set("centers", list_of(run.centres))
      .set("separation", run.separation)
      .set("order_test_run", Json::object()
                                 .set("mean_abs", run.mean_change)
                                 .set("max_abs", run.largest_change)
                                 .set("nonzero_of_180", run.changed))
      .set("attention_test0", grid_of(run.weights.data(), {run.heads, kHeadsSteps, 1, run.heads}));
}

Json series_json(std::span<const HeadsSeries> series) {
  Json list = Json::array();
  for (const HeadsSeries& one : series) {
    list.push(Json::object().set("oku", list_of(one.readings)).set("y", one.label));
  }
  return list;
}

Json first_uniforms(std::uint64_t seed) {
  PublishedGenerator generator(seed);
  Json list = Json::array();
  for (int i = 0; i < 10; ++i) list.push(generator.next());
  return list;
}

Json trajectory(const HeadsSettings& settings, const kernels::Executor& executor) {
  constexpr std::array<std::size_t, 4> kEpochs = {1, 2, 10, 50};
  const std::vector<HeadsParameters> seen = heads_trajectory(executor, settings, 2, 1, kEpochs);
  Json json = Json::object();
  for (std::size_t i = 0; i < kEpochs.size(); ++i) {
    json.set(std::to_string(kEpochs[i]), parameters_json(seen[i], 2));
  }
  return json;
}

}  // namespace

Json as_json(const HeadsLesson& lesson, const kernels::Executor& executor) {
  Json runs = Json::array();
  for (const auto& both : lesson.with_position) {
    for (const HeadsRun& run : both) runs.push(run_json(run, lesson.settings));
  }
  for (const HeadsRun& run : lesson.without_position) runs.push(run_json(run, lesson.settings));
  Json channels = Json::array();
  for (const auto& pair : position_channels(executor)) channels.push(list_of(pair));
  return Json::object()
      .set("python", "none; sums as Python's from 3.12 on")
      .set("libc", "none; exp, log, sin and cos are Dikkat's own")
      .set("seed", lesson.settings.seed)
      .set("epochs", lesson.settings.epochs)
      .set("width", lesson.settings.width)
      .set("baseline", baseline(lesson.held_out()))
      .set("label_positives", Json::object()
                                  .set("train200", rising(lesson.training()))
                                  .set("test180", rising(lesson.held_out()))
                                  .set("all720", rising(lesson.series)))
      .set("position_channels", std::move(channels))
      .set(fmt::format("first_10_uniforms_seed_{}", lesson.settings.seed), first_uniforms(lesson.settings.seed))
      .set("sequences", series_json(lesson.series))
      .set("runs", std::move(runs))
      .set("trajectory_H2_run1", trajectory(lesson.settings, executor));
}

}  // namespace dikkat::lessons
