#include "dikkat/train/check_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dikkat/base/size_text.h"
#include "dikkat/data/corpus.h"
#include "dikkat/data/series_coding.h"
#include "dikkat/train/check_series.h"
#include "dikkat/train/check_text.h"
#include "dikkat/train/check_trial.h"
#include "dikkat/train/series_parts.h"

namespace dikkat::train {
namespace {

using Paths = std::vector<std::filesystem::path>;

Finding memory_finding(const RunSpec& spec, std::size_t tokens) {
  const Estimate estimated = estimate(spec, tokens);
  try {
    require_memory(estimated);
  } catch (const Error& error) {
    return finding_of(error, "memory");
  }
  return {.severity = Severity::fine,
          .check = "memory",
          .what = fmt::format("{} parameters, about {} of memory, {} a checkpoint", estimated.parameters,
                              size_text(estimated.memory_bytes), size_text(estimated.checkpoint_bytes))};
}

// A trouble after which a model cannot be tried. Duplicates only make its result worthless.
bool stops(const Finding& finding) { return finding.severity == Severity::trouble && finding.check != "duplicates"; }
bool may_go_on(const Findings& findings) { return std::none_of(findings.begin(), findings.end(), stops); }

Findings bytes_findings(const data::Texts& texts, TokenizerKind tokenizer) {
  Findings findings;
  for (std::size_t i = 0; i < texts.views().size(); ++i) {
    append(findings, check_bytes(texts.raw(i), texts.name(i), tokenizer));
  }
  return findings;
}

// Of texts that cannot be cleaned, for the sake of everything else that is wrong with them. Standard input is gone.
Findings findings_of_unclean(const Paths& paths, TokenizerKind tokenizer, const Error& error) {
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

void check_corpus_and_model(RunSpec spec, const data::Texts& texts, const kernels::Executor& executor,
                            const CheckOptions& options, Findings& findings) {
  const bool characters = spec.settings.tokenizer == TokenizerKind::character;
  const auto tokenizer = characters ? data::character_tokenizer_of(texts) : text::byte_tokenizer();
  const data::Corpus corpus = data::tokenized(texts, *tokenizer);
  spec.model.vocabulary = tokenizer->vocabulary();
  append(findings, check_corpus(corpus, *tokenizer, spec.model, spec.settings, texts.name(0)));
  findings.push_back(memory_finding(spec, corpus.tokens.size()));
  if (!may_go_on(findings)) return;
  if (options.before_trial) options.before_trial(findings);
  const std::span<const text::Token> tokens = corpus.part(data::Split::train);
  append(findings, tried({.spec = spec,
                          .sample_tokens = static_cast<double>(spec.model.context),
                          .validation_tokens = static_cast<double>(corpus.part(data::Split::validation).size()),
                          .seconds = options.seconds,
                          .probe = [&](const ProbeOptions& wanted) { return text_probe(wanted, tokens, executor); }},
                         executor));
}

// A table of series can be learned as a text, too, but that is seldom meant.
void note_tables(const Paths& paths, Findings& findings) {
  for (const std::filesystem::path& path : paths) {
    const std::filesystem::path extension = path.extension();
    if (extension != ".csv" && extension != ".tsv" && extension != ".ts") continue;
    findings.push_back({.severity = Severity::note,
                        .check = "task",
                        .what = "the name is that of a table of series, and it is to be learned as a text",
                        .where = path.string(),
                        .remedy = "say --task classify or --task regress if it is one"});
  }
}

Findings check_texts(const RunSpec& spec, const Paths& paths, const kernels::Executor& executor,
                     const CheckOptions& options) {
  std::optional<data::Texts> texts;
  try {
    texts.emplace(paths, cleaning_for(spec.settings));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw;
    return findings_of_unclean(paths, spec.settings.tokenizer, error);
  }
  Findings findings = bytes_findings(*texts, spec.settings.tokenizer);
  note_tables(paths, findings);
  try {
    check_corpus_and_model(spec, *texts, executor, options, findings);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw;
    findings.push_back(finding_of(error, "text"));
  }
  return findings;
}

// The series as training would code them, and the config with what they settle.
struct PreparedSeries {
  SeriesParts parts;
  data::SeriesCoding coding;
  data::CodedSeries coded;
};

PreparedSeries prepared(RunSpec& spec, const data::SeriesTable& table, SeriesParts parts, data::SeriesTarget target,
                        const std::string& name) {
  PreparedSeries series{.parts = std::move(parts), .coding = {}, .coded = {}};
  series.coding = data::series_coding_of(table, series.parts.training, target, name);
  series.coded = data::coded(table, series.coding, name);
  models::Config& model = spec.model;
  model.channels = series.coding.channels();
  model.outputs = series.coding.outputs();
  if (model.input == models::InputKind::raw) model.width = model.channels;
  if (model.context == 0) model.context = *std::max_element(table.lengths.begin(), table.lengths.end());
  return series;
}

Finding context_finding(const data::SeriesTable& table, std::size_t context, const std::string& name) {
  const std::size_t longest = *std::max_element(table.lengths.begin(), table.lengths.end());
  if (longest > context) {
    return {.severity = Severity::trouble,
            .check = "context",
            .what = fmt::format("the longest series has {} steps, the context is {}", longest, context),
            .where = name,
            .remedy = fmt::format("give --context {} or more, or --context 0 for just that", longest)};
  }
  return {.severity = Severity::fine,
          .check = "context",
          .what = fmt::format("the longest series has {} steps, the context is {}", longest, context)};
}

double mean_length(const data::SeriesTable& table, std::span<const std::size_t> rows) {
  double steps = 0;
  for (const std::size_t row : rows) steps += static_cast<double>(table.lengths[row]);
  return steps / static_cast<double>(std::max<std::size_t>(1, rows.size()));
}

void check_table_and_model(RunSpec spec, const data::SeriesTable& table, const std::string& name,
                           const kernels::Executor& executor, const CheckOptions& options, Findings& findings) {
  const bool numbers = spec.model.task == models::Task::regress;
  const auto target = numbers ? data::SeriesTarget::number : data::SeriesTarget::label;
  SeriesParts parts = series_parts(table, spec.model.task, spec.settings);
  findings = check_series(
      {.table = table, .training = parts.training, .validation = parts.validation, .target = target, .name = name});
  if (!may_go_on(findings)) return;
  const PreparedSeries series = prepared(spec, table, std::move(parts), target, name);
  findings.push_back(context_finding(table, spec.model.context, name));
  findings.push_back(memory_finding(spec, series.coded.first_step.back()));
  if (!may_go_on(findings)) return;
  if (options.before_trial) options.before_trial(findings);
  const std::span<const std::size_t> training = series.parts.training;
  const double validation = static_cast<double>(series.parts.validation.size());
  append(findings,
         tried({.spec = spec,
                .sample_tokens = mean_length(table, training),
                .validation_tokens = validation * mean_length(table, series.parts.validation),
                .seconds = options.seconds,
                .probe =
                    [&](const ProbeOptions& wanted) { return series_probe(wanted, series.coded, training, executor); }},
               executor));
}

Findings check_tables(const RunSpec& spec, const Paths& paths, const kernels::Executor& executor,
                      const CheckOptions& options) {
  if (paths.size() != 1) {
    throw Error(ErrorKind::usage, "series are read from one file, not from " + std::to_string(paths.size()),
                {.key = "FILE", .hint = "put all series into one file"});
  }
  const std::string name = paths.front().string();
  Findings findings;
  try {
    const data::SeriesTable table =
        data::read_series(paths.front(), series_options(spec.settings, data::Labels::required));
    check_table_and_model(spec, table, name, executor, options, findings);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::usage) throw;
    findings.push_back(finding_of(error, "format"));
  }
  return findings;
}

}  // namespace

Findings check_training(const RunSpec& spec, const Paths& files, const kernels::Executor& executor,
                        const CheckOptions& options) {
  const bool text = spec.model.task == models::Task::next_token;
  return text ? check_texts(spec, files, executor, options) : check_tables(spec, files, executor, options);
}

}  // namespace dikkat::train
