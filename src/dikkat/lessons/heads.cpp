#include "dikkat/lessons/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/kernels/logistic_loss.h"
#include "dikkat/kernels/maths.h"
#include "dikkat/lessons/heads_model.h"

namespace dikkat::lessons {
namespace {

constexpr std::size_t kRuns = 2;
constexpr double kLargestLogit = 30.0;  // the document's sigmoid takes no more

// What all trainings share.
struct Shared {
  HeadsSettings settings;
  HeadsBatch training, held_out, reordered;
};

std::vector<HeadsSeries> reordered(std::span<const HeadsSeries> series, std::uint64_t seed) {
  std::vector<HeadsSeries> result;
  for (std::size_t i = 0; i < series.size(); ++i) result.push_back(shuffled(series[i], seed, i));
  return result;
}

Shared shared(const kernels::Executor& executor, const HeadsLesson& lesson, PositionChannels position) {
  const auto mixed = reordered(lesson.held_out(), lesson.settings.seed);
  return {lesson.settings, heads_batch(executor, lesson.training(), position),
          heads_batch(executor, lesson.held_out(), position), heads_batch(executor, mixed, position)};
}

// 1 / (1 + exp(-logit)), the logit kept within +-30.
std::vector<double> probabilities(const kernels::Executor& executor, const std::vector<double>& logits) {
  std::vector<double> result;
  for (const double logit : logits) result.push_back(-std::clamp(logit, -kLargestLogit, kLargestLogit));
  kernels::evaluate(executor, kernels::Function::exponential, result.data(), result.data(), result.size());
  for (double& value : result) value = 1.0 / (1.0 + value);
  return result;
}

double mean_loss(const kernels::Executor& executor, const std::vector<double>& logits,
                 const std::vector<std::int32_t>& labels) {
  std::vector<double> losses(logits.size());
  kernels::logistic_loss_forward(executor, logits.data(), labels.data(), losses.data(), losses.size());
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(losses.size());
}

std::size_t correct_of(const std::vector<double>& logits, const std::vector<std::int32_t>& labels) {
  std::size_t correct = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) correct += (logits[i] > 0) == (labels[i] == 1) ? 1 : 0;
  return correct;
}

// Weights of one series, (12, H).
std::span<const double> weights_of(const HeadsRun& run, std::size_t series) {
  return std::span(run.weights).subspan(series * kHeadsSteps * run.heads, kHeadsSteps * run.heads);
}

// Half the L1 distance of two heads' weights of one series.
double distance(std::span<const double> weights, std::size_t heads, std::size_t a, std::size_t b) {
  std::array<double, kHeadsSteps> differences{};
  for (std::size_t t = 0; t < kHeadsSteps; ++t) {
    differences[t] = std::abs(weights[t * heads + a] - weights[t * heads + b]);
  }
  return compensated_sum(differences) / 2;
}

void measure_order_test(HeadsRun& run) {
  double sum = 0;
  for (std::size_t i = 0; i < kHeadsHeldOut; ++i) {
    const double change = std::abs(run.shuffled_probabilities[i] - run.probabilities[i]);
    sum += change;
    run.largest_change = std::max(run.largest_change, change);
    run.changed += change > 0 ? 1 : 0;
  }
  run.mean_change = sum / static_cast<double>(kHeadsHeldOut);
}

void measure(const kernels::Executor& executor, const models::SeriesModel& model, const Shared& data, HeadsRun& run) {
  HeadsOutputs held_out = heads_outputs(executor, model, data.held_out);
  run.logits = std::move(held_out.logits);
  run.weights = std::move(held_out.weights);
  run.probabilities = probabilities(executor, run.logits);
  run.shuffled_probabilities = probabilities(executor, heads_outputs(executor, model, data.reordered).logits);
  run.correct = correct_of(run.logits, data.held_out.labels);
  run.predicted_rising = static_cast<std::size_t>(
      std::count_if(run.logits.begin(), run.logits.end(), [](double logit) { return logit > 0; }));
  run.held_out_loss_nats = mean_loss(executor, run.logits, data.held_out.labels);
  const std::vector<double> training = heads_outputs(executor, model, data.training).logits;
  run.training_accuracy =
      static_cast<double>(correct_of(training, data.training.labels)) / static_cast<double>(training.size());
  run.training_loss_nats = mean_loss(executor, training, data.training.labels);
  for (std::size_t h = 0; h < run.heads; ++h) run.centres.push_back(head_centre(run, h));
  run.separation = head_separation(run);
  measure_order_test(run);
}

void require_finite(const HeadsRun& run) {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  };
  const HeadsParameters& p = run.trained;
  if (finite(p.keys) && finite(p.values) && finite(p.query) && finite(p.output) && std::isfinite(p.bias)) return;
  throw Error(ErrorKind::numeric, fmt::format("training {} of {} heads diverged", run.number, run.heads),
              {.hint = "take a smaller width, fewer epochs or another seed"});
}

HeadsRun trained(const kernels::Executor& executor, const Shared& data, std::size_t heads, std::size_t number,
                 PositionChannels position) {
  HeadsRun run{.heads = heads, .number = number, .position = position};
  run.start = heads_start(data.settings.seed + number, heads, data.settings.width);
  const models::SeriesModel model = heads_model(heads, data.settings.width);
  put_parameters(run.start, model);
  train_heads(executor, model, data.training, data.settings.epochs);
  run.trained = parameters_of(model);
  require_finite(run);
  measure(executor, model, data, run);
  return run;
}

