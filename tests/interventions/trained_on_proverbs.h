// A small model trained, in the test, on the proverbs.
#pragma once

#include <memory>

#include "dikkat/base/parallel.h"
#include "dikkat/data/corpus.h"
#include "dikkat/models/language_model.h"
#include "dikkat/optim/optimizer.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/settings.h"
#include "dikkat/train/stepper.h"

namespace dikkat::testing {

struct TrainedOnProverbs {
  explicit TrainedOnProverbs(std::uint64_t steps) : settings{.seed = 1, .steps = steps, .batch = 16} {
    const data::Texts texts({std::filesystem::path(DIKKAT_SOURCE_DIR) / "data" / "atasozleri.txt"},
                            data::Texts::Cleaning::characters);
    tokenizer = data::character_tokenizer_of(texts);
    corpus = data::tokenized(texts, *tokenizer);
    config.vocabulary = tokenizer->vocabulary();
    model = std::make_unique<models::LanguageModel>(config, DType::f32, nn::ParameterStore::Gradients::kept);
    model->initialise({pool}, settings.seed);
    train_on(*model, settings);
  }

  void train_on(const models::LanguageModel& trained, const train::Settings& how) {
    optim::Optimizer optimizer(trained.parameters(), train::optimizer_settings(how));
    train::WindowSource source(corpus.part(data::Split::train), config.context, how.seed);
    train::LanguageObjective objective(trained, source);
    train::Stepper stepper(objective, optimizer, how, {pool});
    const train::StopRequest never;
    for (std::uint64_t t = 1; t <= how.steps; ++t) stepper.update(t, stepper.measure(t, never));
  }

  Pool pool{2};
  train::Settings settings;
  models::Config config = {.context = 32, .width = 32, .layers = 2, .heads = 4};
  std::unique_ptr<text::Tokenizer> tokenizer;
  data::Corpus corpus;
  std::unique_ptr<models::LanguageModel> model;
};

}  // namespace dikkat::testing
