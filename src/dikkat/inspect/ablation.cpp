#include "dikkat/inspect/ablation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/inspect/ablation_study.h"
#include "dikkat/stats/correction.h"

namespace dikkat::inspect {
namespace {

void check(const models::Config& config, const std::vector<Part>& parts, const AblationOptions& options) {
  if (parts.empty()) throw Error(ErrorKind::usage, "nothing to take away was named");
  if (options.length > config.context) {
    throw Error(
        ErrorKind::usage,
        fmt::format("windows of {} tokens are longer than the model's context of {}", options.length, config.context),
        {.key = "--length", .hint = fmt::format("take at most {}", config.context)});
  }
  for (const std::size_t position : options.positions) {
    if (position < options.length) continue;
    throw Error(ErrorKind::usage,
                fmt::format("there is no position {} in windows of {} tokens", position, options.length),
                {.key = "--at", .hint = fmt::format("positions are 0 to {}", options.length - 1)});
  }
}

std::vector<double> interaction(const std::vector<double>& both, const std::vector<double>& one,
                                const std::vector<double>& other) {
  std::vector<double> numbers(both.size());
  for (std::size_t w = 0; w < both.size(); ++w) numbers[w] = both[w] - one[w] - other[w];
  return numbers;
}

const Effect& single(const Ablation& ablation, std::size_t part, Substitute by) {
  return *std::find_if(ablation.effects.begin(), ablation.effects.end(), [&](const Effect& effect) {
    return effect.parts.size() == 1 && effect.parts.front() == part && effect.by == by;
  });
}

void estimate(Ablation& ablation) {
  for (Effect& effect : ablation.effects) {
    if (!effect.undefined.empty()) continue;
    effect.loss = estimate_of(effect.differences);
    if (effect.parts.size() != 2 || ablation.options.pairs == Pairs::none) continue;
    effect.interactions = interaction(effect.differences, single(ablation, effect.parts[0], effect.by).differences,
                                      single(ablation, effect.parts[1], effect.by).differences);
    effect.interaction = estimate_of(effect.interactions);
  }
}

void correct(Ablation& ablation) {
  std::vector<Estimate*> tested;
  for (Effect& effect : ablation.effects) {
    if (effect.loss.p) tested.push_back(&effect.loss);
    if (effect.interaction && effect.interaction->p) tested.push_back(&*effect.interaction);
  }
  std::vector<double> p;
  for (const Estimate* one : tested) p.push_back(*one->p);
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->holm = adjusted[i];
  ablation.tests = tested.size();
}

}  // namespace

Estimate estimate_of(std::span<const double> numbers) {
  Estimate estimate{.mean = stats::mean(numbers), .interval = stats::t_interval(numbers)};
  estimate.differing =
      static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), [](double x) { return x != 0; }));
  if (numbers.size() < 2 || estimate.differing < kLeastDiffering || !std::isfinite(estimate.mean)) return estimate;
  const double error = stats::deviation(numbers) / std::sqrt(static_cast<double>(numbers.size()));
  estimate.p = error == 0 ? 0.0 : stats::t_two_sided(estimate.mean / error, static_cast<double>(numbers.size() - 1));
  return estimate;
}

std::optional<Ablation> ablate(const models::LanguageModel& model, const kernels::Executor& executor,
                               const AblationText& text, const std::vector<Part>& parts, const AblationOptions& options,
                               const Progress& progress) {
  Ablation ablation{.parts = parts, .options = options, .reference_apart = !text.reference.empty()};
  if (ablation.options.length == 0) ablation.options.length = model.config().context;
  check(model.config(), parts, ablation.options);
  AblationStudy study(model, executor, text, ablation);
  if (!study.run(progress)) return std::nullopt;
  estimate(ablation);
  correct(ablation);
  return ablation;
}

}  // namespace dikkat::inspect
