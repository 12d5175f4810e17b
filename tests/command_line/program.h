// Runs the built program in a folder of its own, as a shell would, and tells what came of it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "dikkat/base/testing.h"

namespace dikkat::testing {

struct Ran {
  int code = -1;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
};

// A folder with the text `text.txt` and, where `script` calls it "$D", the program.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override;

  // sh -c script, in the folder; the streams are what the script itself left of them.
  Ran shell(const std::string& script) const;
  // Trains a small model in folder `run` of the folder: a few steps, a moment's work.
  void train_small(const std::string& run) const;
  // Every file and folder in it with its content.
  [[nodiscard]] std::map<std::string, std::string> snapshot() const;

  void write(const std::string& name, std::string_view content) const;
  [[nodiscard]] std::string read(const std::string& name) const;

  TemporaryFolder folder_;
};

}  // namespace dikkat::testing
