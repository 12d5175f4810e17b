#include "program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace dikkat::testing {
namespace {

namespace fs = std::filesystem;

// Sixty-odd lines of words: more than enough for a context of 8 in both parts.
std::string some_text() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "damlaya damlaya göl olur.\nacele işe şeytan karışır.\n";
  return text;
}

void redirect(const fs::path& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
  ::close(file);
}

}  // namespace

void ProgramTest::SetUp() { write("text.txt", some_text()); }

Ran ProgramTest::shell(const std::string& script) const {
  const TemporaryFolder streams;
  const pid_t child = ::fork();
  if (child == 0) {
    redirect(streams / "out", STDOUT_FILENO);
    redirect(streams / "err", STDERR_FILENO);
    ::setenv("D", DIKKAT_PROGRAM_PATH, 1);
    if (::chdir(folder_.path().c_str()) != 0) ::_exit(126);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = content_of(streams / "out"),
          .err = content_of(streams / "err")};
}

void ProgramTest::train_small(const std::string& run) const {
  const Ran ran =
      shell("\"$D\" train text.txt --out " + run +
            " --preset kucuk --context 8 --width 8 --layers 1 --heads 2 --steps 4 --eval-every 2 --save-every 2");
  ASSERT_EQ(ran.code, 0) << ran.err;
}

std::map<std::string, std::string> ProgramTest::snapshot() const {
  std::map<std::string, std::string> all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_.path())) {
    all[entry.path().string()] = entry.is_regular_file() ? content_of(entry.path()) : "a folder or the like";
  }
  return all;
}

void ProgramTest::write(const std::string& name, std::string_view content) const {
  std::ofstream(folder_ / name, std::ios::binary) << content;
}

std::string ProgramTest::read(const std::string& name) const { return content_of(folder_ / name); }

}  // namespace dikkat::testing
