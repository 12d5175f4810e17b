#include "dikkat/train/check_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "dikkat/base/size_text.h"
#include "dikkat/data/corpus.h"
#include "dikkat/train/check_model.h"
#include "dikkat/train/check_text.h"

namespace dikkat::train {
namespace {

// Shares of the time there is.
constexpr double kForTiming = 0.15;
constexpr double kForMemorising = 0.45;
constexpr double kForGradients = 0.4;

constexpr std::size_t kPilotTokens = 16;
constexpr std::size_t kGradientSamples = 2;
constexpr std::size_t kGradientTokens = 8;
constexpr std::size_t kMemoriseSamples = 4;

Finding memory_finding(const Estimate& estimate) {
  try {
    require_memory(estimate);
  } catch (const Error& error) {
    return finding_of(error, "memory");
  }
  return {.severity = Severity::fine,
          .check = "memory",
          .what = fmt::format("{} parameters, about {} of memory, {} a checkpoint", estimate.parameters,
                              size_text(estimate.memory_bytes), size_text(estimate.checkpoint_bytes))};
}

std::string time_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.2g} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
}

// Tries models of one set of settings on one text.
class TextTrial {
 public:
  TextTrial(const RunSpec& spec, const data::Corpus& corpus, const kernels::Executor& executor, double seconds)
      : spec_(spec), corpus_(corpus), executor_(executor), seconds_(seconds) {}

  Findings all() {
    Findings findings;
    find_speed();
    time_steps(findings);
    findings.push_back(memorise());
    findings.push_back(gradients());
    return findings;
  }

 private:
  using Gradients = nn::ParameterStore::Gradients;

  // The first training windows, cut to `length`.
  [[nodiscard]] data::Batch batch_of(std::size_t samples, std::size_t length) const {
    data::Batch batch;
    data::training_batch(corpus_.part(data::Split::train), length, random::stream(spec_.settings.seed, "sampler"), 1, 0,
                         samples, batch);
    return batch;
  }
  [[nodiscard]] std::unique_ptr<Probe> probe(const models::Config& model, DType dtype, data::Batch batch) const {
    return text_probe(model, dtype, spec_.settings.seed, std::move(batch), executor_);
  }
  // How many samples of the context can be gone through `times` times in `seconds`, by the pilot's speed.
  [[nodiscard]] std::size_t samples_within(double seconds, double times, std::size_t most) const {
    const double fit = seconds / (times * seconds_per_token_ * static_cast<double>(spec_.model.context));
    return std::clamp<std::size_t>(fit < 1e6 ? static_cast<std::size_t>(fit) : most, 1, std::max<std::size_t>(1, most));
  }

  // A step on very few tokens: what it costs beyond them (the update) is counted to them, so this is an upper bound.
  void find_speed() {
    const std::size_t length = std::min(kPilotTokens, spec_.model.context);
    const auto pilot = probe(spec_.model, number_type(spec_.settings), batch_of(1, length));
    seconds_per_token_ =
        std::max(1e-9, seconds_of_step(*pilot, spec_.settings, executor_, 0.02) / static_cast<double>(length));
  }

  void time_steps(Findings& findings) {
    const Settings& settings = spec_.settings;
    const std::size_t at_once =
        settings.micro_batch == 0 ? settings.batch : std::min(settings.micro_batch, settings.batch);
    const std::size_t samples = samples_within(kForTiming * seconds_, 2, at_once);
    const auto full = probe(spec_.model, number_type(settings), batch_of(samples, spec_.model.context));
    const double expected = std::log(static_cast<double>(spec_.model.vocabulary));
    findings.push_back(check_first_loss(full->loss(Gradients::none), expected));
    const double step = seconds_of_step(*full, settings, executor_, kForTiming * seconds_) *
                        static_cast<double>(settings.batch) / static_cast<double>(samples);
    findings.push_back(time_finding(step));
  }

