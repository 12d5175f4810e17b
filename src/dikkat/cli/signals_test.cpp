#include "dikkat/cli/signals.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dikkat/base/file.h"
#include "dikkat/base/testing.h"

namespace dikkat::cli {
namespace {

TEST(SignalsDeathTest, AFileCutShorterWhileItIsReadEndsWithALine) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder / "text.txt";
  std::ofstream(path) << std::string(100000, 'a');
  EXPECT_EXIT(
      {
        explain_cut_files();
        const MappedFile file(path);
        std::filesystem::resize_file(path, 0);
        volatile char last = file.text().back();
        static_cast<void>(last);
      },
      ::testing::ExitedWithCode(4), "dikkat: error: a file was cut shorter while it was read");
}

}  // namespace
}  // namespace dikkat::cli
