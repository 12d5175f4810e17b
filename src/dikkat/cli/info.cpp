#include <fmt/format.h>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

Json as_json(const train::LoadedRun& run, const std::vector<std::uint64_t>& steps) {
  const train::CheckpointState& state = run.state;
  Json checkpoints = Json::array();
  for (const std::uint64_t step : steps) checkpoints.push(step);
  return Json::object()
      .set("run", run.folder.path().string())
      .set("step", state.step)
      .set("parameters", run.model.parameters().count())
      .set("weights_sha256", run.weights_sha256)
      .set("checkpoints", checkpoints)
      .set("best_step", state.best_validation_loss_nats ? Json(state.best_step) : Json())
      .set("best_validation_loss_nats",
           state.best_validation_loss_nats ? Json(*state.best_validation_loss_nats) : Json())
      .set("text_fingerprint", state.text_fingerprint)
      .set("tokenizer", Json::object()
                            .set("kind", std::string(run.tokenizer->kind()))
                            .set("vocabulary", run.tokenizer->vocabulary())
                            .set("fingerprint", run.tokenizer->fingerprint()))
      .set("configuration", Json::object()
                                .set("model", to_json(run.state.model))
                                .set("settings", to_json(run.state.settings))
                                .set("conduct", to_json(run.folder.record().conduct)));
}

std::string as_text(const train::LoadedRun& run, const std::vector<std::uint64_t>& steps) {
  const train::CheckpointState& state = run.state;
  const models::Config& model = run.state.model;
  std::string list;
  for (const std::uint64_t step : steps) list += (list.empty() ? "" : ", ") + std::to_string(step);
  std::string out = fmt::format("Run:          {}\n", text::escaped(run.folder.path().string()));
  out += fmt::format("Step:         {} of {} (checkpoints: {})\n", state.step, run.state.settings.steps, list);
  if (state.best_validation_loss_nats) {
    out += fmt::format("Best:         validation loss {} at step {}\n", loss_text(*state.best_validation_loss_nats),
                       state.best_step);
  }
  out += fmt::format("Model:        {} parameters: {} layers, {} heads, width {}, context {}\n",
                     grouped(run.model.parameters().count()), model.layers, model.heads, model.width, model.context);
  out += fmt::format("              norm {} ({}), activation {}, position {}, output {}, dropout {}\n",
                     text_of(model.norm), text_of(model.placement), text_of(model.activation), text_of(model.position),
                     text_of(model.output), text_of(model.dropout));
  out += fmt::format("Tokenizer:    {}, {} tokens\n", run.tokenizer->kind(), run.tokenizer->vocabulary());
  out += fmt::format("Training:     {} windows a step, {} at {}, seed {}\n", run.state.settings.batch,
                     text_of(run.state.settings.optimizer), text_of(run.state.settings.learning_rate),
                     run.state.settings.seed);
  return out + "Weights:      sha256 " + run.weights_sha256 + "\n";
}

int run_info(const Arguments& arguments, Output& output) {
  const train::LoadedRun run = open_run(arguments);
  const std::vector<std::uint64_t> steps = run.folder.checkpoints().steps();
  output.write(arguments.json() ? text_of(as_json(run, steps)) + "\n" : as_text(run, steps));
  return 0;
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "say what stands in a run",
          .description =
              "Shows a run's step, model, settings and the hash of its weights: two runs with the same hash hold the "
              "same weights to the bit.",
          .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
          .groups = {{"What to show", {checkpoint_option()}}},
          .examples = {{"dikkat info runs/first", "what it is"},
                       {"dikkat info runs/first --json", "the same with every setting, for a script"}},
          .run = run_info};
}

}  // namespace dikkat::cli
