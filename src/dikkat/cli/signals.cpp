#include "dikkat/cli/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "dikkat/cli/console.h"

namespace dikkat::cli {
namespace {

train::StopRequest stop_request;
std::atomic<const char*> message = "";
std::atomic<bool> begins_a_line = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

// Only what is allowed in a handler: lock-free atomics, write, signal, raise.
extern "C" void on_signal(int number) {
  const int saved_errno = errno;
  int none = 0;
  if (stop_request.signal.compare_exchange_strong(none, number)) {
    const char* text = message.load();
    if (begins_a_line.load()) static_cast<void>(!::write(STDERR_FILENO, "\n", 1));
    static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
  } else {
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
  errno = saved_errno;
}

constexpr char kCutShort[] =
    "dikkat: error: a file was cut shorter while it was read; leave files alone while they are read, then try again\n";

extern "C" void on_bus_error(int number, siginfo_t* information, void*) {
  if (information->si_code != BUS_ADRERR) {
    ::signal(number, SIG_DFL);
    ::raise(number);
    return;
  }
  constexpr int kInputOutput = 4;  // exit_code(ErrorKind::io)
  static_cast<void>(!::write(STDERR_FILENO, kCutShort, sizeof kCutShort - 1));
  ::_exit(kInputOutput);
}

}  // namespace

void explain_cut_files() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

void ignore_write_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

const train::StopRequest& stop_on_signals(const char* what_happens) {
  message = what_happens;
  begins_a_line = is_terminal(Stream::error);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    // nohup stays in force. Not so for SIGINT, which shells ignore on behalf of whatever runs in the background:
    // whoever sends it to this process means it.
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
  return stop_request;
}

int exit_code_of_signal(int signal) { return 128 + (signal == SIGINT ? SIGINT : SIGTERM); }

}  // namespace dikkat::cli
