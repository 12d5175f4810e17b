#include "dikkat/train/settings.h"

#include <cmath>
#include <string>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/kernels/rows.h"

namespace dikkat::train {
namespace {

// The book's KucukGPT (document "Transformer bloğu"): 2 layers, 4 heads, width 32, context 16.
Preset kucuk() {
  return {.name = "kucuk",
          .summary = "the book's KucukGPT: 2 layers, 4 heads, width 32, context 16, relu; 150 steps of Adam",
          .model = {.context = 16,
                    .width = 32,
                    .layers = 2,
                    .heads = 4,
                    .activation = kernels::Activation::relu,
                    .output = models::OutputKind::free,
                    .norm_bias = true,
                    .mlp_bias = true,
                    .output_bias = true,
                    .init = models::InitKind::book},
          .settings = {.steps = 150,
                       .batch = 2,
                       .optimizer = OptimizerKind::adam,
                       .learning_rate = 0.01,
                       .final_learning_rate = 0.01,
                       .schedule = optim::ScheduleKind::constant,
                       .warmup = 0,
                       .beta1 = 0.9,
                       .beta2 = 0.999,
                       .weight_decay = 0.0,
                       .clip = 0.0}};
}

// nanoGPT's character-level run for a processor: 4 layers, 4 heads, width 128, context 64, 2,000 steps of 12 windows.
Preset shakespeare_cpu() {
  return {.name = "shakespeare-cpu",
          .summary = "a small GPT-2 for a laptop: 4 layers, 4 heads, width 128, context 64; 2,000 steps of AdamW",
          .model = {.context = 64, .width = 128, .layers = 4, .heads = 4},
          .settings = {}};
}

Preset shakespeare() {
  return {.name = "shakespeare",
          .summary = "the larger character model: 6 layers, 6 heads, width 384, context 256, dropout 0.2; 5,000 steps",
          .model = {.context = 256, .width = 384, .layers = 6, .heads = 6, .dropout = 0.2, .attention_dropout = 0.2},
          .settings = {.steps = 5000, .batch = 64}};
}

Preset gpt2() {
  return {.name = "gpt2",
          .summary = "GPT-2's smallest form: 12 layers, 12 heads, width 768, context 1,024",
          .model = {.context = 1024,
                    .width = 768,
                    .layers = 12,
                    .heads = 12,
                    .activation = kernels::Activation::gelu_tanh,
                    .norm_bias = true,
                    .attention_bias = true,
                    .mlp_bias = true},
          .settings = {.steps = 10000,
                       .batch = 4,
                       .learning_rate = 6e-4,
                       .final_learning_rate = 6e-5,
                       .warmup = 200,
                       .beta2 = 0.95}};
}

// Chosen by two-fold cross-validation on training series, see docs/guide/series.md.
Preset series() {
  return {.name = "series",
          .summary = "series of numbers into classes: 2 layers, 4 heads, width 32, looking both ways; 300 steps of 16",
          .model = {.task = models::Task::classify,
                    .context = 0,  // as long as the longest series
                    .width = 32,
                    .layers = 2,
                    .heads = 4,
                    .placement = models::Placement::post,
                    .position = models::PositionKind::sinusoidal,
                    .direction = models::Direction::bidirectional,
                    .pooling = models::PoolingKind::last,
                    .norm_bias = true,
                    .attention_bias = true,
                    .mlp_bias = true,
                    .output_bias = true,
                    .dropout = 0.2,
                    .init = models::InitKind::book},
          .settings = {.steps = 300,
                       .batch = 16,
                       .learning_rate = 3e-3,
                       .final_learning_rate = 1e-5,
                       .warmup = 20,
                       .beta2 = 0.999,
                       .weight_decay = 1.0,
                       .validation_share = 0}};
}

// Their weights stay in the caches from one micro-batch to the next.
constexpr std::size_t kFewParameters = 2'000'000;

[[noreturn]] void refuse(const std::string& field, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, field + ": " + what, {.key = field, .hint = hint});
}

void require(bool holds, const std::string& field, double value, const std::string& rule, const std::string& hint) {
  if (!holds) refuse(field, text_of(value) + " " + rule, hint);
}

void check_micro_batch(const Settings& settings, const models::Config& model) {
  const std::size_t unit = kernels::samples_per_chunk(model.longest_sample());
  const std::size_t micro = settings.micro_batch;
  if (micro == 0 || micro >= settings.batch || micro % unit == 0) return;
  const std::string below = micro < unit ? "" : std::to_string(micro / unit * unit) + " or ";
  refuse("micro-batch",
         std::to_string(micro) + " is not a whole number of gradient chunks (" + std::to_string(unit) +
             " samples of context " + std::to_string(model.context) + " each)",
         "give " + below + std::to_string((micro / unit + 1) * unit));
}

}  // namespace

