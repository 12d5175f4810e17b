#include "dikkat/train/series_evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dikkat/kernels/maths.h"
#include "dikkat/stats/summary.h"

namespace dikkat::train {
namespace {

// Rows held at a time: enough to keep the products busy.
constexpr std::size_t kRowsAtATime = 512;

void append(const Tensor& tensor, std::vector<double>& to) {
  with_number(tensor.dtype(), [&]<class T>() {
    for (const T value : tensor.span<T>()) to.push_back(static_cast<double>(value));
  });
}

double exp_of(const kernels::Executor& executor, double x) {
  double y = 0;
  kernels::evaluate(executor, kernels::Function::exponential, &x, &y, 1);
  return y;
}

bool has_targets(const models::SeriesModel& model, const data::CodedSeries& series) {
  if (model.config().task == models::Task::regress) return !series.numbers.empty();
  return !series.classes.empty() &&
         std::none_of(series.classes.begin(), series.classes.end(), [](std::int32_t c) { return c < 0; });
}

}  // namespace

std::optional<SeriesOutputs> SeriesEvaluator::outputs(const data::CodedSeries& series,
                                                      std::span<const std::size_t> which, const StopRequest& stop) {
  SeriesOutputs found{.outputs = model_.config().outputs, .values = {}, .losses = {}};
  const bool targets = has_targets(model_, series);
  std::size_t first = 0;
  while (first < which.size()) {
    if (stop.asked()) return std::nullopt;
    std::size_t count = 0;
    for (std::size_t rows = 0; first + count < which.size() && (count == 0 || rows < kRowsAtATime); ++count) {
      rows += series.length(which[first + count]);
    }
    fill(model_, series, which.subspan(first, count), 0, batch_);
    const ArenaPass pass(arena_);
    Context context{.executor = executor_, .memory = arena_, .rows = &batch_.rows};
    const Variable outputs = model_.forward(context, batch_.values);
    append(outputs.value, found.values);
    if (targets) append(series_losses(context, model_, outputs, batch_, 0.0), found.losses);
    first += count;
  }
  return found;
}

std::vector<double> class_probabilities(const kernels::Executor& executor, std::span<const double> outputs) {
  if (outputs.size() == 1) {
    const double e = exp_of(executor, -std::abs(outputs[0]));
    const double likelier = 1 / (1 + e);
    return outputs[0] > 0 ? std::vector<double>{1 - likelier, likelier} : std::vector<double>{likelier, 1 - likelier};
  }
  const double largest = *std::max_element(outputs.begin(), outputs.end());
  std::vector<double> probabilities;
  double sum = 0;
  for (const double logit : outputs) {
    probabilities.push_back(exp_of(executor, logit - largest));
    sum += probabilities.back();
  }
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

std::size_t class_of(std::span<const double> outputs) {
  if (outputs.size() == 1) return outputs[0] > 0 ? 1 : 0;
  return static_cast<std::size_t>(std::max_element(outputs.begin(), outputs.end()) - outputs.begin());
}

ClassScores class_scores(const SeriesOutputs& outputs, std::span<const std::int32_t> classes, std::size_t count) {
  ClassScores scores;
  scores.series = classes.size();
  scores.loss_nats = stats::mean(outputs.losses);
  scores.confusion.assign(count, std::vector<std::size_t>(count, 0));
  for (std::size_t s = 0; s < classes.size(); ++s) {
    const std::span<const double> values(outputs.values.data() + s * outputs.outputs, outputs.outputs);
    ++scores.confusion[static_cast<std::size_t>(classes[s])][class_of(values)];
  }
  const auto real = [](std::size_t size) { return static_cast<double>(size); };
  std::size_t most = 0;
  double f1 = 0;
  std::size_t there = 0;  // classes that are, or are said
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t right = scores.confusion[c][c];
    std::size_t truly = 0;
    std::size_t said = 0;
    for (std::size_t other = 0; other < count; ++other) {
      truly += scores.confusion[c][other];
      said += scores.confusion[other][c];
    }
    scores.right += right;
    if (truly + said > 0) {
      f1 += 2 * real(right) / real(truly + said);
      ++there;
    }
    if (truly > most) {
      most = truly;
      scores.most_frequent = c;
    }
  }
  scores.accuracy = real(scores.right) / real(scores.series);
  scores.macro_f1 = f1 / real(there);
  scores.most_frequent_share = real(most) / real(scores.series);
  return scores;
}

NumberScores number_scores(const SeriesOutputs& outputs, std::span<const double> numbers,
                           const data::SeriesCoding& coding) {
  NumberScores scores;
  scores.series = numbers.size();
  scores.loss = stats::mean(outputs.losses);
  std::vector<double> squares;
  std::vector<double> sizes;
  std::vector<double> from_mean;   // of the training part, which is 0 in standardised numbers
  std::vector<double> deviations;  // from these series' own mean
  const double own_mean = stats::mean(numbers);
  for (std::size_t s = 0; s < numbers.size(); ++s) {
    const double error = outputs.values[s] - numbers[s];
    squares.push_back(error * error);
    sizes.push_back(std::abs(error));
    from_mean.push_back(numbers[s] * numbers[s]);
    deviations.push_back((numbers[s] - own_mean) * (numbers[s] - own_mean));
  }
  const double unit = coding.target_deviation;
  scores.root_mean_square_error = unit * std::sqrt(stats::mean(squares));
  scores.mean_absolute_error = unit * stats::mean(sizes);
  scores.error_of_the_mean = unit * std::sqrt(stats::mean(from_mean));
  const double spread = stats::mean(deviations);
  scores.r2 = spread > 0 ? 1 - stats::mean(squares) / spread : std::numeric_limits<double>::quiet_NaN();
  return scores;
}

}  // namespace dikkat::train
