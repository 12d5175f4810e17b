#include "dikkat/data/scores.h"

#include <gmock/gmock.h>

#include <fstream>

#include "dikkat/base/testing.h"

namespace dikkat::data {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using ::testing::HasSubstr;

class ScoresTest : public ::testing::Test {
 protected:
  std::vector<ScoredRun> read(std::string_view content) {
    std::ofstream(folder_ / "a.csv", std::ios::binary) << content;
    return read_scores(folder_ / "a.csv");
  }
  TemporaryFolder folder_;
};

TEST_F(ScoresTest, ReadsTwoColumnsWithNamesOrWithout) {
  for (const char* content : {"seed,score\n1,0.5\n2,-3e-1\n", "1,0.5\n2,-0.3\n",
                              "\xEF\xBB\xBFseed;score\r\n1;0.5\r\n2;-0.3", "1\t0.5\n\n2\t-0.3\n"}) {
    const auto runs = read(content);
    ASSERT_EQ(runs.size(), 2U) << content;
    EXPECT_EQ(runs[0].seed, "1");
    EXPECT_EQ(runs[0].score, 0.5);
    EXPECT_EQ(runs[1].seed, "2");
    EXPECT_EQ(runs[1].score, -0.3);
  }
}

TEST_F(ScoresTest, NamesTheRowOfWhatItRefuses) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "no run"},
      {"seed,score\n", "no run"},
      {"1,0.5\n2\n", "row 2"},
      {"1,0.5,7\n", "row 1, column 3"},
      {"0.5\n0.6\n", "comma"},
      {"1,0.5\n1,0.6\n", "stands in row 1 already"},
      {"1,0.5\n2,nan\n", "untrained"},
      {"1,0.5\n2,inf\n", "row 2, column 2"},
      {"1,0.5\n2,high\n", "row 2, column 2"},
      {"1,0.5x\n2,0.6\n", "row 1, column 2"},
      {"1,0.5\n2,-1e151\n", "larger than 1e+150"},
      {"1,0.5\n,0.6\n", "no seed"},
      {"1,0.5\n2,1e999\n", "row 2, column 2"},
  };
  for (const auto& [content, words] : cases) {
    const Error error = error_of([&] { (void)read(content); });
    EXPECT_EQ(error.kind(), ErrorKind::malformed) << content;
    EXPECT_THAT(error.what(), HasSubstr(words)) << content;
    EXPECT_THAT(error.what(), HasSubstr("a.csv")) << content;
  }
  EXPECT_EQ(error_of([&] { (void)read_scores(folder_ / "missing.csv"); }).kind(), ErrorKind::io);
}

}  // namespace
}  // namespace dikkat::data
