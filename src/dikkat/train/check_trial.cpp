#include "dikkat/train/check_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dikkat/train/check_model.h"

namespace dikkat::train {
namespace {

// Shares of the time there is.
constexpr double kForTiming = 0.15;
constexpr double kForMemorising = 0.45;
constexpr double kForGradients = 0.4;

constexpr std::size_t kPilotTokens = 16;
constexpr double kSecondsPerParameter = 40e-9;
constexpr double kSecondsPerWeight = 10e-9;  // of attention
constexpr double kSecondsPerBlockPair = 0.3e-6;
constexpr std::size_t kGradientSamples = 2;
constexpr std::size_t kGradientTokens = 8;
constexpr std::size_t kMemoriseTokens = 256;
constexpr std::size_t kMemoriseSamples = 8;

std::string time_text(double seconds) {
  if (seconds < 0.1) return "less than 0.1 s";
  if (seconds < 60) return fmt::format("{:.2g} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
}

class Trying {
 public:
  Trying(const Trial& trial, const kernels::Executor& executor) : trial_(trial), executor_(executor) {}

  Findings all() {
    Findings findings;
    find_speed();
    time_steps(findings);
    findings.push_back(memorise());
    findings.push_back(gradients());
    return findings;
  }

 private:
  using Gradients = nn::ParameterStore::Gradients;

  [[nodiscard]] const Settings& settings() const { return trial_.spec.settings; }
  [[nodiscard]] std::size_t context() const { return trial_.spec.model.context; }

  struct Amount {
    std::size_t samples = 1;
    std::size_t length = 1;
  };
  [[nodiscard]] std::unique_ptr<Probe> probe(const models::Config& model, DType dtype, const Amount& amount) const {
    return trial_.probe({.model = model,
                         .dtype = dtype,
                         .seed = settings().seed,
                         .samples = amount.samples,
                         .length = std::min(amount.length, context())});
  }
  // How much can be gone through `times` times in `seconds`, by the pilot's speed: whole samples, or, where not even
  // one can, the beginning of one.
  [[nodiscard]] Amount amount_within(double seconds, double times, std::size_t most) const {
    const double left = std::max(0.0, seconds / times - update_);
    const auto tokens = static_cast<std::size_t>(std::min(1e9, left / seconds_per_token_));
    const auto fit = static_cast<std::size_t>(static_cast<double>(tokens) / trial_.sample_tokens);
    return {.samples = std::clamp<std::size_t>(fit, 1, std::max<std::size_t>(1, most)),
            .length = std::clamp(tokens, std::min(kPilotTokens, context()), context())};
  }

  // On very few tokens.
  void find_speed() {
    const std::size_t length = std::min(kPilotTokens, context());
    const auto pilot = probe(trial_.spec.model, number_type(settings()), {.samples = 1, .length = length});
    const StepSeconds step = seconds_of_step(*pilot, settings(), executor_, 0.02);
    seconds_per_token_ = std::max(1e-9, step.pass / static_cast<double>(length));
    update_ = step.update;
  }

  void time_steps(Findings& findings) {
    const models::Config& model = trial_.spec.model;
    const std::size_t at_once = samples_at_a_time(settings(), model.longest_sample(), models::parameter_count(model));
    const Amount amount = amount_within(kForTiming * trial_.seconds, 2, at_once);
    const auto full = probe(trial_.spec.model, number_type(settings()), amount);
    const double far = trial_.spec.model.task == models::Task::regress ? kFarInSquares : kFarInNats;
    findings.push_back(check_first_loss(full->loss(Gradients::none), full->ignorance(), far));
    const double tried =
        static_cast<double>(amount.samples) * std::min(static_cast<double>(amount.length), trial_.sample_tokens);
    const StepSeconds measured = seconds_of_step(*full, settings(), executor_, kForTiming * trial_.seconds);
    findings.push_back(time_finding(measured.pass * step_tokens() / tried + measured.update));
  }

  [[nodiscard]] double step_tokens() const { return static_cast<double>(settings().batch) * trial_.sample_tokens; }

  [[nodiscard]] Finding time_finding(double step) const {
    const double steps = static_cast<double>(settings().steps) * step;
    const std::uint64_t every = trial_.spec.conduct.eval_every;
    const double times = every == 0 ? 0 : static_cast<double>(settings().steps / every);
    const double evaluation = trial_.validation_tokens / step_tokens() * step / 3;  // forward alone: a third of a step
    return {.severity = Severity::fine,
            .check = "time",
            .what = fmt::format("about {} for {} steps of {:.3g} ms, and {} for evaluations", time_text(steps),
                                settings().steps, 1000 * step, time_text(times * evaluation))};
  }

  [[nodiscard]] Finding memorise() const {
    models::Config model = trial_.spec.model;
    model.dropout = model.attention_dropout = 0;  // what is dropped is not learnt by heart
    const auto enough = static_cast<std::size_t>(static_cast<double>(kMemoriseTokens) / trial_.sample_tokens);
    const std::size_t most = std::min(std::clamp<std::size_t>(enough, 1, kMemoriseSamples), settings().batch);
    const double steps = static_cast<double>(kMemoriseSteps) / 2;
    const auto one = probe(model, number_type(settings()), amount_within(kForMemorising * trial_.seconds, steps, most));
    return check_memorising(*one, settings(), executor_, kForMemorising * trial_.seconds);
  }

  [[nodiscard]] Finding gradients() const {
    const auto small = probe(trial_.spec.model, DType::f64, {.samples = kGradientSamples, .length = kGradientTokens});
    return check_gradients(*small, settings().seed, kForGradients * trial_.seconds);
  }

  const Trial& trial_;
  const kernels::Executor& executor_;
  double seconds_per_token_ = 0;  // of a pass
  double update_ = 0;             // seconds of an update
};

Finding untried(double least, double seconds) {
  return {.severity = Severity::note,
          .check = "trial",
          .what = fmt::format("the model was not tried: making it and one step take about {}, there are {:.3g} s",
                              time_text(least), seconds),
          .remedy = fmt::format("give --seconds {:.0f} or more, or choose a smaller model", std::ceil(10 * least))};
}

}  // namespace

double least_seconds(const models::Config& model) {
  const auto layers = static_cast<double>(model.layers);
  const auto rows = static_cast<double>(std::min(kPilotTokens, model.context));
  return kSecondsPerParameter * static_cast<double>(models::parameter_count(model)) +
         kSecondsPerWeight * layers * static_cast<double>(model.heads) * rows * rows +
         kSecondsPerBlockPair * layers * layers;
}

Findings tried(const Trial& trial, const kernels::Executor& executor) {
  const double least = least_seconds(trial.spec.model);
  if (least > trial.seconds) return {untried(least, trial.seconds)};
  return Trying(trial, executor).all();
}

}  // namespace dikkat::train
