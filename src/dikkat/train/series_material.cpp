#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/data/series.h"
#include "dikkat/data/series_coding.h"
#include "dikkat/models/series_model.h"
#include "dikkat/train/material_kinds.h"
#include "dikkat/train/series_evaluator.h"
#include "dikkat/train/series_objective.h"
#include "dikkat/train/series_parts.h"

namespace dikkat::train {
namespace {

class SeriesLearner final : public Learner {
 public:
  SeriesLearner(const RunSpec& spec, const data::SeriesCoding& coding, const data::CodedSeries& series,
                const SeriesParts& parts, const kernels::Executor& executor)
      : coding_(coding),
        series_(series),
        validation_(parts.validation),
        model_(spec.model, number_type(spec.settings), nn::ParameterStore::Gradients::kept),
        objective_(model_, series, parts.training, spec.settings.batch, spec.settings.seed),
        evaluator_(model_, executor) {}

  Objective& objective() override { return objective_; }
  bool validates() const override { return !validation_.empty(); }
  std::optional<Evaluation> evaluate(const StopRequest& stop) override {
    const auto outputs = evaluator_.outputs(series_, validation_, stop);
    if (!outputs) return std::nullopt;
    if (model_.config().task == models::Task::regress) {
      const NumberScores scores = number_scores(*outputs, picked(series_.numbers), coding_);
      return Evaluation{.loss_nats = scores.loss, .targets = scores.series, .accuracy = {}};
    }
    const ClassScores scores = class_scores(*outputs, picked(series_.classes), coding_.labels.size());
    return Evaluation{.loss_nats = scores.loss_nats, .targets = scores.series, .accuracy = scores.accuracy};
  }
  std::uint64_t origin_of(std::uint64_t t, std::size_t sample) override { return objective_.series_of(t, sample); }

 private:
  template <class T>
  std::vector<T> picked(const std::vector<T>& values) const {
    std::vector<T> of_validation;
    for (const std::size_t s : validation_) of_validation.push_back(values[s]);
    return of_validation;
  }

  const data::SeriesCoding& coding_;
  const data::CodedSeries& series_;
  std::vector<std::size_t> validation_;
  models::SeriesModel model_;
  SeriesObjective objective_;
  SeriesEvaluator evaluator_;
};

std::filesystem::path one_table(const std::vector<std::filesystem::path>& paths) {
  if (paths.size() != 1) {
    throw Error(ErrorKind::usage, "series are read from one file, not from " + std::to_string(paths.size()),
                {.key = "FILE", .hint = "put all series into one file"});
  }
  if (paths.front() == "-") {
    throw Error(ErrorKind::usage, "series are read from a file, not from standard input",
                {.key = "FILE", .hint = "save them to a file first"});
  }
  return paths.front();
}

class Series final : public Material {
 public:
  Series(const std::filesystem::path& path, const RunSpec& spec, const std::optional<KnownCoding>& known)
      : path_(path), table_(data::read_series(path, series_options(spec.settings, data::Labels::required))) {
    require_same_data(known, table_.fingerprint, path.string());
    parts_ = series_parts(table_, spec.model.task, spec.settings);
    const auto target =
        spec.model.task == models::Task::regress ? data::SeriesTarget::number : data::SeriesTarget::label;
    coding_ = known ? data::series_coding_from(known->json, known->file)
                    : data::series_coding_of(table_, parts_.training, target, path.string());
    coded_ = data::coded(table_, coding_, path.string());
  }

  models::Config completed(models::Config config) const override {
    config.channels = coding_.channels();
    config.outputs = coding_.outputs();
    if (config.context == 0) config.context = longest();
    if (config.input == models::InputKind::raw) config.width = config.channels;
    return config;
  }
  std::string coding_json() const override { return coding_.to_json(); }
  std::string coding_fingerprint() const override { return coding_.fingerprint(); }
  std::string fingerprint() const override { return table_.fingerprint; }
  std::size_t tokens() const override { return coded_.first_step.back(); }
  std::string name() const override { return path_.string(); }
  std::vector<DataSource> sources() const override { return {source_of(path_, std::filesystem::file_size(path_), {})}; }
  void check(const models::Config& config) const override {
    if (config.context >= longest()) return;
    throw Error(ErrorKind::malformed,
                "the longest series has " + std::to_string(longest()) + " steps, the context is " +
                    std::to_string(config.context),
                {.file = path_.string(),
                 .key = "context",
                 .hint = "give --context " + std::to_string(longest()) + " or more, or --context 0 for just that"});
  }
  std::unique_ptr<Learner> learner(const RunSpec& spec, const kernels::Executor& executor) const override {
    return std::make_unique<SeriesLearner>(spec, coding_, coded_, parts_, executor);
  }

 private:
  [[nodiscard]] std::size_t longest() const { return *std::max_element(table_.lengths.begin(), table_.lengths.end()); }

  std::filesystem::path path_;
  data::SeriesTable table_;
  SeriesParts parts_;
  data::SeriesCoding coding_;
  data::CodedSeries coded_;
};

}  // namespace

std::unique_ptr<Material> read_series_table(const std::vector<std::filesystem::path>& paths, const RunSpec& spec,
                                            const std::optional<KnownCoding>& known) {
  return std::make_unique<Series>(one_table(paths), spec, known);
}

}  // namespace dikkat::train
