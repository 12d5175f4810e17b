#include "dikkat/train/checkpoint_state.h"

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/base/version.h"
#include "dikkat/train/manifest.h"

namespace dikkat::train {
namespace {

const std::vector<std::string>& keys() {
  static const std::vector<std::string> names{"version",
                                              "program",
                                              "step",
                                              "model",
                                              "settings",
                                              "coding_fingerprint",
                                              "data_fingerprint",
                                              "best_validation_loss_nats",
                                              "best_step",
                                              "evaluations_since_best",
                                              "evaluated_step",
                                              "validation_loss_nats",
                                              "skipped_nonfinite",
                                              "loss_tail"};
  return names;
}

Json finite_list(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) {
    if (std::isfinite(value)) list.push(value);
  }
  return list;
}

}  // namespace

std::string state_text(const CheckpointState& state) {
  Json json = Json::object();
  json.set("version", kCheckpointVersion);
  json.set("program", version().number);
  json.set("step", state.step);
  json.set("model", to_json(state.model));
  json.set("settings", to_json(state.settings));
  json.set("coding_fingerprint", state.coding_fingerprint);
  json.set("data_fingerprint", state.data_fingerprint);
  json.set("best_validation_loss_nats",
           state.best_validation_loss_nats ? Json(*state.best_validation_loss_nats) : Json());
  json.set("best_step", state.best_step);
  json.set("evaluations_since_best", state.evaluations_since_best);
  json.set("evaluated_step", state.evaluated_step);
  json.set("validation_loss_nats", state.validation_loss_nats ? Json(*state.validation_loss_nats) : Json());
  json.set("skipped_nonfinite", state.skipped_nonfinite);
  json.set("loss_tail", finite_list(state.loss_tail));
  return text_of(json, JsonLayout::indented);
}

CheckpointState state_from(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  const JsonAt root(json, file);
  if (root["version"].count() != kCheckpointVersion) {
    throw Error(ErrorKind::incompatible, "state of another format version", {.file = file, .key = "version"});
  }
  root.allow_only(keys());
  static_cast<void>(root["program"].string());
  CheckpointState state;
  state.step = root["step"].count();
  state.model = from_json<models::Config>(root["model"]);
  state.settings = from_json<Settings>(root["settings"]);
  state.coding_fingerprint = root["coding_fingerprint"].string();
  state.data_fingerprint = root["data_fingerprint"].string();
  const JsonAt best = root["best_validation_loss_nats"];
  if (!best.is_null()) state.best_validation_loss_nats = best.real();
  state.best_step = root["best_step"].count();
  state.evaluations_since_best = root["evaluations_since_best"].count();
  state.evaluated_step = root["evaluated_step"].count();
  const JsonAt validation = root["validation_loss_nats"];
  if (!validation.is_null()) state.validation_loss_nats = validation.real();
  state.skipped_nonfinite = root["skipped_nonfinite"].count();
  for (const JsonAt& loss : root["loss_tail"].items()) state.loss_tail.push_back(loss.real());
  return state;
}

}  // namespace dikkat::train
