#include "dikkat/train/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/json.h"

namespace dikkat::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const std::string& file, int code) {
  throw Error(ErrorKind::io, std::string(what) + ": " + std::generic_category().message(code), {.file = file});
}

// The step of a whole line; nullopt for anything else.
std::optional<std::uint64_t> step_of(std::string_view line) {
  try {
    const Json json = parse_json(line, kLogName);
    return JsonAt(json, kLogName)["step"].count();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

RunLog::RunLog(const fs::path& run, models::Task task) : task_(task), file_((run / kLogName).string()) {
  constexpr mode_t kMode = 0666;  // narrowed by the umask
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kMode);
  if (descriptor_ < 0) fail("cannot open the log", file_, errno);
}

RunLog::~RunLog() { ::close(descriptor_); }

void RunLog::put(std::string_view text) {
  // Lines have a fixed set of members; a longer text (no hash is) would be cut rather than overrun the line.
  const std::size_t fits = std::min(text.size(), line_.size() - used_);
  std::copy_n(text.data(), fits, line_.data() + used_);
  used_ += fits;
}

void RunLog::put(std::uint64_t number) {
  used_ = static_cast<std::size_t>(std::to_chars(line_.data() + used_, line_.data() + line_.size(), number).ptr -
                                   line_.data());
}

void RunLog::put(double number) {
  if (std::isnan(number)) return put("\"nan\"");
  if (std::isinf(number)) return put(number > 0 ? "\"inf\"" : "\"-inf\"");
  used_ = static_cast<std::size_t>(std::to_chars(line_.data() + used_, line_.data() + line_.size(), number).ptr -
                                   line_.data());
}

void RunLog::put_rate(double number) {
  constexpr double kMost = 1e15;  // beyond it, digits after the point mean nothing
  if (!(std::abs(number) < kMost)) return put(number);
  used_ = static_cast<std::size_t>(
      std::to_chars(line_.data() + used_, line_.data() + line_.size(), number, std::chars_format::fixed, 1).ptr -
      line_.data());
}

void RunLog::put_loss(double loss) {
  put(task_ == models::Task::regress ? ",\"squared_error\":" : ",\"loss_nats\":");
  put(loss);
}

void RunLog::step(const StepReport& report, StepFate fate) {
  put("{\"step\":");
  put(report.step);
  put_loss(report.loss_nats);
  put(",\"gradient_norm\":");
  put(report.gradient_norm);
  put(",\"learning_rate\":");
  put(report.learning_rate);
  put(",\"tokens_per_s\":");
  put_rate(report.tokens_per_s);
  if (!report.weights_sha256.empty()) {
    put(",\"weights_sha256\":\"");
    put(report.weights_sha256);
    put("\"");
  }
  if (fate == StepFate::skipped) put(",\"skipped\":true");
  put("}\n");
  write_line();
}

void RunLog::evaluation(const EvaluationReport& report) {
  put("{\"event\":\"eval\",\"step\":");
  put(report.step);
  put_loss(report.result.loss_nats);
  put(task_ == models::Task::next_token ? ",\"tokens\":" : ",\"series\":");
  put(std::uint64_t{report.result.targets});
  if (report.result.accuracy) {
    put(",\"accuracy\":");
    put(*report.result.accuracy);
  }
  put(report.best ? ",\"best\":true}\n" : ",\"best\":false}\n");
  write_line();
}

void RunLog::write_line() {
  const std::size_t wanted = used_;
  used_ = 0;
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  ssize_t put = -1;
  do {
    put = ::write(descriptor_, line_.data(), wanted);
  } while (put < 0 && errno == EINTR);
  if (put == static_cast<ssize_t>(wanted)) return;
  const int code = put < 0 ? errno : ENOSPC;  // a short write to a file: the disk is full
  // Best effort: a torn line that stays is cut when the run is resumed.
  if (put > 0 && end >= 0 && ::ftruncate(descriptor_, end) != 0) fail("cannot take back a torn line", file_, errno);
  fail("cannot write to the log", file_, code);
}

void RunLog::sync() {
  if (::fsync(descriptor_) != 0) fail("cannot bring the log to the disk", file_, errno);
}

std::size_t cut_log_to(const fs::path& run, std::uint64_t step) {
  const fs::path path = run / kLogName;
  if (!fs::exists(path)) return 0;
  const MappedFile mapped(path);
  std::string_view rest = mapped.text();
  std::string kept;
  std::size_t taken = 0;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    const auto line_step = end == std::string_view::npos ? std::nullopt : step_of(line);
    if (line_step && *line_step <= step) {
      kept += line;
      kept += '\n';
    } else {
      ++taken;
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (taken > 0) replace_file(path, kept);
  return taken;
}

}  // namespace dikkat::train
