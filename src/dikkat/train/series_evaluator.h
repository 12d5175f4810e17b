// What a series model says of series, and how good that is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dikkat/tensor/arena.h"
#include "dikkat/train/series_objective.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {

// outputs (n, outputs) of the model for the series `which`, in order, in double; nullopt if a stop was asked for. The
// same for every number of series held at a time.
struct SeriesOutputs {
  std::size_t outputs = 1;
  std::vector<double> values;  // (n, outputs)
  std::vector<double> losses;  // (n); empty where targets are missing
};

class SeriesEvaluator {
 public:
  // model outlives it.
  SeriesEvaluator(const models::SeriesModel& model, const kernels::Executor& executor)
      : model_(model), executor_(executor) {}

  [[nodiscard]] std::optional<SeriesOutputs> outputs(const data::CodedSeries& series,
                                                     std::span<const std::size_t> which, const StopRequest& stop);

 private:
  const models::SeriesModel& model_;
  kernels::Executor executor_;
  Arena arena_;
  SeriesBatch batch_;
};

// Probabilities of the classes (K) for one series' outputs: the logistic function for two classes (second logit),
// softmax for more.
[[nodiscard]] std::vector<double> class_probabilities(const kernels::Executor& executor,
                                                      std::span<const double> outputs);
// The most probable class; the first of equals. Two classes: the second where its logit is above 0.
[[nodiscard]] std::size_t class_of(std::span<const double> outputs);

struct ClassScores {
  double loss_nats = 0;  // mean
  std::size_t series = 0;
  std::size_t right = 0;
  double accuracy = 0;
  double macro_f1 = 0;                              // mean F1 of the classes that are there or are said
  std::vector<std::vector<std::size_t>> confusion;  // [true class][predicted class]
  std::size_t most_frequent = 0;                    // class of these series
  double most_frequent_share = 0;                   // what always saying it would reach
};
// classes (n) of the outputs' series, K in all.
[[nodiscard]] ClassScores class_scores(const SeriesOutputs& outputs, std::span<const std::int32_t> classes,
                                       std::size_t count);

struct NumberScores {
  double loss = 0;  // mean squared error of standardised numbers
  std::size_t series = 0;
  double root_mean_square_error = 0;  // in the labels' unit, as are the next two
  double mean_absolute_error = 0;
  double error_of_the_mean = 0;  // root mean square error of always saying the training part's mean
  double r2 = 0;                 // 1 - squared errors / squared deviations from these series' own mean
};
// numbers (n), standardised as coded; the coding gives the unit back.
[[nodiscard]] NumberScores number_scores(const SeriesOutputs& outputs, std::span<const double> numbers,
                                         const data::SeriesCoding& coding);

}  // namespace dikkat::train
