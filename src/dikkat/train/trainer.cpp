#include "dikkat/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/base/version.h"
#include "dikkat/train/checkpoint.h"
#include "dikkat/train/material.h"
#include "dikkat/train/model_state.h"
#include "dikkat/train/run_folder.h"
#include "dikkat/train/run_log.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {
namespace {

constexpr std::size_t kLossTail = 16;
// Whether something that happens every `every` steps (0: never) happens at step t.
bool due(std::uint64_t t, std::uint64_t every) { return every != 0 && t % every == 0; }

// A run being trained by this process.
class Training {
 public:
  // record: what the run is to be from now on.
  Training(RunFolder folder, std::unique_ptr<Learner> learner, const RunRecord& record, std::size_t tokens,
           const kernels::Executor& executor, const StopRequest& stop, Observer& observer)
      : folder_(std::move(folder)),
        learner_(std::move(learner)),
        tokens_(tokens),
        stop_(stop),
        observer_(observer),
        spec_{record.model, record.settings, record.conduct},
        checkpoints_(folder_.path(), record.conduct.keep),
        optimizer_(learner_->parameters(), optimizer_settings(spec_.settings)),
        stepper_(learner_->objective(), optimizer_, spec_.settings, executor) {
    state_.loss_tail.reserve(kLossTail + 1);
    state_.model = spec_.model;
    state_.settings = spec_.settings;
    state_.coding_fingerprint = record.coding_fingerprint;
    state_.data_fingerprint = record.data_fingerprint;
  }

  // From the newest good checkpoint; that of a new run is step 0.
  void go_on() {
    LoadedCheckpoint loaded = checkpoints_.load();
    for (const std::string& warning : loaded.warnings) observer_.on_warning(warning);
    const std::string where = folder_.path().string();
    if (loaded.checkpoint.state.data_fingerprint != state_.data_fingerprint ||
        loaded.checkpoint.state.coding_fingerprint != state_.coding_fingerprint) {
      throw Error(ErrorKind::incompatible, "the checkpoint was made from other data", {.file = where});
    }
    restore(weights_of(learner_->parameters()), loaded.checkpoint.weights, "the weights in " + where);
    restore(state_of(optimizer_), loaded.checkpoint.optimizer, "the optimiser's moments in " + where);
    const CheckpointState fresh = state_;
    state_ = loaded.checkpoint.state;
    state_.model = fresh.model;
    state_.settings = fresh.settings;
    saved_step_ = state_.step;
    checkpoints_.restore_pointers(state_);
    cut_log_to(folder_.path(), state_.step);
  }

  void rewrite_record(const RunRecord& record) { folder_.rewrite(record); }

  Outcome run() {
    observer_.on_start({.spec = spec_, .estimate = estimate(spec_, tokens_), .tokens = tokens_, .step = state_.step});
    log_.emplace(folder_.path(), spec_.model.task);
    Ending ending = Ending::finished;
    if (evaluation_due() && state_.evaluated_step < state_.step && !evaluate()) ending = Ending::interrupted;
    if (ending == Ending::finished && state_.step < spec_.settings.steps && patience_spent())
      ending = Ending::early_stop;
    while (ending == Ending::finished && state_.step < spec_.settings.steps) {
      if (stop_.asked() || !one_step()) {
        ending = Ending::interrupted;
      } else if (patience_spent()) {
        ending = Ending::early_stop;
      }
    }
    if (saved_step_ != state_.step) save(Rank::ordinary);
    return outcome(ending);
  }

 private:
  // One step and what is due after it; false when a stop was asked for.
  bool one_step() {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t t = state_.step + 1;
    const Measured measured = stepper_.measure(t, stop_);
    if (!measured.complete) return false;
    StepReport report;
    report.step = t;
    report.loss_nats = measured.loss_nats;
    report.gradient_norm = measured.gradient_norm;
    StepFate fate = StepFate::updated;
    if (measured.finite()) {
      report.learning_rate = stepper_.update(t, measured);
      remember_loss(measured.loss_nats);
    } else {
      skip_or_throw(t, measured);
      fate = StepFate::skipped;
    }
    state_.step = t;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    report.tokens_per_s = static_cast<double>(measured.tokens) / std::max(elapsed.count(), 1e-9);
    std::string hash;
    if (due(t, spec_.conduct.hash_every) || t == spec_.settings.steps) hash = weights_hash();
    report.weights_sha256 = hash;
    log_->step(report, fate);
    observer_.on_step(report);
    return after_step();
  }

  bool after_step() {
    if (evaluation_due() && !evaluate()) return false;
    if (due(state_.step, spec_.conduct.save_every) && saved_step_ != state_.step) save(Rank::ordinary);
    if (due(state_.step, spec_.conduct.sample_every)) show_sample();
    return true;
  }