// The lesson's eight trainings, the longest first, so that threads end together.
struct Job {
  HeadsRun* run;
  std::size_t heads, number;
  PositionChannels position;
};
std::vector<Job> jobs_of(HeadsLesson& lesson) {
  std::vector<Job> jobs;
  for (std::size_t at = kHeadCounts.size(); at-- > 0;) {
    for (std::size_t run = 0; run < kRuns; ++run) {
      jobs.push_back({&lesson.with_position[at][run], kHeadCounts[at], run + 1, PositionChannels::on});
      if (kHeadCounts[at] != 2) continue;
      jobs.push_back({&lesson.without_position[run], 2, run + 1, PositionChannels::off});
    }
  }
  return jobs;
}

[[noreturn]] void refuse(const char* key, std::string message, std::string hint) {
  throw Error(ErrorKind::usage, std::string("the lesson's ") + key + " " + message,
              {.key = key, .hint = std::move(hint)});
}

}  // namespace

void check(const HeadsSettings& settings) {
  const std::size_t most = kHeadCounts.back();
  const std::size_t width = settings.width;
  if (width == 0 || width % most != 0) {
    const std::size_t below = width / most * most;
    refuse("width", fmt::format("{} does not divide into 1, 2 and 4 heads of whole width", width),
           below == 0 || below > kMostHeadsWidth ? "give 4, or a multiple of 4"
                                                 : fmt::format("give {} or {}", below, below + most));
  }
  if (width > kMostHeadsWidth) {
    refuse("width", fmt::format("{} is too large", width), fmt::format("give at most {}", kMostHeadsWidth));
  }
  if (settings.epochs == 0)
    refuse("epochs", "are 0: nothing would be learned", "give at least 1; the document has 150");
  if (settings.epochs > kMostHeadsEpochs) {
    refuse("epochs", fmt::format("{} are too many", settings.epochs), fmt::format("give at most {}", kMostHeadsEpochs));
  }
  if (settings.seed > kMostHeadsSeed) {
    refuse("seed", fmt::format("{} is too large", settings.seed), fmt::format("give at most {}", kMostHeadsSeed));
  }
}

double head_centre(const HeadsRun& run, std::size_t head) {
  double sum = 0;
  for (std::size_t i = 0; i < kHeadsHeldOut; ++i) {
    std::array<double, kHeadsSteps> moments{};
    const auto weights = weights_of(run, i);
    for (std::size_t t = 0; t < kHeadsSteps; ++t) moments[t] = static_cast<double>(t) * weights[t * run.heads + head];
    sum += compensated_sum(moments);
  }
  return sum / static_cast<double>(kHeadsHeldOut);
}

double head_separation(const HeadsRun& run) {
  if (run.heads < 2) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < kHeadsHeldOut; ++i) {
    for (std::size_t a = 0; a < run.heads; ++a) {
      for (std::size_t b = a + 1; b < run.heads; ++b) sum += distance(weights_of(run, i), run.heads, a, b);
    }
  }
  const std::size_t pairs = run.heads * (run.heads - 1) / 2;
  return sum / static_cast<double>(kHeadsHeldOut * pairs);
}

std::array<double, kHeadsSteps> HeadsRun::mean_weights(std::size_t head) const {
  std::array<double, kHeadsSteps> mean{};
  for (std::size_t i = 0; i < kHeadsHeldOut; ++i) {
    const auto one = weights_of(*this, i);
    for (std::size_t t = 0; t < kHeadsSteps; ++t) mean[t] += one[t * heads + head];
  }
  for (double& weight : mean) weight /= static_cast<double>(kHeadsHeldOut);
  return mean;
}

bool HeadsRun::splits_by_region() const {
  return std::all_of(kHeadsRegions.begin(), kHeadsRegions.end(), [&](const Region& region) {
    return std::any_of(centres.begin(), centres.end(), [&](double at) {
      return at >= static_cast<double>(region.first) && at <= static_cast<double>(region.last);
    });
  });
}

HeadsLesson heads_lesson(const kernels::Executor& executor, const HeadsSettings& settings) {
  check(settings);
  HeadsLesson lesson{.settings = settings, .series = heads_series(settings.seed)};
  const Shared with = shared(executor, lesson, PositionChannels::on);
  const Shared without = shared(executor, lesson, PositionChannels::off);
  const std::vector<Job> jobs = jobs_of(lesson);
  executor.pool.run(jobs.size(), [&](std::size_t at, unsigned) {
    const Job& job = jobs[at];
    Pool alone(1);
    const kernels::Executor one{alone, executor.bodies, executor.instructions};
    *job.run = trained(one, job.position == PositionChannels::on ? with : without, job.heads, job.number, job.position);
  });
  return lesson;
}

std::vector<HeadsParameters> heads_trajectory(const kernels::Executor& executor, const HeadsSettings& settings,
                                              std::size_t heads, std::size_t number,
                                              std::span<const std::size_t> epochs) {
  const std::vector<HeadsSeries> series = heads_series(settings.seed);
  const HeadsBatch batch = heads_batch(executor, std::span(series).first(kHeadsTraining), PositionChannels::on);
  const models::SeriesModel model = heads_model(heads, settings.width);
  put_parameters(heads_start(settings.seed + number, heads, settings.width), model);
  std::vector<HeadsParameters> seen;
  train_heads(executor, model, batch, epochs.empty() ? 0 : epochs.back(), [&](std::size_t epoch) {
    if (std::find(epochs.begin(), epochs.end(), epoch) != epochs.end()) seen.push_back(parameters_of(model));
  });
  return seen;
}

}  // namespace dikkat::lessons
