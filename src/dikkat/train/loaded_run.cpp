#include "dikkat/train/loaded_run.h"

#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/train/model_state.h"

namespace dikkat::train {
namespace {

[[noreturn]] void refuse(const RunFolder& folder, std::string message) {
  throw Error(ErrorKind::incompatible, std::move(message),
              {.file = folder.path().string(), .hint = "the run holds parts of another one; restore it from a copy"});
}

DType dtype_of(NumberKind number) { return number == NumberKind::f64 ? DType::f64 : DType::f32; }

void check_belongs(const RunFolder& folder, const CheckpointState& state, const text::Tokenizer& tokenizer) {
  if (state.tokenizer_fingerprint != folder.record().tokenizer_fingerprint) {
    refuse(folder, "the checkpoint of step " + std::to_string(state.step) + " was trained with another tokenizer");
  }
  if (state.model.vocabulary != tokenizer.vocabulary()) {
    refuse(folder, "the model has " + std::to_string(state.model.vocabulary) + " tokens, the tokenizer " +
                       std::to_string(tokenizer.vocabulary()));
  }
}

}  // namespace

LoadedRun load_run(const std::filesystem::path& run, const CheckpointChoice& choice) {
  RunFolder folder = RunFolder::open(run, Access::read);
  LoadedCheckpoint loaded = folder.checkpoints().load(choice);
  CheckpointState& state = loaded.checkpoint.state;
  auto tokenizer = text::tokenizer_from(folder.tokenizer_json(), (folder.path() / "tokenizer.json").string());
  check_belongs(folder, state, *tokenizer);
  models::LanguageModel model(state.model, dtype_of(state.settings.number), nn::ParameterStore::Gradients::none);
  restore(weights_of(model), loaded.checkpoint.weights, "the weights in " + folder.path().string());
  std::string sha256 = formats::weights_sha256(loaded.checkpoint.weights);
  return {.folder = std::move(folder),
          .state = std::move(state),
          .tokenizer = std::move(tokenizer),
          .model = std::move(model),
          .weights_sha256 = std::move(sha256),
          .warnings = std::move(loaded.warnings)};
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
  const std::vector<std::filesystem::path> texts = run.folder.text_paths();
  try {
    require_unchanged(texts, run.state.text_fingerprint);
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
