#include "dikkat/cli/training_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/cli/training_plan.h"
#include "dikkat/cli/words.h"

namespace dikkat::cli {
namespace {

constexpr auto kRefresh = std::chrono::milliseconds(100);
constexpr auto kPlainLineEvery = std::chrono::seconds(5);
constexpr std::size_t kShortestBar = 4;
constexpr std::size_t kLongestBar = 24;

// What the fields take at most, the two blanks before them included; losses below 100.
constexpr std::size_t kValidation = std::string_view("  val 10.0000").size();
constexpr std::size_t kRate = std::string_view("  999.9k tok/s").size();
constexpr std::size_t kLossAndTime = std::string_view("  loss 10.0000  59:59 min left").size();
constexpr std::size_t kBarAround = std::string_view("[] ").size();

// What there is room for.
struct Layout {
  std::size_t bar = 0;  // its length; 0: none
  bool rate = false;
  bool validation = false;
  bool words = false;
};

Layout layout_for(std::size_t width, std::size_t step_width) {
  Layout layout;
  std::size_t used = step_width + kLossAndTime + 1;  // a full last column would wrap
  layout.words = used <= width;
  const auto take = [&](std::size_t more) {
    const bool fits = used + more <= width;
    if (fits) used += more;
    return fits;
  };
  layout.validation = take(kValidation);
  layout.rate = layout.validation && take(kRate);
  if (layout.rate && take(kBarAround + kShortestBar)) layout.bar = std::min(kLongestBar, kShortestBar + width - used);
  return layout;
}

std::string bar_of(std::uint64_t done, std::uint64_t steps, std::size_t length) {
  const auto filled = static_cast<std::size_t>(done * length / steps);
  return "[" + std::string(filled, '#') + std::string(length - filled, '.') + "] ";
}

}  // namespace

std::string progress_line(const train::StepReport& report, std::uint64_t steps, std::optional<double> validation_loss,
                          double seconds_left, std::size_t width) {
  const std::uint64_t done = std::min(report.step, steps);
  const std::string last = std::to_string(steps);
  const std::string step = fmt::format("step {:>{}}/{}", report.step, last.size(), last);
  const Layout layout = layout_for(width, step.size());
  std::string line = layout.bar > 0 ? bar_of(done, steps, layout.bar) : "";
  line += layout.words ? step : fmt::format("{}/{}", report.step, last);
  line += (layout.words ? "  loss " : "  ") + loss_text(report.loss_nats);
  if (layout.validation && validation_loss) line += "  val " + loss_text(*validation_loss);
  if (layout.rate) line += "  " + rate_text(report.tokens_per_s) + " tok/s";
  if (done < steps) line += "  " + duration_text(seconds_left) + (layout.words ? " left" : "");
  return line.substr(0, width > 1 ? width - 1 : 0);
}

void SmoothedRate::add(double tokens, double seconds) {
  const double remembered = std::exp(-seconds);  // after a second, a third
  tokens_ = tokens_ * remembered + tokens;
  seconds_ = seconds_ * remembered + seconds;
}

TrainingView::Progress TrainingView::progress_on(Stream stream) {
  if (!is_terminal(stream)) return Progress::none;
  return has_escapes(stream) ? Progress::one_line : Progress::plain_lines;
}

TrainingView::TrainingView(std::uint64_t steps, Samples samples, Output& output, const kernels::Executor& executor)
    : steps_(steps), samples_(samples), output_(output), executor_(executor) {}

double TrainingView::seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

void TrainingView::on_start(const train::StartReport& report) {
  const std::uint64_t left = steps_ - std::min(steps_, report.step);
  curve_.training.reserve(left);  // so that no step allocates
  tokens_a_step_ = static_cast<double>(report.spec.settings.batch) * static_cast<double>(report.spec.model.context);
  if (progress_ == Progress::none) return;
  write_error(fmt::format("{} parameters, {} {}; needs about {} of memory and {}\n",
                          grouped(report.estimate.parameters), grouped(report.tokens),
                          report.spec.model.task == models::Task::next_token ? "tokens of text" : "steps of series",
                          size_text(report.estimate.memory_bytes),
                          about_text(expected_seconds(report.spec, report.estimate, left, executor_))));
  began_ = Clock::now();
}

void TrainingView::on_step(const train::StepReport& report) {
  if (curve_.training.empty()) curve_.first_step = report.step;
  curve_.training.push_back(report.loss_nats);
  if (progress_ == Progress::none) return;
  rate_.add(tokens_a_step_, tokens_a_step_ / report.tokens_per_s);
  const auto now = Clock::now();
  const bool is_due = progress_ == Progress::one_line ? now - shown_ >= kRefresh : now - shown_ >= kPlainLineEvery;
  if (!is_due && report.step < steps_) return;
  shown_ = now;
  show(report);
}

void TrainingView::show(const train::StepReport& report) {
  const double seconds_a_step = seconds() / static_cast<double>(steps_seen());
  const double left = report.step < steps_ ? seconds_a_step * static_cast<double>(steps_ - report.step) : 0;
  train::StepReport smoothed = report;
  smoothed.tokens_per_s = rate_.per_second();
  const std::string line = progress_line(smoothed, steps_, validation_loss_, left, columns(Stream::error));
  if (progress_ == Progress::plain_lines) return write_error(line + "\n");
  write_error("\r" + line + "\x1b[K");
  line_shown_ = true;
}

void TrainingView::on_evaluation(const train::EvaluationReport& report) {
  validation_loss_ = report.result.loss_nats;
  accuracy_ = report.result.accuracy;
  curve_.validation.emplace_back(report.step, report.result.loss_nats);
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
