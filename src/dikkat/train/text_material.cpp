#include "dikkat/base/error.h"
#include "dikkat/data/corpus.h"
#include "dikkat/generate/session.h"
#include "dikkat/models/language_model.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/material_kinds.h"

namespace dikkat::train {
namespace {

constexpr std::size_t kSampleTokens = 200;

class TextLearner final : public Learner {
 public:
  TextLearner(const RunSpec& spec, const text::Tokenizer& tokenizer, const data::Corpus& corpus,
              const kernels::Executor& executor)
      : tokenizer_(tokenizer),
        validation_(corpus.part(data::Split::validation)),
        executor_(executor),
        model_(spec.model, number_type(spec.settings), nn::ParameterStore::Gradients::kept),
        source_(corpus.part(data::Split::train), spec.model.context, spec.settings.seed),
        objective_(model_, source_),
        evaluator_(model_, executor) {}

  Objective& objective() override { return objective_; }
  bool validates() const override { return true; }
  std::optional<Evaluation> evaluate(const StopRequest& stop) override {
    return evaluator_.evaluate(validation_, stop);
  }
  std::optional<std::string> sample(const StopRequest& stop) override {
    if (model_.config().direction != models::Direction::causal) return std::nullopt;
    const generate::Request request{.prompt = {}, .tokens = kSampleTokens};
    return generate::generate(model_, tokenizer_, executor_, request, [&](std::string_view) { return !stop.asked(); })
        .text;
  }
  std::uint64_t origin_of(std::uint64_t t, std::size_t sample) override { return source_.start_of(t, sample); }

 private:
  const text::Tokenizer& tokenizer_;
  std::span<const text::Token> validation_;
  kernels::Executor executor_;
  models::LanguageModel model_;
  WindowSource source_;
  LanguageObjective objective_;
  Evaluator evaluator_;
};

std::unique_ptr<text::Tokenizer> tokenizer_for(const data::Texts& texts, const RunSpec& spec,
                                               const std::optional<KnownCoding>& known) {
  if (known) return text::tokenizer_from(known->json, known->file);
  return spec.settings.tokenizer == TokenizerKind::character ? data::character_tokenizer_of(texts)
                                                             : text::byte_tokenizer();
}

class Text final : public Material {
 public:
  Text(const std::vector<std::filesystem::path>& paths, const RunSpec& spec, const std::optional<KnownCoding>& known)
      : paths_(paths), texts_(paths, cleaning_for(spec.settings)) {
    require_same_data(known, texts_.fingerprint(), texts_.name(0));
    tokenizer_ = tokenizer_for(texts_, spec, known);
    corpus_ = data::tokenized(texts_, *tokenizer_);
  }

  models::Config completed(models::Config config) const override {
    config.vocabulary = tokenizer_->vocabulary();
    return config;
  }
  std::string coding_json() const override { return tokenizer_->to_json(); }
  std::string coding_fingerprint() const override { return tokenizer_->fingerprint(); }
  std::string fingerprint() const override { return corpus_.fingerprint; }
  std::size_t tokens() const override { return corpus_.tokens.size(); }
  std::string name() const override { return texts_.name(0); }
  std::vector<DataSource> sources() const override {
    std::vector<DataSource> sources;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      sources.push_back(source_of(paths_[i], texts_.raw(i).size(), copy_name(i)));
    }
    return sources;
  }
  std::vector<std::pair<std::string, std::string_view>> copies() const override {
    std::vector<std::pair<std::string, std::string_view>> copies;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (paths_[i] == "-") copies.emplace_back(copy_name(i), texts_.raw(i));
    }
    return copies;
  }
  void check(const models::Config& config) const override {
    data::check_windows(corpus_, config.context, texts_.name(0));
  }
  std::unique_ptr<Learner> learner(const RunSpec& spec, const kernels::Executor& executor) const override {
    return std::make_unique<TextLearner>(spec, *tokenizer_, corpus_, executor);
  }

 private:
  static std::string copy_name(std::size_t index) { return "text-" + std::to_string(index) + ".txt"; }

  std::vector<std::filesystem::path> paths_;
  data::Texts texts_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  data::Corpus corpus_;
};

}  // namespace

std::unique_ptr<Material> read_text(const std::vector<std::filesystem::path>& paths, const RunSpec& spec,
                                    const std::optional<KnownCoding>& known) {
  return std::make_unique<Text>(paths, spec, known);
}

}  // namespace dikkat::train
