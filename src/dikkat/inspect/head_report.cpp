#include "dikkat/inspect/head_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dikkat/inspect/windows.h"

namespace dikkat::inspect {
namespace {

// 1/200 is 5 %/10, whichever way it rounds.
bool at_most(double p, double level) { return p <= level * (1 + 1e-9); }

// Whether the value over all windows lies on the side of the null that the test's windows speak for. Few windows of a
// head that differs much from window to window may say otherwise; then nothing is said.
bool agrees(const HeadTest& test, double value) { return (value - test.null_mean) * test.z >= 0; }

Finding finding_of(const HeadTest& test, double value, std::size_t scores) {
  if (!agrees(test, value)) return Finding::none;
  if (at_most(test.adjusted_p, kHeadLevel / static_cast<double>(scores))) return Finding::found;
  if (at_most(test.adjusted_p, kHeadLevel)) return Finding::alone;
  return at_most(test.raw_p, kHeadLevel) ? Finding::chance : Finding::none;
}

double size_of(HeadScore score, double value, double null_mean, double uniform_spread) {
  switch (score) {
    case HeadScore::centre:
    case HeadScore::spread: return uniform_spread > 0 ? std::abs(value - null_mean) / uniform_spread : 0;
    case HeadScore::entropy: return null_mean > 0 ? (null_mean - value) / null_mean : 0;
    default: return value - null_mean;
  }
}

std::vector<std::string> names_of(const HeadReport& head) {
  std::vector<const ScoreReport*> named;
  for (const ScoreReport& score : head.scores) {
    if (!name_of_head(score.score).empty() && score.is_large() && score.value >= kNamedAttention) {
      named.push_back(&score);
    }
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const ScoreReport* a, const ScoreReport* b) { return a->size > b->size; });
  std::vector<std::string> names;
  for (const ScoreReport* score : named) names.emplace_back(name_of_head(score->score));
  return names;
}

std::vector<BinReport> profile_of(std::size_t head, const HeadTests& tests, std::span<const double> values,
                                  std::span<const double> uniform) {
  std::vector<BinReport> profile;
  std::size_t column = tests.columns().of(HeadScore::distance).first;
  for (const DistanceBin& bin : tests.columns().bins) {
    profile.push_back({.bin = bin,
                       .value = values[column],
                       .uniform = uniform[column],
                       .null_mean = tests.null_mean(head, column),
                       .null_deviation = tests.null_deviation(head, column)});
    ++column;
  }
  return profile;
}

std::optional<stats::Interval> interval_of(const std::vector<double>& windows) {
  if (windows.size() < kLeastWindows) return std::nullopt;
  return stats::t_interval(windows);
}

}  // namespace

std::string_view name_of_head(HeadScore score) {
  switch (score) {
    case HeadScore::self: return "self head";
    case HeadScore::previous: return "previous-token head";
    case HeadScore::first: return "first-token head";
    case HeadScore::induction: return "induction head";
    case HeadScore::same_character: return "same-character head";
    default: return "";
  }
}

bool ScoreReport::is_large() const { return finding == Finding::found && size >= kLargeSize; }

const ScoreReport* HeadReport::of(HeadScore score) const {
  const auto found = std::ranges::find(scores, score, &ScoreReport::score);
  return found == scores.end() ? nullptr : &*found;
}

bool HeadReport::does_something() const {
  return std::ranges::any_of(scores, [](const ScoreReport& s) { return s.finding == Finding::found; });
}

double HeadReport::size() const {
  double largest = 0;
  for (const ScoreReport& score : scores) {
    if (score.finding == Finding::found) largest = std::max(largest, score.size);
  }
  return largest;
}

bool HeadReport::is_called(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }

bool HeadsReport::can_find() const { return at_most(1 / static_cast<double>(draws + 1), level()); }

HeadsReport report_heads(const HeadValues& values, std::size_t null_windows, const HeadTests& tests, std::size_t draws,
                         std::span<const double> uniform) {
  HeadsReport report{.windows = values.windows,
                     .null_windows = std::min(null_windows, values.windows),
                     .draws = draws,
                     .scores = tests.scores(),
                     .columns = tests.columns(),
                     .heads = {}};
  for (std::size_t l = 0; l < values.layers; ++l) {
    for (std::size_t h = 0; h < values.heads; ++h)
      report.heads.push_back({.layer = l, .head = h, .scores = {}, .profile = {}, .names = {}});
  }
  const std::vector<double> means = values.means();
  const double uniform_spread = uniform[tests.columns().of(HeadScore::spread).first];
  const std::vector<double> tested = values.spread(null_windows).means();
  for (std::size_t s = 0; s < kHeadScores; ++s) {
    const auto score = static_cast<HeadScore>(s);
    if (!tests.has(score)) continue;
    const std::vector<HeadTest> found = tests.test(score, tested);
    for (std::size_t i = 0; i < report.heads.size(); ++i) {
      HeadReport& head = report.heads[i];
      const std::size_t column = found[i].column;
      const double value = means[i * values.columns + column];
      head.scores.push_back({.score = score,
                             .column = column,
                             .value = value,
                             .interval = interval_of(values.over_windows(head.layer, head.head, column)),
                             .uniform = uniform[column],
                             .tested = tested[i * values.columns + column],
                             .test = found[i],
                             .size = size_of(score, value, found[i].null_mean, uniform_spread),
                             .finding = finding_of(found[i], value, report.scores)});
    }
  }
  for (std::size_t i = 0; i < report.heads.size(); ++i) {
    report.heads[i].names = names_of(report.heads[i]);
    report.heads[i].profile =
        profile_of(i, tests, std::span(means).subspan(i * values.columns, values.columns), uniform);
  }
  return report;
}

HeadsReport look_at_heads(const models::LanguageModel& model, std::span<const text::Token> tokens, HeadsOptions options,
                          const kernels::Executor& executor) {
  const models::Config& config = model.config();
  const kernels::Mask mask{.direction = config.direction, .window = config.window};
  if (options.windows.length == 0) options.windows.length = config.context;
  options.windows.vocabulary = config.vocabulary;
  const HeadWindows windows = head_windows(tokens, options.windows);
  Passes passes(model, executor);
  const HeadValues values = score_heads(passes, windows);
  options.null.progress = {};
  options.null.stopped = {};
  const HeadNull null =
      *untrained_null(config, model.parameters().dtype(), windows.spread(options.null_windows), options.null, executor);
  const HeadTests tests(null, HeadColumns(windows.length, mask), group_of(config));
  return report_heads(values, options.null_windows, tests, null.draws, uniform_head(windows, mask));
}

}  // namespace dikkat::inspect
