#include "dikkat/cli/training_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/cli/training_plan.h"
#include "dikkat/cli/words.h"

namespace dikkat::cli {
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(100);
constexpr std::size_t kShortestBar = 4;
constexpr std::size_t kLongestBar = 24;

}  // namespace

std::string progress_line(const train::StepReport& report, std::uint64_t steps, std::optional<double> validation_loss,
                          double seconds_left, std::size_t width) {
  const std::uint64_t done = std::min(report.step, steps);
  std::string words =
      fmt::format(" {:3}% step {}/{}  loss {}", done * 100 / steps, report.step, steps, loss_text(report.loss_nats));
  if (validation_loss) words += "  val " + loss_text(*validation_loss);
  words += "  " + rate_text(report.tokens_per_s) + " tok/s";
  if (done < steps) words += "  " + duration_text(seconds_left) + " left";

  const std::size_t room = width > words.size() + 3 ? width - words.size() - 3 : 0;
  const std::size_t bar = std::clamp(room, kShortestBar, kLongestBar);
  const auto filled = static_cast<std::size_t>(done * bar / steps);
  const std::string line = "[" + std::string(filled, '#') + std::string(bar - filled, '.') + "]" + words;
  return line.substr(0, width > 1 ? width - 1 : 0);
}

TrainingView::TrainingView(std::uint64_t steps, Samples samples, Output& output, const kernels::Executor& executor)
    : steps_(steps), samples_(samples), output_(output), executor_(executor) {}

double TrainingView::seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

void TrainingView::on_start(const train::StartReport& report) {
  const std::uint64_t left = steps_ - std::min(steps_, report.step);
  curve_.training.reserve(left);  // so that no step allocates
  if (!interactive_) return;
  write_error(fmt::format("{} parameters, {} tokens of text; needs about {} of memory and {}\n",
                          grouped(report.estimate.parameters), grouped(report.tokens),
                          size_text(report.estimate.memory_bytes),
                          duration_text(expected_seconds(report.spec, report.estimate, left, executor_))));
  began_ = Clock::now();
}

void TrainingView::on_step(const train::StepReport& report) {
  if (curve_.training.empty()) curve_.first_step = report.step;
  curve_.training.push_back(report.loss_nats);
  if (!interactive_) return;
  const auto now = Clock::now();
  if (now - shown_ < kRefresh && report.step < steps_) return;
  shown_ = now;
  show(report);
}

void TrainingView::show(const train::StepReport& report) {
  const double seconds_a_step = seconds() / static_cast<double>(steps_seen());
  const double left = report.step < steps_ ? seconds_a_step * static_cast<double>(steps_ - report.step) : 0;
  write_error("\r" + progress_line(report, steps_, validation_loss_, left, columns(Stream::error)) + "\x1b[K");
  line_shown_ = true;
}

void TrainingView::on_evaluation(const train::EvaluationReport& report) {
  validation_loss_ = report.loss_nats;
  curve_.validation.emplace_back(report.step, report.loss_nats);
}

void TrainingView::on_sample(std::uint64_t step, std::string_view text) {
  finish();
  const std::string shown = fmt::format("--- sample after step {}\n{}\n---\n", step, harmless(text));
  if (samples_ == Samples::error) {
    write_error(shown);
  } else {
    output_.write(shown);
    output_.flush();
  }
}

void TrainingView::on_warning(std::string_view text) {
  finish();
  write_error("dikkat: warning: " + harmless(text) + "\n");
}

void TrainingView::finish() {
  if (line_shown_) write_error("\r\x1b[K");
  line_shown_ = false;
}

}  // namespace dikkat::cli
