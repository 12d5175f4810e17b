// dikkat lesson heads and the list of lessons, as people call them.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/data/series.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LessonHeads : public ProgramTest {
 protected:
  static std::string golden(const std::string& name) { return DIKKAT_SOURCE_DIR "/tests/golden/" + name; }
};

// A21
TEST_F(LessonHeads, AsPublishedIsTheDocumentsOutputByteForByte) {
  const Ran ran =
      shell("$D lesson heads --as-published > seen && cmp seen '" + golden("lesson_heads_published.out") + "'");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

// A21: TOHUM, tur and DTOP.
TEST_F(LessonHeads, AsPublishedWithEditedConstantsIsTheEditedProgramsOutput) {
  const std::string file = golden("lesson_heads_more.json");
  const Json more = parse_json(read_small_file(file, 1U << 20U), file);
  for (const JsonAt& one : JsonAt(more, file).items()) {
    const std::string options = " --seed " + std::to_string(one["seed"].count()) + " --epochs " +
                                std::to_string(one["epochs"].count()) + " --width " +
                                std::to_string(one["width"].count());
    EXPECT_EQ(shell("$D lesson heads --as-published" + options).out, one["printed"].string()) << options;
  }
}

TEST_F(LessonHeads, ExplainsInEnglish) {
  const Ran ran = shell("$D lesson heads");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Equal budget"), HasSubstr("0.8972"), HasSubstr("one bit of any")));
  EXPECT_THAT(ran.out, Not(HasSubstr("What you changed")));
  const std::string other = shell("$D lesson heads --seed 5 --epochs 20").out;
  const std::size_t changed = other.find("\n6) What you changed");
  ASSERT_NE(changed, std::string::npos);
  EXPECT_THAT(other.substr(0, changed), Not(HasSubstr("0.8972")));
  EXPECT_THAT(other.substr(changed), HasSubstr("mean accuracy of 4 heads: 0.8972 -> "));
}

TEST_F(LessonHeads, JsonIsOneObjectWithTheRuns) {
  const Ran ran = shell("$D lesson heads --json --epochs 3");
  EXPECT_EQ(ran.code, 0);
  const Json json = parse_json(ran.out, "out");
  EXPECT_EQ(JsonAt(json, "")["runs"].items().size(), 8U);
  EXPECT_EQ(JsonAt(json, "")["epochs"].count(), 3U);
  EXPECT_EQ(JsonAt(json, "")["sequences"].items().size(), 720U);
}

TEST_F(LessonHeads, NoBitDependsOnThreadsOrKernels) {
  const std::string out = shell("$D lesson heads --json --epochs 5 --threads 1").out;
  EXPECT_EQ(shell("$D lesson heads --json --epochs 5 --threads 3").out, out);
  EXPECT_EQ(shell("$D lesson heads --json --epochs 5 --kernels check").out, out);
  EXPECT_EQ(shell("$D lesson heads --json --epochs 5 --kernels reference").out, out);
}

// What comes out is what dikkat train takes.
TEST_F(LessonHeads, ExportWritesTheSeriesWithTheirLabels) {
  EXPECT_EQ(shell("$D lesson heads --epochs 1 --export series.csv").code, 0);
  const data::SeriesTable table = data::read_series(folder_ / "series.csv", {});
  ASSERT_EQ(table.count(), 720U);
  EXPECT_EQ(table.channels, 1U);
  EXPECT_TRUE(std::all_of(table.lengths.begin(), table.lengths.end(), [](std::size_t n) { return n == 12; }));
  EXPECT_EQ(std::count(table.labels.begin(), table.labels.begin() + 200, "rises"), 63);
  EXPECT_EQ(std::count(table.labels.end() - 180, table.labels.end(), "rises"), 61);
  EXPECT_EQ(table.values[1], 0.893);
}

// Its parts are the document's split, so that train and eval ask the lesson's question.
TEST_F(LessonHeads, ExportWritesThePartsBesideIt) {
  EXPECT_EQ(shell("mkdir -p a.b && $D lesson heads --epochs 1 --export a.b/series.csv").code, 0);
  const data::SeriesTable all = data::read_series(folder_ / "a.b/series.csv", {});
  const data::SeriesTable train = data::read_series(folder_ / "a.b/series-train.csv", {});
  const data::SeriesTable held_out = data::read_series(folder_ / "a.b/series-held-out.csv", {});
  ASSERT_EQ(train.count(), 200U);
  ASSERT_EQ(held_out.count(), 180U);
  EXPECT_TRUE(std::equal(train.values.begin(), train.values.end(), all.values.begin()));
  EXPECT_TRUE(std::equal(held_out.values.begin(), held_out.values.end(), all.values.end() - 180 * 12));
  EXPECT_EQ(std::count(held_out.labels.begin(), held_out.labels.end(), "rises"), 61);
  EXPECT_EQ(shell("$D train a.b/series-train.csv --task classify --steps 2 --out r").code, 0);
  EXPECT_THAT(shell("$D eval r a.b/series-held-out.csv").out, HasSubstr("of 180 series"));
}

TEST_F(LessonHeads, ExportOverwritesNoPartEither) {
  write("series-held-out.csv", "mine");
  const Ran ran = shell("$D lesson heads --epochs 1 --export series.csv");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("(series-held-out.csv)"));
  EXPECT_EQ(shell("test -e series.csv").code, 1);
}

