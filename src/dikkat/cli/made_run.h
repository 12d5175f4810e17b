// A new run out of another: its model, tokenizer, texts and settings, with other weights.
#pragma once

#include <string>

#include "dikkat/models/language_model.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {

// Makes folder `out`: a run at step 0 with the weights of `model` and everything else of `like`, ready to generate, to
// be measured and to be trained on. Returns the weights' sha256. Errors as RunFolder::create.
[[nodiscard]] std::string make_run(const std::string& out, const train::LoadedRun& like,
                                   const models::LanguageModel& model);

}  // namespace dikkat::cli
