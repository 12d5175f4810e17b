// What somebody watching a training sees: one updating line on a terminal (or, on one that knows no escape sequences, a
// plain line every few seconds), samples, warnings; and what is kept for the summary at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dikkat/cli/console.h"
#include "dikkat/cli/loss_curve.h"
#include "dikkat/train/trainer.h"

namespace dikkat::cli {

// Tokens a second over the last second or so: what is older counts less and less.
class SmoothedRate {
 public:
  void add(double tokens, double seconds);
  [[nodiscard]] double per_second() const { return seconds_ > 0 ? tokens_ / seconds_ : 0; }

 private:
  double tokens_ = 0;
  double seconds_ = 0;
};

class TrainingView : public train::Observer {
 public:
  // Where samples go: to standard output for people, to standard error when that belongs to a JSON object.
  enum class Samples : std::uint8_t { output, error };
  TrainingView(std::uint64_t steps, Samples samples, Output& output, const kernels::Executor& executor);

  // What the run will need, a line on a terminal.
  void on_start(const train::StartReport& report) override;
  void on_step(const train::StepReport& report) override;
  void on_evaluation(const train::EvaluationReport& report) override;
  void on_sample(std::uint64_t step, std::string_view text) override;
  void on_warning(std::string_view text) override;
  // Takes the progress line away, so that what follows begins on a clean line.
  void finish();

  [[nodiscard]] const LossCurve& curve() const { return curve_; }
  [[nodiscard]] double seconds() const;
  // Of the last evaluation, for classes.
  [[nodiscard]] std::optional<double> accuracy() const { return accuracy_; }
  [[nodiscard]] std::uint64_t steps_seen() const { return curve_.training.size(); }

 private:
  using Clock = std::chrono::steady_clock;

  void show(const train::StepReport& report);

  std::uint64_t steps_;
  Samples samples_;
  Output& output_;
  kernels::Executor executor_;
  // How progress is shown: not at all where nobody watches.
  enum class Progress : std::uint8_t { none, plain_lines, one_line };
  [[nodiscard]] static Progress progress_on(Stream stream);
  Progress progress_ = progress_on(Stream::error);
  SmoothedRate rate_;
  double tokens_a_step_ = 0;
  bool line_shown_ = false;
  Clock::time_point began_ = Clock::now();
  Clock::time_point shown_ = Clock::now();
  std::optional<double> validation_loss_;
  std::optional<double> accuracy_;
  LossCurve curve_;
};

// "[#####.....] step 10/20  loss 2.1000  val 2.0000  12.3k tok/s  4.0 s left", less than `width` columns. Which
// fields there are, and how long the bar is, hangs on `width` and `steps` alone, so that the line stands still: where
// there is no room the bar goes first, then the rate, then the validation loss, at last the words. Step, loss and time
// left remain.
[[nodiscard]] std::string progress_line(const train::StepReport& report, std::uint64_t steps,
                                        std::optional<double> validation_loss, double seconds_left, std::size_t width);

}  // namespace dikkat::cli