std::size_t samples_at_a_time(const Settings& settings, std::size_t longest_sample, std::size_t parameters) {
  if (settings.micro_batch != 0) return std::min(settings.micro_batch, settings.batch);
  const std::size_t unit = kernels::samples_per_chunk(longest_sample);
  const std::size_t rows = parameters > kFewParameters ? 4 * kernels::kChunkTokens : kernels::kChunkTokens;
  const std::size_t chunk = std::max<std::size_t>(1, unit * longest_sample);
  return std::min(settings.batch, unit * std::max<std::size_t>(1, rows / chunk));
}

DType number_type(const Settings& settings) { return settings.number == NumberKind::f64 ? DType::f64 : DType::f32; }

data::Texts::Cleaning cleaning_for(const Settings& settings) {
  return settings.tokenizer == TokenizerKind::character ? data::Texts::Cleaning::characters
                                                        : data::Texts::Cleaning::none;
}

data::SeriesOptions series_options(const Settings& settings, data::Labels labels) {
  const auto named = [](const std::string& column) { return column.empty() ? std::nullopt : std::optional(column); };
  return {.label = named(settings.label),
          .id = named(settings.id_column),
          .time = named(settings.time_column),
          .labels = labels};
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {kucuk(), shakespeare_cpu(), shakespeare(), gpt2(), series()};
  return all;
}

const Preset& preset_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    names.emplace_back(preset.name);
  }
  const auto nearest = nearest_name(name, names);
  std::string list = names[0];
  for (std::size_t i = 1; i < names.size(); ++i) list += ", " + names[i];
  throw Error(ErrorKind::usage, "preset: no preset is called '" + label_of(name) + "'",
              {.key = "preset", .hint = nearest ? "did you mean " + *nearest + "?" : "choose one of " + list});
}

void check(const Settings& settings, const models::Config& model) {
  require(settings.steps >= 1 && settings.steps <= 0xFFFFFFFFULL, "steps", static_cast<double>(settings.steps),
          "is outside 1 to 4294967295", "give a number of steps within it");
  require(settings.batch >= 1 && settings.batch <= (1U << 24U), "batch", static_cast<double>(settings.batch),
          "is outside 1 to 16777216", "give a number of samples within it");
  check_micro_batch(settings, model);
  require(std::isfinite(settings.learning_rate) && settings.learning_rate > 0, "learning-rate", settings.learning_rate,
          "is not a positive number", "try 0.001");
  require(std::isfinite(settings.final_learning_rate) && settings.final_learning_rate >= 0, "final-learning-rate",
          settings.final_learning_rate, "is negative", "try a tenth of the learning rate");
  require(settings.warmup <= settings.steps, "warmup", static_cast<double>(settings.warmup),
          "is more than the " + std::to_string(settings.steps) + " steps of the run",
          "give at most " + std::to_string(settings.steps));
  require(settings.decay_share >= 0 && settings.decay_share <= 1, "decay-share", settings.decay_share,
          "is outside 0 to 1", "try 0.2");
  require(settings.momentum >= 0 && settings.momentum < 1, "momentum", settings.momentum, "is outside [0, 1)",
          "try 0.9");
  require(settings.beta1 >= 0 && settings.beta1 < 1, "beta1", settings.beta1, "is outside [0, 1)", "try 0.9");
  require(settings.beta2 >= 0 && settings.beta2 < 1, "beta2", settings.beta2, "is outside [0, 1)", "try 0.99");
  require(std::isfinite(settings.epsilon) && settings.epsilon > 0, "epsilon", settings.epsilon,
          "is not a positive number", "try 1e-8");
  require(std::isfinite(settings.weight_decay) && settings.weight_decay >= 0, "weight-decay", settings.weight_decay,
          "is not a number from 0 up", "give 0 for none");
  require(settings.validation_share >= 0 && settings.validation_share < 1, "validation-share",
          settings.validation_share, "is outside [0, 1)", "try 0.1, or 0 for none");
  require(std::isfinite(settings.clip) && settings.clip >= 0, "clip", settings.clip, "is not a number from 0 up",
          "give 0 for none");
}

void check(const Conduct& conduct) {
  require(conduct.keep >= 2, "keep", static_cast<double>(conduct.keep), "is fewer than two checkpoints",
          "keep at least 2, so that a damaged one has a predecessor");
  require(conduct.keep <= 1000000, "keep", static_cast<double>(conduct.keep), "is more than a million checkpoints",
          "keep at most 1000000");
}

}  // namespace dikkat::train
