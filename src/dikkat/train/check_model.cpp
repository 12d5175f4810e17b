#include "dikkat/train/check_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "dikkat/optim/optimizer.h"
#include "dikkat/random/streams.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {
namespace {

using Gradients = nn::ParameterStore::Gradients;

// Entries of a gradient to look at: the largest, and one drawn.
std::vector<std::size_t> entries_of(const nn::Parameter& parameter, std::uint64_t seed) {
  const auto gradient = parameter.gradient().span<double>();
  const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const auto largest = std::max_element(gradient.begin(), gradient.end(), smaller);
  const random::Stream stream = random::stream(seed, "check", parameter.path());
  return {static_cast<std::size_t>(largest - gradient.begin()), random::below(stream, {0, 0, 0, 0}, gradient.size())};
}

// The slope of the loss along one entry, by a central difference.
double slope(Probe& probe, double& entry, double step) {
  const double here = entry;
  entry = here + step;
  const double above = probe.loss(Gradients::none);
  entry = here - step;
  const double below = probe.loss(Gradients::none);
  entry = here;
  return (above - below) / (2 * step);
}

struct Disagreement {
  double backward = 0;
  double differences = 0;
};

std::optional<Disagreement> disagreement(Probe& probe, double& entry, double seen, double tolerance) {
  Disagreement found{.backward = seen};
  bool first = true;
  for (const double step : {1e-5, 1e-6, 1e-4}) {
    const double expected = slope(probe, entry, step);
    if (std::abs(seen - expected) <= tolerance) return std::nullopt;
    if (std::exchange(first, false)) found.differences = expected;
  }
  return found;
}

Finding wrong_gradient(const nn::Parameter& parameter, std::size_t entry, const Disagreement& found) {
  return {.severity = Severity::trouble,
          .check = "gradients",
          .what = fmt::format("backward says {:.9g}, differences of the loss say {:.9g}", found.backward,
                              found.differences),
          .where = fmt::format("{}, entry {}", parameter.path(), entry),
          .remedy = "this is a fault of the program: report it with these settings",
          .kind = ErrorKind::internal};
}

Finding not_finite(std::string check, const char* what, double value) {
  return {.severity = Severity::trouble,
          .check = std::move(check),
          .what = fmt::format("{} is {}", what, value),
          .remedy = "lower --learning-rate, and look at the settings of the model",
          .kind = ErrorKind::numeric};
}

}  // namespace

Finding check_first_loss(double measured, double expected, double far) {
  if (!std::isfinite(measured)) return not_finite("first-loss", "the loss before the first step", measured);
  const std::string what =
      fmt::format("the untrained model's loss is {:.4f}, that of who knows nothing {:.4f}", measured, expected);
  if (std::abs(measured - expected) <= far) return {.severity = Severity::fine, .check = "first-loss", .what = what};
  return {.severity = Severity::warning,
          .check = "first-loss",
          .what = what,
          .remedy = measured > expected ? "start from smaller weights (--init gpt2), or look at --norm"
                                        : "look whether the targets stand among the inputs"};
}

Finding check_gradients(Probe& probe, std::uint64_t seed, double seconds) {
  const TimeLimit limit(seconds);
  const double loss = probe.loss(Gradients::kept);
  if (!std::isfinite(loss)) return not_finite("gradients", "the loss", loss);
  const auto parameters = probe.parameters().in_path_order();
  std::size_t looked_at = 0;
  for (const nn::Parameter* parameter : parameters) {
    if (limit.is_over()) break;
    const std::vector<std::size_t> entries = entries_of(*parameter, seed);
    const double largest = std::abs(parameter->gradient().data<double>()[entries[0]]);
    const double tolerance = 1e-5 * largest + 1e-9 * std::max(1.0, std::abs(loss));
    for (const std::size_t entry : entries) {
      double& value = parameter->value().data<double>()[entry];
      const auto found = disagreement(probe, value, parameter->gradient().data<double>()[entry], tolerance);
      if (found) return wrong_gradient(*parameter, entry, *found);
    }
    ++looked_at;
  }
  if (looked_at == parameters.size()) {
    return {.severity = Severity::fine,
            .check = "gradients",
            .what = fmt::format("backward agrees with differences of the loss in all {} tensors", looked_at)};
  }
  return {.severity = Severity::note,
          .check = "gradients",
          .what = fmt::format("{} of {} tensors were checked in the time there was, and agree", looked_at,
                              parameters.size()),
          .remedy = "give more time by --seconds"};
}

Finding check_memorising(Probe& probe, const Settings& settings, const kernels::Executor& executor, double seconds) {
  constexpr std::uint64_t kWarmup = 10;
  const TimeLimit limit(seconds);
  optim::Optimizer optimizer(probe.parameters(), optimizer_settings(settings));
  double first = 0;
  double loss = 0;
  std::uint64_t t = 1;
  for (;; ++t) {
    loss = probe.loss(Gradients::kept);
    const double norm = optim::gradient_norm(executor, probe.parameters());
    if (!std::isfinite(loss)) return not_finite("memorise", "the loss", loss);
    if (!std::isfinite(norm)) return not_finite("memorise", "the gradient's norm", norm);
    if (t == 1) first = loss;
    if (loss <= first / 4 || t > kMemoriseSteps || limit.is_over()) break;
    const double rate = settings.learning_rate * std::min(1.0, static_cast<double>(t) / static_cast<double>(kWarmup));
    optimizer.step(executor, rate, optim::clip_factor(norm, settings.clip), t);
  }
  const std::string what = fmt::format("on one batch the loss went from {:.4f} to {:.4f} in {} {}", first, loss, t - 1,
                                       t == 2 ? "step" : "steps");
  if (loss <= first / 4) return {.severity = Severity::fine, .check = "memorise", .what = what};
  if (t <= kMemoriseSteps) {
    return {.severity = Severity::note,
            .check = "memorise",
            .what = what + ", then the time was up",
            .remedy = "give more time by --seconds"};
  }
  const bool hardly = loss > 0.9 * first;
  return {.severity = hardly ? Severity::trouble : Severity::warning,
          .check = "memorise",
          .what = what + (hardly ? ": it does not learn" : ": it learns slowly"),
          .remedy = "try another --learning-rate (1e-3 suits most small models)",
          .kind = ErrorKind::numeric};
}

StepSeconds seconds_of_step(Probe& probe, const Settings& settings, const kernels::Executor& executor, double seconds) {
  optim::Optimizer optimizer(probe.parameters(), optimizer_settings(settings));
  const TimeLimit limit(seconds);
  StepSeconds least;
  for (std::uint64_t t = 1; t <= 5; ++t) {
    const TimeLimit pass(0);
    (void)probe.loss(Gradients::kept);
    const double for_pass = pass.passed();
    const TimeLimit update(0);
    const double norm = optim::gradient_norm(executor, probe.parameters());
    optimizer.step(executor, settings.learning_rate, optim::clip_factor(norm, settings.clip), t);
    const double for_update = update.passed();
    least.pass = t == 1 ? for_pass : std::min(least.pass, for_pass);
    least.update = t == 1 ? for_update : std::min(least.update, for_update);
    if (limit.is_over()) break;
  }
  return least;
}

}  // namespace dikkat::train
