#include "dikkat/cli/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/words.h"
#include "dikkat/kernels/matmul.h"
#include "dikkat/text/utf8.h"
#include "dikkat/train/material.h"
#include "dikkat/train/run_folder.h"

namespace dikkat::cli {
namespace {

// Part of a step's time that matrix products take; the rest is attention, norms, activations and the update.
constexpr double kShareOfProducts = 0.6;

constexpr std::size_t kMeasurements = 3;
constexpr double kMeasurementSeconds = 0.01;

// How often a second something can be done, by doing it for a while.
template <class Work>
double times_per_second(const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::size_t count = 0;
  const auto began = Clock::now();
  double seconds = 0;
  do {
    work();
    ++count;
    seconds = std::chrono::duration<double>(Clock::now() - began).count();
  } while (seconds < kMeasurementSeconds);
  return static_cast<double>(count) / seconds;
}

// Floating-point operations a second of the product that a block's MLP makes: the best of several measurements, since
// whatever else runs here can only make one of them slower.
template <class T>
double operations_per_second(const train::RunSpec& spec, const kernels::Executor& executor) {
  const std::size_t rows = std::clamp<std::size_t>(spec.settings.batch * spec.model.context, 1, 1024);
  const std::size_t inner = std::min<std::size_t>(spec.model.width, 1024);
  const std::size_t columns = std::min<std::size_t>(spec.model.mlp_width_or_default(), 4096);
  const std::vector<T> a(rows * inner, T(1));
  const std::vector<T> b(inner * columns, T(1));
  std::vector<T> out(rows * columns);
  const auto multiply = [&] {
    kernels::matmul<T>(executor, {a.data(), rows, inner, inner}, {b.data(), inner, columns, columns},
                       {out.data(), rows, columns, columns});
  };
  multiply();  // wakes the threads, touches the memory
  double best = 0;
  for (std::size_t i = 0; i < kMeasurements; ++i) best = std::max(best, times_per_second(multiply));
  return 2.0 * static_cast<double>(rows * inner * columns) * best;
}

// What the data of a new run settles, and its size.
void read_data(TrainingPlan& plan) {
  train::RunSpec& spec = plan.request.spec;
  const auto material = train::read_material(plan.request.files, spec);
  spec.model = material->completed(spec.model);
  material->check(spec.model);
  plan.tokens = material->tokens();
}

// The size of the data of a run to go on with, as named now or where it was.
void read_data_of(TrainingPlan& plan, const train::RunFolder& folder) {
  const bool named = !plan.request.files.empty();
  const train::RunSpec& spec = plan.request.spec;
  try {
    const auto material = train::read_material(plan.request.files, spec, folder);
    material->check(spec.model);
    plan.tokens = material->tokens();
  } catch (const Error& error) {
    if (named || error.kind() != ErrorKind::io) throw;
    plan.unread = error.message() + " (" + error.place().file + "); name it when you go on";
  }
}

// Where the run stands.
void look_at_run(TrainingPlan& plan) {
  train::TrainRequest& request = plan.request;
  const train::RunFolder folder = train::RunFolder::open(request.run, train::Access::read);
  train::keep_what_data_settled(folder.record().model, request.spec.model);
  if (!request.override_settings) train::require_same_settings(folder.record(), request.spec, request.run);
  const train::LoadedCheckpoint loaded = folder.checkpoints().load();
  for (const std::string& warning : loaded.warnings) write_error("dikkat: warning: " + harmless(warning) + "\n");
  const train::CheckpointState& state = loaded.checkpoint.state;
  const std::uint64_t patience = request.spec.conduct.patience;
  plan.step = state.step;
  plan.stopped_early =
      state.step < request.spec.settings.steps && patience != 0 && state.evaluations_since_best >= patience;
  read_data_of(plan, folder);
}

Json as_json(const TrainingPlan& plan) {
  const train::RunSpec& spec = plan.request.spec;
  return Json::object()
      .set("run", plan.request.run.empty() ? Json() : Json(plan.request.run.string()))
      .set("parameters", plan.parameters)
      .set("tokens", plan.unread.empty() ? Json(plan.tokens) : Json())
      .set("step", plan.step)
      .set("steps", spec.settings.steps)
      .set("steps_left", plan.steps_left())
      .set("memory_bytes", plan.estimate.memory_bytes)
      .set("checkpoint_bytes", plan.estimate.checkpoint_bytes)
      .set("operations_per_step", plan.estimate.operations_per_step)
      .set("seconds", plan.seconds)
      .set("model", to_json(spec.model))
      .set("settings", to_json(spec.settings))
      .set("conduct", to_json(spec.conduct));
}

template <class S>
std::string settings_lines(const S& settings) {
  std::string out;
  S::fields(settings, [&](const char* name, const auto& value, const char*) {
    out += fmt::format("  {:<22}{}\n", name, text_of(value));
  });
  return out;
}

std::string text_line(const TrainingPlan& plan) {
  if (!plan.unread.empty()) return "Text:        " + text::escaped(plan.unread) + "\n";
  const models::Config& model = plan.request.spec.model;
  if (model.task != models::Task::next_token) {
    return "Series:      " + grouped(plan.tokens) + " steps in all, " + std::to_string(model.channels) +
           (model.channels == 1 ? " channel\n" : " channels\n");
  }
  return "Text:        " + grouped(plan.tokens) + " tokens, " + grouped(plan.request.spec.model.vocabulary) +
         (plan.request.spec.settings.tokenizer == train::TokenizerKind::byte ? " in the vocabulary\n" : " distinct\n");
}

std::string steps_line(const TrainingPlan& plan) {
  const std::uint64_t steps = plan.request.spec.settings.steps;
  const std::string time = about_text(plan.seconds) + " here, evaluations aside\n";
  if (!plan.request.resume) return "Steps:       " + grouped(steps) + ", " + time;
  const std::string stands = "Steps:       stands at " + grouped(plan.step) + " of " + grouped(steps);
  if (plan.stopped_early) {
    return stands + ". Nothing left to do: it stopped early, since the validation loss no longer fell\n";
  }
  if (plan.steps_left() == 0) return stands + ". Nothing left to do\n";
  return stands + ", " + grouped(plan.steps_left()) + " left, " + time;
}

}  // namespace

double expected_seconds(const train::RunSpec& spec, const train::Estimate& estimate, std::uint64_t steps,
                        const kernels::Executor& executor) {
  const double rate = spec.settings.number == train::NumberKind::f64 ? operations_per_second<double>(spec, executor)
                                                                     : operations_per_second<float>(spec, executor);
  return static_cast<double>(steps) * estimate.operations_per_step / (rate * kShareOfProducts);
}

TrainingPlan make_plan(const train::TrainRequest& request, const Execution& execution) {
  TrainingPlan plan{.request = request, .unread = {}, .estimate = {}};
  if (request.resume) {
    look_at_run(plan);
  } else {
    read_data(plan);
  }
  const train::RunSpec& spec = plan.request.spec;
  plan.parameters = models::parameter_count(spec.model);
  plan.estimate = train::estimate(spec, plan.tokens);
  train::require_memory(plan.estimate);
  if (plan.steps_left() > 0) {
    plan.seconds = expected_seconds(spec, plan.estimate, plan.steps_left(), execution.executor());
  }
  return plan;
}

std::string plan_text(const TrainingPlan& plan, bool json) {
  if (json) return text_of(as_json(plan)) + "\n";
  const train::RunSpec& spec = plan.request.spec;
  const std::string run = plan.request.run.empty() ? "none named" : text::escaped(plan.request.run.string());
  std::string out = "Run:         " + run + " (nothing is written)\n";
  out += "Parameters:  " + grouped(plan.parameters) + "\n";
  out += text_line(plan);
  out += "Memory:      about " + size_text(plan.estimate.memory_bytes) + "\n";
  out += "Checkpoint:  " + size_text(plan.estimate.checkpoint_bytes) + ", " + std::to_string(spec.conduct.keep) +
         " are kept and the best\n";
  out += steps_line(plan);
  out += "Model\n" + settings_lines(spec.model) + "Training\n" + settings_lines(spec.settings);
  return out + "Conduct\n" + settings_lines(spec.conduct);
}

}  // namespace dikkat::cli
