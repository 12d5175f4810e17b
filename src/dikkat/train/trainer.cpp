#include "dikkat/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/base/version.h"
#include "dikkat/generate/session.h"
#include "dikkat/train/checkpoint.h"
#include "dikkat/train/evaluator.h"
#include "dikkat/train/model_state.h"
#include "dikkat/train/run_folder.h"
#include "dikkat/train/run_log.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {
namespace {

constexpr std::size_t kLossTail = 16;
constexpr std::size_t kSampleTokens = 200;

// Whether something that happens every `every` steps (0: never) happens at step t.
bool due(std::uint64_t t, std::uint64_t every) { return every != 0 && t % every == 0; }

// A run's data: what its texts become.
struct Prepared {
  std::unique_ptr<text::Tokenizer> tokenizer;
  data::Corpus corpus;
};

// A run being trained by this process.
class Training {
 public:
  // record: what the run is to be from now on.
  Training(RunFolder folder, Prepared prepared, const RunRecord& record, const kernels::Executor& executor,
           const StopRequest& stop, Observer& observer)
      : folder_(std::move(folder)),
        prepared_(std::move(prepared)),
        executor_(executor),
        stop_(stop),
        observer_(observer),
        spec_{record.model, record.settings, record.conduct},
        checkpoints_(folder_.path(), record.conduct.keep),
        model_(spec_.model, number_type(spec_.settings), nn::ParameterStore::Gradients::kept),
        optimizer_(model_.parameters(), optimizer_settings(spec_.settings)),
        stepper_(model_, optimizer_, spec_.settings, executor),
        evaluator_(model_, executor),
        source_(prepared_.corpus.part(data::Split::train), spec_.model.context, spec_.settings.seed) {
    state_.loss_tail.reserve(kLossTail + 1);
    state_.model = spec_.model;
    state_.settings = spec_.settings;
    state_.tokenizer_fingerprint = prepared_.tokenizer->fingerprint();
    state_.text_fingerprint = prepared_.corpus.fingerprint;
  }

  // From the newest good checkpoint; that of a new run is step 0.
  void go_on() {
    LoadedCheckpoint loaded = checkpoints_.load();
    for (const std::string& warning : loaded.warnings) observer_.on_warning(warning);
    const std::string where = folder_.path().string();
    if (loaded.checkpoint.state.text_fingerprint != state_.text_fingerprint ||
        loaded.checkpoint.state.tokenizer_fingerprint != state_.tokenizer_fingerprint) {
      throw Error(ErrorKind::incompatible, "the checkpoint was made from another text or tokenizer", {.file = where});
    }
    restore(weights_of(model_), loaded.checkpoint.weights, "the weights in " + where);
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
    observer_.on_start({.spec = spec_,
                        .estimate = estimate(spec_, prepared_.corpus.tokens.size()),
                        .tokens = prepared_.corpus.tokens.size(),
                        .step = state_.step});
    log_.emplace(folder_.path());
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
    const Measured measured = stepper_.measure(t, source_, stop_);
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
    return every != 0 && state_.step != 0 && (due(state_.step, every) || state_.step == spec_.settings.steps);
  }