TEST_F(LessonHeads, ExportThatCannotBeWrittenSaysSo) {
  const Ran ran = shell("$D lesson heads --epochs 1 --export nowhere/series.csv");
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.err, HasSubstr("nowhere"));
}

TEST_F(LessonHeads, ExportOverwritesNothing) {
  write("series.csv", "mine");
  const Ran ran = shell("$D lesson heads --epochs 1 --export series.csv");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("choose another --export"));
  EXPECT_EQ(read("series.csv"), "mine");
}

TEST_F(LessonHeads, RefusesWithARemedy) {
  const auto refused = [&](const std::string& options, const std::string& word) {
    const Ran ran = shell("$D lesson " + options);
    EXPECT_EQ(ran.code, 2) << options;
    EXPECT_EQ(ran.out, "") << options;
    EXPECT_THAT(ran.err, HasSubstr(word)) << options;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  };
  refused("heads --width 6", "give 4 or 8");
  refused("heads --width 0", "give 4");
  refused("heads --width 4.0", "--width takes a whole number");
  refused("heads --width 100000", "give at most 256");
  refused("heads --epochs 0", "give at least 1");
  refused("heads --epochs -1", "--epochs takes a whole number");
  refused("heads --seed 18446744073709551615", "give at most 9223372036854775807");
  refused("heads --seed x", "--seed takes a whole number");
  refused("heads --export ''", "name the file");
  refused("heads --no-residual", "it belongs to dikkat lesson block");
  refused("block --width 8", "it belongs to dikkat lesson heads");
  refused("heds", "did you mean dikkat lesson heads?");
  refused("--width 8", "none is named");
}

TEST_F(LessonHeads, LessonAloneListsTheLessons) {
  const Ran ran = shell("$D lesson");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("dikkat lesson heads"), HasSubstr("dikkat lesson self-attention"),
                             HasSubstr("dikkat lesson block")));
  const Json json = parse_json(shell("$D lesson --json").out, "out");
  EXPECT_EQ(JsonAt(json, "")["lessons"].items()[0]["name"].string(), "heads");
}

TEST_F(LessonHeads, HelpGroupsTheOptionsByLesson) {
  const std::string help = shell("$D lesson --help").out;
  EXPECT_THAT(help, StartsWith("Usage: dikkat lesson [LESSON] [OPTION]..."));
  const std::size_t heads = help.find("\ndikkat lesson heads:\n");
  ASSERT_NE(heads, std::string::npos);
  const std::size_t width = help.find("\n  --width N", heads);
  ASSERT_NE(width, std::string::npos);
  EXPECT_LT(width, help.find("\n\n", heads));
  EXPECT_NE(help.find("\n  --seed N", help.find("\nSeveral lessons:\n")), std::string::npos);
}

}  // namespace
}  // namespace dikkat::testing
