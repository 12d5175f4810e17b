#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/series_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

Json coding_json(const train::LoadedRun& run) {
  return Json::object()
      .set("kind", std::string(run.tokenizer->kind()))
      .set("vocabulary", run.tokenizer->vocabulary())
      .set("fingerprint", run.tokenizer->fingerprint());
}

Json coding_json(const train::LoadedSeriesRun& run) {
  Json labels = Json::array();
  for (const std::string& label : run.coding.labels) labels.push(label);
  Json channels = Json::array();
  for (const std::string& channel : run.coding.channel_names) channels.push(channel);
  return Json::object()
      .set("channels", std::move(channels))
      .set("labels", std::move(labels))
      .set("longest", run.coding.longest)
      .set("fingerprint", run.coding.fingerprint());
}

std::string coding_line(const train::LoadedRun& run) {
  return fmt::format("Tokenizer:    {}, {} tokens\n", run.tokenizer->kind(), run.tokenizer->vocabulary());
}

std::string coding_line(const train::LoadedSeriesRun& run) {
  constexpr std::size_t kShown = 8;
  std::string out = fmt::format("Series:       {} {}, at most {} steps; ", run.coding.channels(),
                                run.coding.channels() == 1 ? "channel" : "channels", run.model.config().context);
  if (run.coding.labels.empty()) return out + "a number comes out\n";
  out += fmt::format("{} classes: ", run.coding.labels.size());
  for (std::size_t c = 0; c < std::min(kShown, run.coding.labels.size()); ++c) {
    out += (c == 0 ? "" : ", ") + text::escaped(run.coding.labels[c]);
  }
  return out + (run.coding.labels.size() > kShown ? ", ...\n" : "\n");
}

template <class Run>
Json as_json(const Run& run, const char* coding, const std::vector<std::uint64_t>& steps) {
  const train::CheckpointState& state = run.state;
  Json checkpoints = Json::array();
  for (const std::uint64_t step : steps) checkpoints.push(step);
  return Json::object()
      .set("run", run.folder.path().string())
      .set("task", text_of(state.model.task))
      .set("step", state.step)
      .set("parameters", run.model.parameters().count())
      .set("weights_sha256", run.weights_sha256)
      .set("checkpoints", checkpoints)
      .set("best_step", state.best_validation_loss_nats ? Json(state.best_step) : Json())
      .set("best_validation_loss_nats",
           state.best_validation_loss_nats ? Json(*state.best_validation_loss_nats) : Json())
      .set("data_fingerprint", state.data_fingerprint)
      .set(coding, coding_json(run))
      .set("configuration", Json::object()
                                .set("model", to_json(run.state.model))
                                .set("settings", to_json(run.state.settings))
                                .set("conduct", to_json(run.folder.record().conduct)));
}

template <class Run>
std::string as_text(const Run& run, const std::vector<std::uint64_t>& steps) {
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
  out += fmt::format("              norm {} ({}), activation {}, position {}, {} {}, dropout {}\n", text_of(model.norm),
                     text_of(model.placement), text_of(model.activation), text_of(model.position),
                     model.task == models::Task::next_token ? "output" : "pooling",
                     model.task == models::Task::next_token ? text_of(model.output) : text_of(model.pooling),
                     text_of(model.dropout));
  out += coding_line(run);
  out +=
      fmt::format("Training:     {} {} a step, {} at {}, seed {}\n", run.state.settings.batch,
                  model.task == models::Task::next_token ? "windows" : "series", text_of(run.state.settings.optimizer),
                  text_of(run.state.settings.learning_rate), run.state.settings.seed);
  return out + "Weights:      sha256 " + run.weights_sha256 + "\n";
}

template <class Run>
int show(const Run& run, const char* coding, const Arguments& arguments, Output& output) {
  const std::vector<std::uint64_t> steps = run.folder.checkpoints().steps();
  output.write(arguments.json() ? text_of(as_json(run, coding, steps)) + "\n" : as_text(run, steps));
  return 0;
}

int run_info(const Arguments& arguments, Output& output) {
  if (train::task_of(arguments.operands().front()) == models::Task::next_token) {
    return show(open_run(arguments), "tokenizer", arguments, output);
  }
  return show(open_series_run(arguments), "series", arguments, output);
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
