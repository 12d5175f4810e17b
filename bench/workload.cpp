#include "workload.h"

#include <span>
#include <utility>

#include "dikkat/base/fields.h"

namespace dikkat::bench {
namespace {

constexpr std::string_view kNames = "names-";

Workload names_of_width(std::size_t width) {
  return {.name = std::string(kNames) + std::to_string(width),
          .model = {.vocabulary = 27,
                    .context = 16,
                    .width = width,
                    .layers = 1,
                    .heads = 4,
                    .norm = models::NormKind::rms,
                    .activation = models::Activation::relu,
                    .output = models::OutputKind::free},
          .settings = {.batch = 16,
                       .optimizer = train::OptimizerKind::adam,
                       .schedule = optim::ScheduleKind::linear,
                       .beta1 = 0.85,
                       .beta2 = 0.99,
                       .weight_decay = 0,
                       .clip = 0},
          .lengths = {7, 6, 8, 7, 5, 9, 7, 6, 8, 7, 11, 6, 7, 8, 9, 3}};
}

}  // namespace

Workload workload_named(std::string_view name) {
  if (name.starts_with(kNames)) {
    const auto width = count_from(name.substr(kNames.size()));
    if (width && (*width == 16 || *width == 32 || *width == 64)) return names_of_width(*width);
  }
  const train::Preset& preset = train::preset_named(name);
  Workload workload{.name = std::string(name), .model = preset.model, .settings = preset.settings, .lengths = {}};
  workload.model.vocabulary = name == "kucuk" ? 30 : 65;
  if (name == "gpt2") {
    workload.model.vocabulary = 50257;
    workload.model.context = 256;
    workload.model.output = models::OutputKind::free;
  }
  workload.lengths.assign(workload.settings.batch, workload.model.context);
  return workload;
}

void SyntheticSource::fill(std::uint64_t /*t*/, std::size_t first, std::size_t count, data::Batch& batch) {
  if (!batch.inputs.empty()) return;
  const std::span<const std::size_t> lengths = std::span(workload_.lengths).subspan(first, count);
  std::uint64_t x = 88172645463325252ULL + first;
  for (const std::size_t length : lengths) {
    for (std::size_t i = 0; i < length; ++i) {
      x ^= x << 13U;
      x ^= x >> 7U;
      x ^= x << 17U;
      batch.inputs.push_back(static_cast<text::Token>(x % workload_.model.vocabulary));
      batch.targets.push_back(static_cast<std::int32_t>((x >> 32U) % workload_.model.vocabulary));
    }
  }
  batch.rows.lay_out(lengths, workload_.model.context, first);
}

Training::Training(Workload workload, const kernels::Executor& executor)
    : workload_(std::move(workload)),
      model_(workload_.model, DType::f32, nn::ParameterStore::Gradients::kept),
      optimizer_(model_.parameters(), train::optimizer_settings(workload_.settings)),
      stepper_(objective_, optimizer_, workload_.settings, executor) {
  model_.initialise(executor, 1);
}

void Training::step() {
  ++t_;
  stepper_.update(t_, stepper_.measure(t_, never_));
}

}  // namespace dikkat::bench
