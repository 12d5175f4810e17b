// Runs the built program as its users do: arguments in, exit code, output and errors out; signals on the way.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dikkat/base/testing.h"

namespace dikkat::testing {

struct Finished {
  int code = 0;  // exit code, or 128 + signal
  std::string out;
  std::string err;
};

// The program while it runs. Output goes through files, so that nothing can block.
class Running {
 public:
  explicit Running(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {DIKKAT_PROGRAM_PATH};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_addopen(&actions, 1, (folder_ / "out").c_str(), 0101, 0600);  // O_WRONLY | O_CREAT
    posix_spawn_file_actions_addopen(&actions, 2, (folder_ / "err").c_str(), 0101, 0600);
    const int failed = posix_spawn(&process_, DIKKAT_PROGRAM_PATH, &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("cannot start " DIKKAT_PROGRAM_PATH);
  }
  ~Running() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void send(int signal) const { kill(process_, signal); }
  Finished wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, content_of(folder_ / "out"), content_of(folder_ / "err")};
  }

 private:
  TemporaryFolder folder_;
  pid_t process_ = 0;
};

inline Finished run(const std::vector<std::string>& arguments) { return Running(arguments).wait(); }

}  // namespace dikkat::testing