  [[nodiscard]] bool evaluation_due() const {
    const std::uint64_t every = spec_.conduct.eval_every;
    return every != 0 && learner_->validates() && state_.step != 0 &&
           (due(state_.step, every) || state_.step == spec_.settings.steps);
  }

  // False when a stop was asked for; the evaluation is then made when the run goes on.
  bool evaluate() {
    const auto result = learner_->evaluate(stop_);
    if (!result) return false;
    EvaluationReport report{.step = state_.step, .result = *result};
    report.best = !state_.best_validation_loss_nats || result->loss_nats < *state_.best_validation_loss_nats;
    accuracy_ = result->accuracy;
    state_.evaluated_step = state_.step;
    state_.validation_loss_nats = result->loss_nats;
    state_.evaluations_since_best = report.best ? 0 : state_.evaluations_since_best + 1;
    if (report.best) {
      state_.best_validation_loss_nats = result->loss_nats;
      state_.best_step = state_.step;
    }
    log_->evaluation(report);
    observer_.on_evaluation(report);
    if (report.best) save(Rank::best);
    return true;
  }

  [[nodiscard]] bool patience_spent() const {
    return spec_.conduct.patience != 0 && state_.evaluations_since_best >= spec_.conduct.patience;
  }

  void skip_or_throw(std::uint64_t t, const Measured& measured) {
    const std::string tensor = stepper_.first_nonfinite(t);
    const std::string quantity = std::isfinite(measured.loss_nats) ? "gradient norm" : "loss";
    if (state_.skipped_nonfinite < spec_.conduct.skip_nonfinite) {
      ++state_.skipped_nonfinite;
      observer_.on_warning("step " + std::to_string(t) + ": the " + quantity + " is not finite (" + tensor +
                           "); the step is skipped");
      return;
    }
    NonfiniteReport report{.step = t, .quantity = quantity, .tensor = tensor, .samples = {}};
    for (std::size_t s = 0; s < spec_.settings.batch; ++s) report.samples.push_back(learner_->origin_of(t, s));
    log_->step({.step = t, .loss_nats = measured.loss_nats, .gradient_norm = measured.gradient_norm},
               StepFate::skipped);
    write_nonfinite_report(folder_.path(), report);
    throw Error(ErrorKind::numeric,
                "step " + std::to_string(t) + ": the " + quantity + " is not finite, first in " + tensor +
                    "; the last good checkpoint is step " + std::to_string(saved_step_),
                {.file = folder_.path().string(),
                 .hint = "lower the learning rate, or clip gradients; nan-report.json has the details"});
  }

  void remember_loss(double loss_nats) {
    state_.loss_tail.push_back(loss_nats);
    if (state_.loss_tail.size() > kLossTail) state_.loss_tail.erase(state_.loss_tail.begin());
  }

  [[nodiscard]] Checkpoint checkpoint() const {
    return {state_, weights_of(learner_->parameters()), state_of(optimizer_)};
  }

  void save(Rank rank) {
    if (log_) log_->sync();
    checkpoints_.save(checkpoint(), rank);
    saved_step_ = state_.step;
    observer_.on_checkpoint(state_.step);
  }

  [[nodiscard]] std::string weights_hash() const { return formats::weights_sha256(weights_of(learner_->parameters())); }

  void show_sample() {
    const std::optional<std::string> text = learner_->sample(stop_);
    if (text) save_before_failing([&] { observer_.on_sample(state_.step, *text); });
  }

  // Whoever looks on may fail (a closed pipe, a full disk behind it): the steps done are saved first.
  template <class Show>
  void save_before_failing(Show&& show) {
    try {
      show();
    } catch (...) {
      if (saved_step_ != state_.step) save(Rank::ordinary);
      throw;
    }
  }

  [[nodiscard]] Outcome outcome(Ending ending) const {
    Outcome result;
    result.ending = ending;
    result.signal = stop_.signal.load();
    result.step = state_.step;
    if (!state_.loss_tail.empty()) result.loss_nats = state_.loss_tail.back();
    if (state_.step == 0) result.loss_nats = std::numeric_limits<double>::quiet_NaN();  // nothing was measured
    if (state_.evaluated_step == state_.step) {
      result.validation_loss_nats = state_.validation_loss_nats;
      result.validation_accuracy = accuracy_;
    }
    result.best_validation_loss_nats = state_.best_validation_loss_nats;
    result.best_step = state_.best_step;
    result.weights_sha256 = weights_hash();
    return result;
  }