  // False when a stop was asked for; the evaluation is then made when the run goes on.
  bool evaluate() {
    const auto result = evaluator_.evaluate(prepared_.corpus.part(data::Split::validation), stop_);
    if (!result) return false;
    EvaluationReport report{.step = state_.step, .loss_nats = result->loss_nats, .tokens = result->tokens};
    report.best = !state_.best_validation_loss_nats || result->loss_nats < *state_.best_validation_loss_nats;
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
    for (std::size_t s = 0; s < spec_.settings.batch; ++s) report.samples.push_back(source_.start_of(t, s));
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

  [[nodiscard]] Checkpoint checkpoint() const { return {state_, weights_of(model_), state_of(optimizer_)}; }

  void save(Rank rank) {
    if (log_) log_->sync();
    checkpoints_.save(checkpoint(), rank);
    saved_step_ = state_.step;
    observer_.on_checkpoint(state_.step);
  }

  [[nodiscard]] std::string weights_hash() const { return formats::weights_sha256(weights_of(model_)); }

  void show_sample() {
    if (spec_.model.direction != models::Direction::causal) return;
    const generate::Request request{.prompt = {}, .tokens = kSampleTokens};
    const auto completion = generate::generate(model_, *prepared_.tokenizer, executor_, request,
                                               [this](std::string_view) { return !stop_.asked(); });
    save_before_failing([&] { observer_.on_sample(state_.step, completion.text); });
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
    if (state_.evaluated_step == state_.step) result.validation_loss_nats = state_.validation_loss_nats;
    result.weights_sha256 = weights_hash();
    return result;
  }

  RunFolder folder_;
  Prepared prepared_;
  kernels::Executor executor_;
  const StopRequest& stop_;
  Observer& observer_;
  RunSpec spec_;
  Checkpoints checkpoints_;
  models::LanguageModel model_;
  optim::Optimizer optimizer_;
  Stepper stepper_;
  Evaluator evaluator_;
  WindowSource source_;
  std::optional<RunLog> log_;
  CheckpointState state_;
  std::uint64_t saved_step_ = 0;
};

// Where the texts came from: files by their absolute paths, standard input by its copy in the run.
std::vector<TextSource> sources_of(const std::vector<std::filesystem::path>& paths, const data::Texts& texts) {
  std::vector<TextSource> sources;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    TextSource source{.path = paths[i].string(), .bytes = texts.raw(i).size(), .copy = {}};
    if (source.path == "-") {
      source.copy = "text-" + std::to_string(i) + ".txt";
    } else {
      source.path = std::filesystem::absolute(paths[i]).string();
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

// The texts of a run to go on with: as named now, or where they were.
data::Texts texts_of(const TrainRequest& request, const RunFolder& folder) {
  const data::Texts::Cleaning cleaning = cleaning_for(folder.record().settings);
  if (!request.texts.empty()) return data::Texts(request.texts, cleaning);
  try {
    return data::Texts(folder.text_paths(), cleaning);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    ErrorPlace place = error.place();
    place.hint = "name the text where it is now: dikkat train TEXT --out " + request.run.string() + " --resume";
    throw Error(ErrorKind::io, "the run's text cannot be read: " + error.message(), place);
  }
}

// Step 0: the initial weights, and an optimiser that has seen nothing.
Checkpoint first_checkpoint(const RunRecord& record, const kernels::Executor& executor) {
  const models::LanguageModel model(record.model, number_type(record.settings), nn::ParameterStore::Gradients::none);
  model.initialise(executor, record.settings.seed);
  const optim::Optimizer optimizer(model.parameters(), optimizer_settings(record.settings));
  CheckpointState state;
  state.model = record.model;
  state.settings = record.settings;
  state.tokenizer_fingerprint = record.tokenizer_fingerprint;
  state.text_fingerprint = record.text_fingerprint;
  return {std::move(state), weights_of(model), state_of(optimizer)};
}

// Asked to stop while the text was being read: there is no run, and nothing to come back to.
Outcome stopped_before_it_began(const StopRequest& stop) {
  Outcome outcome;
  outcome.ending = Ending::interrupted;
  outcome.signal = stop.signal.load();
  outcome.loss_nats = std::numeric_limits<double>::quiet_NaN();
  return outcome;
}

Outcome train_new(const TrainRequest& request, const kernels::Executor& executor, const StopRequest& stop,
                  Observer& observer) {
  require_absent(request.run);
  RunSpec spec = request.spec;
  const data::Texts texts(request.texts, cleaning_for(spec.settings));
  if (stop.asked()) return stopped_before_it_began(stop);
  Prepared prepared;
  prepared.tokenizer = spec.settings.tokenizer == TokenizerKind::character ? data::character_tokenizer_of(texts)
                                                                           : text::byte_tokenizer();
  spec.model.vocabulary = prepared.tokenizer->vocabulary();
  models::check(spec.model);
  check(spec.settings, spec.model);
  check(spec.conduct);
  prepared.corpus = data::tokenized(texts, *prepared.tokenizer);
  data::check_windows(prepared.corpus, spec.model.context, texts.name(0));
  require_memory(estimate(spec, prepared.corpus.tokens.size()));
  if (stop.asked()) return stopped_before_it_began(stop);

  NewRun content{.record = {.program = std::string(version().number),
                            .model = spec.model,
                            .settings = spec.settings,
                            .conduct = spec.conduct,
                            .tokenizer_fingerprint = prepared.tokenizer->fingerprint(),
                            .texts = {},
                            .text_fingerprint = prepared.corpus.fingerprint},
                 .tokenizer_json = prepared.tokenizer->to_json(),
                 .copies = {}};
  content.record.texts = sources_of(request.texts, texts);
  for (std::size_t i = 0; i < request.texts.size(); ++i) {
    if (const std::string& copy = content.record.texts[i].copy; !copy.empty()) {
      content.copies.emplace_back(copy, texts.raw(i));
    }
  }
  RunFolder folder = RunFolder::create(request.run, content, first_checkpoint(content.record, executor));
  Training training(std::move(folder), std::move(prepared), content.record, executor, stop, observer);
  training.go_on();
  return training.run();
}

Outcome train_on(const TrainRequest& request, const kernels::Executor& executor, const StopRequest& stop,
                 Observer& observer) {
  RunFolder folder = RunFolder::open(request.run, Access::write);
  RunSpec spec = request.spec;
  spec.model.vocabulary = folder.record().model.vocabulary;
  const std::string where = request.run.string();
  if (!request.override_settings) require_same_settings(folder.record(), spec, request.run);
  models::check(spec.model);
  check(spec.settings, spec.model);
  check(spec.conduct);

  const data::Texts texts = texts_of(request, folder);
  if (texts.fingerprint() != folder.record().text_fingerprint) {
    throw Error(ErrorKind::incompatible, "the text is not the one the run was begun with",
                {.file = texts.name(0), .hint = "give the text as it was, or begin a new run"});
  }
  Prepared prepared;
  prepared.tokenizer = text::tokenizer_from(folder.tokenizer_json(), (request.run / "tokenizer.json").string());
  prepared.corpus = data::tokenized(texts, *prepared.tokenizer);
  data::check_windows(prepared.corpus, spec.model.context, texts.name(0));
  require_memory(estimate(spec, prepared.corpus.tokens.size()));

  RunRecord record = folder.record();
  const bool from_input = std::find(request.texts.begin(), request.texts.end(), "-") != request.texts.end();
  if (!request.texts.empty() && !from_input) record.texts = sources_of(request.texts, texts);
  const bool changed = !(record.model == spec.model) || !(record.settings == spec.settings) ||
                       !(record.texts == folder.record().texts) ||
                       text_of(to_json(record.conduct)) != text_of(to_json(spec.conduct));
  record.model = spec.model;
  record.settings = spec.settings;
  record.conduct = spec.conduct;
  if (record.settings.tokenizer != folder.record().settings.tokenizer) {
    throw Error(ErrorKind::incompatible, "a run keeps its tokenizer",
                {.file = where, .key = "tokenizer", .hint = "begin a new run"});
  }
  Training training(std::move(folder), std::move(prepared), record, executor, stop, observer);
  training.go_on();
  if (changed) training.rewrite_record(record);  // now that the checkpoint is known to fit
  return training.run();
}

}  // namespace

Outcome train(const TrainRequest& request, const kernels::Executor& executor, const StopRequest& stop,
              Observer& observer) {
  return request.resume ? train_on(request, executor, stop, observer) : train_new(request, executor, stop, observer);
}

}  // namespace dikkat::train
