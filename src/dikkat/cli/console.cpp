#include "dikkat/cli/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 16U;

// The errno of a failed write; 0 when everything is written.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is taken: this one, since those below are open by now.
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void Output::write(std::string_view text) {
  pending_ += text;
  if (pending_.size() >= kFlushAt) flush();
}

void Output::line(std::string_view text) {
  write(text);
  write("\n");
}

void Output::flush() {
  const std::string text = std::exchange(pending_, {});
  const int failure = write_all(STDOUT_FILENO, text);
  if (failure == EPIPE) throw OutputClosed{};
  if (failure != 0) {
    throw Error(ErrorKind::io, "cannot write to standard output: " + std::generic_category().message(failure),
                {.hint = failure == ENOSPC ? "free space or send the output elsewhere" : "send the output elsewhere"});
  }
}

void write_error(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

bool is_terminal(Stream stream) { return ::isatty(static_cast<int>(stream)) == 1; }

std::size_t columns(Stream stream) {
  winsize size{};
  if (::ioctl(static_cast<int>(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool has_escapes(Stream stream) {
  const std::string_view terminal = environment("TERM");
  return is_terminal(stream) && !terminal.empty() && terminal != "dumb";
}

bool has_colour(Stream stream) { return has_escapes(stream) && environment("NO_COLOR").empty(); }

std::string harmless(std::string_view text) {
  std::string safe;
  std::size_t from = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != '\n' && text[at] != '\t') continue;
    safe += text::escaped(text.substr(from, at - from));
    if (at < text.size()) safe += text[at];
    from = at + 1;
  }
  return safe;
}

}  // namespace dikkat::cli