  RunFolder folder_;
  std::unique_ptr<Learner> learner_;
  std::size_t tokens_;
  const StopRequest& stop_;
  Observer& observer_;
  RunSpec spec_;
  Checkpoints checkpoints_;
  optim::Optimizer optimizer_;
  Stepper stepper_;
  std::optional<RunLog> log_;
  CheckpointState state_;
  std::optional<double> accuracy_;  // of the last evaluation
  std::uint64_t saved_step_ = 0;
};

// Step 0: the initial weights, and an optimiser that has seen nothing.
Checkpoint first_checkpoint(const nn::ParameterStore& parameters, const RunRecord& record,
                            const kernels::Executor& executor) {
  parameters.initialise(executor, record.settings.seed);
  const optim::Optimizer optimizer(parameters, optimizer_settings(record.settings));
  CheckpointState state;
  state.model = record.model;
  state.settings = record.settings;
  state.coding_fingerprint = record.coding_fingerprint;
  state.data_fingerprint = record.data_fingerprint;
  return {std::move(state), weights_of(parameters), state_of(optimizer)};
}

void check_all(const RunSpec& spec, const Material& material) {
  models::check(spec.model);
  check(spec.settings, spec.model);
  check(spec.conduct);
  material.check(spec.model);
  require_memory(estimate(spec, material.tokens()));
}

// Asked to stop while the data was being read: there is no run, and nothing to come back to.
Outcome stopped_before_it_began(const StopRequest& stop) {
  Outcome outcome;
  outcome.ending = Ending::interrupted;
  outcome.signal = stop.signal.load();
  outcome.loss_nats = std::numeric_limits<double>::quiet_NaN();
  return outcome;
}

// What the coding and the parts of the data hang on cannot be overridden.
void require_same_coding(const RunRecord& record, const RunSpec& spec, const std::filesystem::path& run) {
  const auto keeps = [&](bool same, const char* what, const char* key) {
    if (same) return;
    throw Error(ErrorKind::incompatible, std::string("a run keeps its ") + what,
                {.file = run.string(), .key = key, .hint = "begin a new run"});
  };
  keeps(record.model.task == spec.model.task, "task", "task");
  keeps(record.settings.tokenizer == spec.settings.tokenizer, "tokenizer", "tokenizer");
  keeps(record.settings.validation_share == spec.settings.validation_share, "validation part", "validation-share");
}

Outcome train_new(const TrainRequest& request, const kernels::Executor& executor, const StopRequest& stop,
                  Observer& observer) {
  require_absent(request.run);
  RunSpec spec = request.spec;
  const std::unique_ptr<Material> material = read_material(request.files, spec);
  if (stop.asked()) return stopped_before_it_began(stop);
  spec.model = material->completed(spec.model);
  check_all(spec, *material);

  const NewRun content{.record = {.program = std::string(version().number),
                                  .model = spec.model,
                                  .settings = spec.settings,
                                  .conduct = spec.conduct,
                                  .coding_fingerprint = material->coding_fingerprint(),
                                  .sources = material->sources(),
                                  .data_fingerprint = material->fingerprint()},
                       .coding_json = material->coding_json(),
                       .copies = material->copies()};
  std::unique_ptr<Learner> learner = material->learner(spec, executor);
  RunFolder folder =
      RunFolder::create(request.run, content, first_checkpoint(learner->parameters(), content.record, executor));
  Training training(std::move(folder), std::move(learner), content.record, material->tokens(), executor, stop,
                    observer);
  training.go_on();
  return training.run();
}

Outcome train_on(const TrainRequest& request, const kernels::Executor& executor, const StopRequest& stop,
                 Observer& observer) {
  RunFolder folder = RunFolder::open(request.run, Access::write);
  RunSpec spec = request.spec;
  keep_what_data_settled(folder.record().model, spec.model);
  if (!request.override_settings) require_same_settings(folder.record(), spec, request.run);
  require_same_coding(folder.record(), spec, request.run);
  const std::unique_ptr<Material> material = read_material(request.files, spec, folder);
  check_all(spec, *material);

  RunRecord record = folder.record();
  const bool from_input = std::find(request.files.begin(), request.files.end(), "-") != request.files.end();
  if (!request.files.empty() && !from_input) record.sources = material->sources();
  const bool changed = !(record.model == spec.model) || !(record.settings == spec.settings) ||
                       !(record.sources == folder.record().sources) ||
                       text_of(to_json(record.conduct)) != text_of(to_json(spec.conduct));
  record.model = spec.model;
  record.settings = spec.settings;
  record.conduct = spec.conduct;
  Training training(std::move(folder), material->learner(spec, executor), record, material->tokens(), executor, stop,
                    observer);
  training.go_on();
  if (changed) training.rewrite_record(record);  // now that the checkpoint is known to fit
  return training.run();
}

}  // namespace

void keep_what_data_settled(const models::Config& of_run, models::Config& asked) {
  asked.vocabulary = of_run.vocabulary;
  asked.channels = of_run.channels;
  asked.outputs = of_run.outputs;
  if (asked.context == 0) asked.context = of_run.context;
}

Outcome train(const TrainRequest& request, const kernels::Executor& executor, const StopRequest& stop,
              Observer& observer) {
  return request.resume ? train_on(request, executor, stop, observer) : train_new(request, executor, stop, observer);
}

}  // namespace dikkat::train
