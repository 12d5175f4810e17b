#include "dikkat/cli/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/words.h"
#include "dikkat/data/corpus.h"
#include "dikkat/kernels/matmul.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

// Part of a step's time that matrix products take; the rest is attention, norms, activations and the update.
constexpr double kShareOfProducts = 0.6;

// Floating-point operations a second of the product that a block's MLP makes, measured for some 20 ms.
template <class T>
double operations_per_second(const train::RunSpec& spec, const kernels::Executor& executor) {
  using Clock = std::chrono::steady_clock;
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
  std::size_t count = 0;
  const auto began = Clock::now();
  double seconds = 0;
  do {
    multiply();
    ++count;
    seconds = std::chrono::duration<double>(Clock::now() - began).count();
  } while (seconds < 0.02);
  return 2.0 * static_cast<double>(rows * inner * columns) * static_cast<double>(count) / seconds;
}

// The vocabulary and size of the texts, refused where training would refuse them.
void read_texts(TrainingPlan& plan) {
  train::RunSpec& spec = plan.request.spec;
  const bool characters = spec.settings.tokenizer == train::TokenizerKind::character;
  const data::Texts texts(plan.request.texts, train::cleaning_for(spec.settings));
  const auto tokenizer = characters ? data::character_tokenizer_of(texts) : text::byte_tokenizer();
  const data::Corpus corpus = data::tokenized(texts, *tokenizer);
  data::check_windows(corpus, spec.model.context);
  spec.model.vocabulary = tokenizer->vocabulary();
  plan.tokens = corpus.tokens.size();
}

Json as_json(const TrainingPlan& plan) {
  const train::RunSpec& spec = plan.request.spec;
  return Json::object()
      .set("run", plan.request.run.string())
      .set("parameters", plan.parameters)
      .set("tokens", plan.tokens)
      .set("steps", spec.settings.steps)
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

}  // namespace

double expected_seconds(const train::RunSpec& spec, const train::Estimate& estimate, std::uint64_t steps,
                        const kernels::Executor& executor) {
  const double rate = spec.settings.number == train::NumberKind::f64 ? operations_per_second<double>(spec, executor)
                                                                     : operations_per_second<float>(spec, executor);
  return static_cast<double>(steps) * estimate.operations_per_step / (rate * kShareOfProducts);
}

TrainingPlan make_plan(const train::TrainRequest& request, const Execution& execution) {
  TrainingPlan plan{.request = request, .estimate = {}};
  if (!request.resume && std::filesystem::exists(request.run)) {
    throw Error(ErrorKind::usage, "the run exists already",
                {.file = request.run.string(), .hint = "choose another --out, or add --resume to go on with it"});
  }
  if (!request.texts.empty()) read_texts(plan);
  plan.parameters = models::parameter_count(plan.request.spec.model);
  plan.estimate = train::estimate(plan.request.spec, plan.tokens);
  plan.seconds = expected_seconds(plan.request.spec, plan.estimate, plan.request.spec.settings.steps,
                                  execution.executor());
  return plan;
}

std::string plan_text(const TrainingPlan& plan, bool json) {
  if (json) return text_of(as_json(plan)) + "\n";
  const train::RunSpec& spec = plan.request.spec;
  std::string out = "Run:         " + text::escaped(plan.request.run.string()) + " (nothing is written)\n";
  out += "Parameters:  " + grouped(plan.parameters) + "\n";
  if (plan.tokens > 0)
    out += "Text:        " + grouped(plan.tokens) + " tokens, " + grouped(spec.model.vocabulary) + " distinct\n";
  out += "Memory:      about " + size_text(plan.estimate.memory_bytes) + "\n";
  out += "Checkpoint:  " + size_text(plan.estimate.checkpoint_bytes) + ", " + std::to_string(spec.conduct.keep) +
         " are kept and the best\n";
  out += "Steps:       " + grouped(spec.settings.steps) + ", about " + duration_text(plan.seconds) +
         " here, evaluations aside\n";
  out += "Model\n" + settings_lines(spec.model) + "Training\n" + settings_lines(spec.settings);
  return out + "Conduct\n" + settings_lines(spec.conduct);
}

}  // namespace dikkat::cli