  [[nodiscard]] Finding time_finding(double step) const {
    const double steps = static_cast<double>(spec_.settings.steps) * step;
    const auto targets = static_cast<double>(corpus_.part(data::Split::validation).size());
    const double in_step = static_cast<double>(spec_.settings.batch) * static_cast<double>(spec_.model.context);
    // forward alone is a third of a step
    const double evaluation = targets / in_step * step / 3;
    const std::uint64_t every = spec_.conduct.eval_every;
    const double evaluations =
        every == 0 ? 0 : std::floor(static_cast<double>(spec_.settings.steps / every)) * evaluation;
    return {.severity = Severity::fine,
            .check = "time",
            .what = fmt::format("about {} for {} steps of {:.3g} ms, and {} for evaluations", time_text(steps),
                                spec_.settings.steps, 1000 * step, time_text(evaluations))};
  }

  [[nodiscard]] Finding memorise() const {
    models::Config model = spec_.model;
    model.dropout = model.attention_dropout = 0;  // what is dropped is not learnt by heart
    const std::size_t most = std::min(kMemoriseSamples, spec_.settings.batch);
    const std::size_t samples =
        samples_within(kForMemorising * seconds_, static_cast<double>(kMemoriseSteps) / 2, most);
    const auto one = probe(model, number_type(spec_.settings), batch_of(samples, model.context));
    return check_memorising(*one, spec_.settings, executor_, kForMemorising * seconds_);
  }

  [[nodiscard]] Finding gradients() const {
    const std::size_t length = std::min(kGradientTokens, spec_.model.context);
    const auto small = probe(spec_.model, DType::f64, batch_of(kGradientSamples, length));
    return check_gradients(*small, spec_.settings.seed, kForGradients * seconds_);
  }

  const RunSpec& spec_;
  const data::Corpus& corpus_;
  const kernels::Executor& executor_;
  double seconds_;
  double seconds_per_token_ = 0;
};

Findings bytes_findings(const data::Texts& texts, TokenizerKind tokenizer) {
  Findings findings;
  for (std::size_t i = 0; i < texts.views().size(); ++i) {
    append(findings, check_bytes(texts.raw(i), texts.name(i), tokenizer));
  }
  return findings;
}

// Of texts that cannot be cleaned, for the sake of everything else that is wrong with them. Standard input is gone.
Findings findings_of_unclean(const std::vector<std::filesystem::path>& paths, TokenizerKind tokenizer,
                             const Error& error) {
  const bool again = std::find(paths.begin(), paths.end(), "-") == paths.end();
  if (!again || error.kind() != ErrorKind::malformed) return {finding_of(error, "text")};
  try {
    Findings findings = bytes_findings(data::Texts(paths, data::Texts::Cleaning::none), tokenizer);
    if (first_trouble(findings) != nullptr) return findings;
  } catch (const Error&) {
    // the first error says it
  }
  return {finding_of(error, "text")};
}

// A trouble after which a model cannot be tried. Duplicates only make its result worthless.
bool stops(const Finding& finding) { return finding.severity == Severity::trouble && finding.check != "duplicates"; }

Findings corpus_findings(RunSpec& spec, const data::Texts& texts, const kernels::Executor& executor,
                         const CheckOptions& options) {
  const bool characters = spec.settings.tokenizer == TokenizerKind::character;
  const auto tokenizer = characters ? data::character_tokenizer_of(texts) : text::byte_tokenizer();
  const data::Corpus corpus = data::tokenized(texts, *tokenizer);
  spec.model.vocabulary = tokenizer->vocabulary();
  Findings findings = check_corpus(corpus, *tokenizer, spec.model, spec.settings, texts.name(0));
  findings.push_back(memory_finding(estimate(spec, corpus.tokens.size())));
  if (std::none_of(findings.begin(), findings.end(), stops)) {
    append(findings, TextTrial(spec, corpus, executor, options.seconds).all());
  }
  return findings;
}

}  // namespace

Findings check_text_training(RunSpec spec, const std::vector<std::filesystem::path>& texts,
                             const kernels::Executor& executor, const CheckOptions& options) {
  std::optional<data::Texts> read;
  try {
    read.emplace(texts, cleaning_for(spec.settings));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw;
    return findings_of_unclean(texts, spec.settings.tokenizer, error);
  }
  Findings findings = bytes_findings(*read, spec.settings.tokenizer);
  try {
    append(findings, corpus_findings(spec, *read, executor, options));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw;
    findings.push_back(finding_of(error, "text"));
  }
  return findings;
}

}  // namespace dikkat::train
