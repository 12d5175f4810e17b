// One training step of a preset on synthetic ids: `step PRESET [--threads N] [--steps N] [--json]`.
// Shapes: the preset's own, with vocabulary 30 (kucuk), 65, 65, 50,257 and for gpt2 batches of 4 x 256.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/parallel.h"
#include "dikkat/models/language_model.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/stepper.h"

namespace {

using namespace dikkat;

struct Arguments {
  std::string preset;
  unsigned threads = available_threads();
  std::size_t steps = 0;  // 0: chosen for about two seconds
  bool json = false;
};

Arguments parsed(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&] {
      const auto number = i + 1 < argc ? count_from(argv[++i]) : std::nullopt;
      if (!number || *number == 0) throw Error(ErrorKind::usage, std::string(word) + " wants a count of at least 1");
      return *number;
    };
    if (word == "--json") {
      arguments.json = true;
    } else if (word == "--threads") {
      arguments.threads = static_cast<unsigned>(value());
    } else if (word == "--steps") {
      arguments.steps = value();
    } else if (arguments.preset.empty()) {
      arguments.preset = word;
    } else {
      throw Error(ErrorKind::usage, "step: unexpected '" + std::string(word) + "'",
                  {.hint = "step PRESET [--threads N] [--steps N] [--json]"});
    }
  }
  return arguments;
}

std::size_t vocabulary_of(std::string_view preset) {
  if (preset == "kucuk") return 30;
  return preset == "gpt2" ? 50257 : 65;
}

// Ids by a multiplicative sequence: the same at every step.
class SyntheticSource final : public train::BatchSource {
 public:
  SyntheticSource(std::size_t vocabulary, std::size_t context) : vocabulary_(vocabulary), context_(context) {}
  void fill(std::uint64_t /*t*/, std::size_t first, std::size_t count, data::Batch& batch) override {
    if (!batch.inputs.empty()) return;
    std::uint64_t x = 88172645463325252ULL + first;
    for (std::size_t i = 0; i < count * context_; ++i) {
      x ^= x << 13U;
      x ^= x >> 7U;
      x ^= x << 17U;
      batch.inputs.push_back(static_cast<text::Token>(x % vocabulary_));
      batch.targets.push_back(static_cast<std::int32_t>((x >> 32U) % vocabulary_));
    }
    const std::vector<std::size_t> lengths(count, context_);
    batch.rows.lay_out(lengths, context_, first);
  }

 private:
  std::size_t vocabulary_;
  std::size_t context_;
};

int run(const Arguments& arguments) {
  const train::Preset& preset = train::preset_named(arguments.preset);
  models::Config config = preset.model;
  config.vocabulary = vocabulary_of(preset.name);
  if (preset.name == "gpt2") config.context = 256;
  Pool pool(arguments.threads);
  const kernels::Executor executor{pool};
  const models::LanguageModel model(config, DType::f32, nn::ParameterStore::Gradients::kept);
  model.initialise(executor, 1);
  optim::Optimizer optimizer(model.parameters(), train::optimizer_settings(preset.settings));
  SyntheticSource source(config.vocabulary, config.context);
  train::LanguageObjective objective(model, source);
  train::Stepper stepper(objective, optimizer, preset.settings, executor);
  const train::StopRequest never;

  std::vector<double> milliseconds;
  double total = 0;
  const std::size_t warm_up = 3;
  for (std::uint64_t t = 1;; ++t) {
    const auto begin = std::chrono::steady_clock::now();
    const train::Measured measured = stepper.measure(t, never);
    stepper.update(t, measured);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    if (t <= warm_up) continue;
    milliseconds.push_back(elapsed.count());
    total += elapsed.count();
    const std::size_t done = milliseconds.size();
    if (arguments.steps != 0 ? done == arguments.steps : done >= 5 && total > 2000) break;
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const double median = milliseconds[milliseconds.size() / 2];
  const double tokens_per_s = 1e3 * static_cast<double>(preset.settings.batch * config.context) / median;
  if (arguments.json) {
    fmt::print(
        "{{\"preset\":\"{}\",\"threads\":{},\"parameters\":{},\"steps\":{},\"ms_per_step\":{:.5f},"
        "\"ms_per_step_least\":{:.5f},\"tokens_per_s\":{:.1f},\"activation_bytes\":{}}}\n",
        preset.name, arguments.threads, model.parameters().count(), milliseconds.size(), median, milliseconds.front(),
        tokens_per_s, stepper.activation_bytes());
  } else {
    fmt::print(
        "{}: {} parameters, {} threads, {:.4f} ms a step (median of {}, least {:.4f}), {:.0f} tokens/s, "
        "{:.1f} MiB of activations\n",
        preset.name, model.parameters().count(), arguments.threads, median, milliseconds.size(), milliseconds.front(),
        tokens_per_s, static_cast<double>(stepper.activation_bytes()) / (1U << 20U));
  }
  return std::fflush(stdout) == 0 ? 0 : 4;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parsed(argc, argv));
  } catch (const Error& error) {
    std::fprintf(stderr, "step: error: %s\n", error.what());
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "step: error: %s\n", error.what());
    return 1;
  }
}
