// A run opened for use: model, coding and where they come from. What generate, eval, info, export and others share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dikkat/data/corpus.h"
#include "dikkat/data/series_coding.h"
#include "dikkat/models/language_model.h"
#include "dikkat/models/series_model.h"
#include "dikkat/text/tokenizer.h"
#include "dikkat/train/checkpoint.h"
#include "dikkat/train/run_folder.h"

namespace dikkat::train {

struct LoadedRun {
  RunFolder folder;
  CheckpointState state;  // of the checkpoint: model and settings are those it was trained with
  std::unique_ptr<text::Tokenizer> tokenizer;
  models::LanguageModel model;  // without gradients
  std::string weights_sha256;
  std::vector<std::string> warnings;  // one line each
};

struct LoadedSeriesRun {
  RunFolder folder;
  CheckpointState state;
  data::SeriesCoding coding;
  models::SeriesModel model;  // without gradients
  std::string weights_sha256;
  std::vector<std::string> warnings;  // one line each
};

// Error{io} when there is no such folder or it holds no checkpoint, Error{malformed} when it is no run or nothing in it
// verifies, Error{incompatible} for another version or parts that do not belong together.
// Error{usage} for a run of the other kind.
[[nodiscard]] LoadedRun load_run(const std::filesystem::path& run, const CheckpointChoice& choice = {});
[[nodiscard]] LoadedSeriesRun load_series_run(const std::filesystem::path& run, const CheckpointChoice& choice = {});
// What the run learned, for those who take both.
[[nodiscard]] models::Task task_of(const std::filesystem::path& run);

// The text a run was trained on; Error{incompatible} when it has changed since.
[[nodiscard]] data::Corpus corpus_of(const LoadedRun& run);
// Another text by the run's tokenizer; "-" is standard input. Error{incompatible} names characters it has no token
// for, unless they are skipped (Corpus::skipped counts them).
[[nodiscard]] data::Corpus corpus_of(const LoadedRun& run, const std::vector<std::filesystem::path>& texts,
                                     text::UnknownPolicy unknown = text::UnknownPolicy::refuse);

}  // namespace dikkat::train
