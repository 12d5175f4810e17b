#include "dikkat/train/loaded_run.h"

#include <algorithm>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/train/estimate.h"
#include "dikkat/train/model_state.h"

namespace dikkat::train {
namespace {

[[noreturn]] void refuse(const RunFolder& folder, std::string message) {
  throw Error(ErrorKind::incompatible, std::move(message),
              {.file = folder.path().string(), .hint = "the run holds parts of another one; restore it from a copy"});
}

DType dtype_of(NumberKind number) { return number == NumberKind::f64 ? DType::f64 : DType::f32; }

void check_coding(const RunFolder& folder, const CheckpointState& state) {
  if (state.coding_fingerprint == folder.record().coding_fingerprint) return;
  const std::string coding = folder.coding_path().stem().string() == "series" ? "coding of series" : "tokenizer";
  refuse(folder, "the checkpoint of step " + std::to_string(state.step) + " was trained with another " + coding);
}

void check_belongs(const RunFolder& folder, const CheckpointState& state, const text::Tokenizer& tokenizer) {
  check_coding(folder, state);
  if (state.model.vocabulary != tokenizer.vocabulary()) {
    refuse(folder, "the model has " + std::to_string(state.model.vocabulary) + " tokens, the tokenizer " +
                       std::to_string(tokenizer.vocabulary()));
  }
}

void check_belongs(const RunFolder& folder, const CheckpointState& state, const data::SeriesCoding& coding) {
  check_coding(folder, state);
  if (state.model.channels != coding.channels() || state.model.outputs != coding.outputs()) {
    refuse(folder, "the model takes " + std::to_string(state.model.channels) + " channels to " +
                       std::to_string(state.model.outputs) + " outputs, series.json is of " +
                       std::to_string(coding.channels()) + " and " + std::to_string(coding.outputs()));
  }
}

void require_kind(const RunFolder& folder, bool wanted, const char* what, const char* hint) {
  if (wanted) return;
  throw Error(ErrorKind::usage, what, {.file = folder.path().string(), .hint = hint});
}

std::uint64_t numbers_in(const std::vector<NamedTensor>& tensors) {
  std::uint64_t count = 0;
  for (const NamedTensor& tensor : tensors) count += tensor.value.count();
  return count;
}

// Before a model of that size is built.
void check_sizes(const RunFolder& folder, const Checkpoint& checkpoint) {
  const models::Config& model = checkpoint.state.model;
  const std::string named = "the checkpoint of step " + std::to_string(checkpoint.state.step);
  try {
    models::check(model);
  } catch (const Error& error) {
    refuse(folder, named + " has a model that cannot be: " + error.message());
  }
  const std::uint64_t there = numbers_in(checkpoint.weights);
  if (const std::uint64_t needed = models::parameter_count(model); needed != there) {
    refuse(folder, "the model in state.json of " + named + " has " + std::to_string(needed) +
                       " parameters, its weights are " + std::to_string(there));
  }
}

// A context that only state.json knows of: no weight needs to bear it out, but the keys and values of it are to be
// held.
void check_context(const RunFolder& folder, const CheckpointState& state) {
  const models::Config& model = state.model;
  if (model.context == folder.record().model.context) return;
  const auto real = [](std::size_t size) { return static_cast<double>(size); };
  const double bytes =
      16 * real(model.context) * real(model.layers) * real(model.kv_heads_or_default() * model.head_width_or_default());
  constexpr double kMost = 0x1.0p62;
  try {
    require_memory({.memory_bytes = static_cast<std::size_t>(std::min(bytes, kMost))});
  } catch (const Error&) {
    throw Error(
        ErrorKind::limit, "a context of " + std::to_string(model.context) + " needs more memory than there is",
        {.file = folder.path().string(), .key = "context", .hint = "restore the checkpoint's state.json from a copy"});
  }
}

// The shape of a run's model is settled when it is begun; what --override changes shows in its newer checkpoints.
std::vector<std::string> model_warnings(const RunFolder& folder, const CheckpointState& state) {
  std::string list;
  for (const auto& [name, was, is] : differences(state.model, folder.record().model)) {
    list += (list.empty() ? "" : ", ") + name + " (" + was + ", run.json: " + is + ")";
  }
  if (list.empty()) return {};
  return {"the model of step " + std::to_string(state.step) + " is not the one in run.json: " + list};
}

}  // namespace

namespace {

// The newest checkpoint, checked against the run before a model is built.
LoadedCheckpoint load_checked(const RunFolder& folder, const CheckpointChoice& choice) {
  LoadedCheckpoint loaded = folder.checkpoints().load(choice, Moments::left_out);
  check_sizes(folder, loaded.checkpoint);
  check_context(folder, loaded.checkpoint.state);
  for (std::string& warning : model_warnings(folder, loaded.checkpoint.state)) {
    loaded.warnings.push_back(std::move(warning));
  }
  return loaded;
}

template <class Model>
Model model_of(const RunFolder& folder, const Checkpoint& checkpoint) {
  const CheckpointState& state = checkpoint.state;
  Model model(state.model, dtype_of(state.settings.number), nn::ParameterStore::Gradients::none);
  restore(weights_of(model.parameters()), checkpoint.weights, "the weights in " + folder.path().string());
  return model;
}

}  // namespace

LoadedRun load_run(const std::filesystem::path& run, const CheckpointChoice& choice) {
  RunFolder folder = RunFolder::open(run, Access::read);
  require_kind(
      folder, folder.record().model.task == models::Task::next_token,
      "this run learned series; the command is for models of text",
      "this command looks into models of text; dikkat inspect and dikkat order take series too, dikkat eval and "
      "predict measure and use it");
  LoadedCheckpoint loaded = load_checked(folder, choice);
  auto tokenizer = text::tokenizer_from(folder.coding_json(), folder.coding_path().string());
  check_belongs(folder, loaded.checkpoint.state, *tokenizer);
  auto model = model_of<models::LanguageModel>(folder, loaded.checkpoint);
  std::string sha256 = formats::weights_sha256(loaded.checkpoint.weights);
  return {.folder = std::move(folder),
          .state = std::move(loaded.checkpoint.state),
          .tokenizer = std::move(tokenizer),
          .model = std::move(model),
          .weights_sha256 = std::move(sha256),
          .warnings = std::move(loaded.warnings)};
}

LoadedSeriesRun load_series_run(const std::filesystem::path& run, const CheckpointChoice& choice) {
  RunFolder folder = RunFolder::open(run, Access::read);
  require_kind(folder, folder.record().model.task != models::Task::next_token,
               "this run learned a text; the command is for models of series",
               "name a run trained with --task classify");
  LoadedCheckpoint loaded = load_checked(folder, choice);
  data::SeriesCoding coding = data::series_coding_from(folder.coding_json(), folder.coding_path().string());
  check_belongs(folder, loaded.checkpoint.state, coding);
  auto model = model_of<models::SeriesModel>(folder, loaded.checkpoint);
  std::string sha256 = formats::weights_sha256(loaded.checkpoint.weights);
  return {.folder = std::move(folder),
          .state = std::move(loaded.checkpoint.state),
          .coding = std::move(coding),
          .model = std::move(model),
          .weights_sha256 = std::move(sha256),
          .warnings = std::move(loaded.warnings)};
}

models::Task task_of(const std::filesystem::path& run) {
  return RunFolder::open(run, Access::read).record().model.task;
}

namespace {

// Before anything else is made of them: a text that has changed may have no tokens at all.
void require_unchanged(const std::vector<std::filesystem::path>& texts, const std::string& fingerprint) {
  if (data::Texts(texts, data::Texts::Cleaning::none).fingerprint() == fingerprint) return;
  throw Error(ErrorKind::incompatible, "the text has changed since the run was trained on it",
              {.file = texts.front().string(), .hint = "restore the text, or name the file to measure on"});
}

}  // namespace

data::Corpus corpus_of(const LoadedRun& run) {
  const std::vector<std::filesystem::path> texts = run.folder.data_paths();
  try {
    require_unchanged(texts, run.state.data_fingerprint);
    return corpus_of(run, texts);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    ErrorPlace place = error.place();
    place.hint = "restore the text, or name the file to measure on";
    throw Error(ErrorKind::io, "the run's text cannot be read: " + error.message(), std::move(place));
  }
}

data::Corpus corpus_of(const LoadedRun& run, const std::vector<std::filesystem::path>& texts,
                       text::UnknownPolicy unknown) {
  return data::tokenized(data::Texts(texts, cleaning_for(run.state.settings)), *run.tokenizer, unknown);
}

}  // namespace dikkat::train
