#include "dikkat/cli/config_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "dikkat/base/testing.h"

namespace dikkat::cli {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  const Error error = testing::error_of([&] { static_cast<void>(parse_config(text, "mine.toml")); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().file, "mine.toml");
  EXPECT_FALSE(error.place().key.empty()) << "line and column";
  return error.what();
}

TEST(ConfigFile, ReadsValuesInTheFilesOrderWithTheirPlaces) {
  const auto entries =
      parse_config("steps = 30\n# a comment\n  beta1 = 0.5\nnorm = \"rms\"\nnorm-bias = true\n", "mine.toml");
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].key, "steps");
  EXPECT_EQ(std::get<std::int64_t>(entries[0].value), 30);
  EXPECT_EQ(entries[0].where, "line 1, column 1");
  EXPECT_EQ(std::get<double>(entries[1].value), 0.5);
  EXPECT_EQ(entries[1].where, "line 3, column 3");
  EXPECT_EQ(std::get<std::string>(entries[2].value), "rms");
  EXPECT_EQ(std::get<bool>(entries[3].value), true);
}

TEST(ConfigFile, TakesWindowsLineEndsAndAByteOrderMark) {
  const auto entries = parse_config("\xEF\xBB\xBFsteps = 30\r\nbatch = 2\r\n", "mine.toml");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].key, "steps");
  EXPECT_EQ(entries[1].where, "line 2, column 1");
}

TEST(ConfigFile, AnEmptyFileSetsNothing) { EXPECT_TRUE(parse_config("", "mine.toml").empty()); }

TEST(ConfigFile, RefusesWhatIsNotTomlWithLineAndColumn) {
  EXPECT_THAT(refusal("steps = 30\nsteps = 40\n"), HasSubstr("(mine.toml: line 2, column "));
  EXPECT_THAT(refusal("steps 30\n"), HasSubstr("(mine.toml: line 1, column "));
  EXPECT_THAT(refusal("steps = 010\n"), HasSubstr("(mine.toml: line 1, column "));
  EXPECT_THAT(refusal(std::string_view("steps = \0 3\n", 12)), HasSubstr("(mine.toml: line 1, column "));
  EXPECT_THAT(refusal("norm = \"\xFF\"\n"), HasSubstr("(mine.toml: line 1, column "));
}

TEST(ConfigFile, SaysInItsOwnWordsWhatIsWrongAndWhatToDo) {
  EXPECT_THAT(refusal("steps = 30\nsteps = 40\n"), HasSubstr("'steps = 40' sets something for the second time"));
  EXPECT_THAT(refusal("batch = 3\r\nsteps 30\r\n"), HasSubstr("'steps 30' is no setting as TOML writes it"));
  EXPECT_THAT(refusal("norm = rms\n"), HasSubstr("texts in quotes"));
  EXPECT_THAT(refusal("norm = \"\xFF\"\n"), HasSubstr("save it as UTF-8"));
  EXPECT_THAT(refusal(std::string_view("steps = \0 3\n", 12)), HasSubstr("a control character"));
}

TEST(ConfigFile, RefusesNestingWithoutEnd) {
  EXPECT_THAT(refusal("steps = " + std::string(100000, '[')), HasSubstr("nested without end"));
}

TEST(ConfigFile, RefusesNamesWithoutEnd) {
  std::string dotted;
  for (int i = 0; i < 250000; ++i) dotted += "a.";
  const std::string rule = "a name of more than 64 parts between dots (mine.toml: line 2)";
  EXPECT_THAT(refusal("steps = 3\n" + dotted + "a = 1\n"), HasSubstr(rule));
  EXPECT_THAT(refusal("steps = 3\n[" + dotted + "a]\n"), HasSubstr(rule));
  EXPECT_THAT(refusal("# it's\nsteps = {" + dotted + "a = 1}\n"), HasSubstr(rule));
  // After strings of every kind.
  EXPECT_THAT(refusal("\nx = {b = \"\\\"\", c = '\\', d = \"\"\"\"x\"\"\"\", e = '''y''''', " + dotted + "a = 1}"),
              HasSubstr(rule));
  EXPECT_THAT(refusal("x = \"\"\"\n\"\"\"\n" + dotted + "a = 1\n"), HasSubstr("line 3"));
}

TEST(ConfigFile, DotsInTextsAndCommentsAreNoKeys) {
  const std::string dots(100, '.');
  EXPECT_EQ(parse_config("# " + dots + "\na = \"" + dots + "\"\nb = '" + dots + "'\nc = 1.5\n", "mine.toml").size(),
            3U);
}

TEST(ConfigFile, RefusesTablesAndLists) {
  EXPECT_THAT(refusal("[model]\nwidth = 3\n"), HasSubstr("without tables"));
  EXPECT_THAT(refusal("steps = [1, 2]\n"), HasSubstr("one value"));
  EXPECT_THAT(refusal("steps = 1979-05-27\n"), HasSubstr("line 1, column "));
}

TEST(ConfigFile, RefusesAFileAboveAMegabyteAndOneThatIsNotThere) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "big.toml") << std::string((1U << 20U) + 1, '#');
  EXPECT_EQ(testing::error_of([&] { static_cast<void>(read_config_file(folder / "big.toml")); }).kind(),
            ErrorKind::usage);
  EXPECT_EQ(testing::error_of([&] { static_cast<void>(read_config_file(folder / "none.toml")); }).kind(),
            ErrorKind::io);
}

TEST(ConfigFile, TextsAreQuoted) { EXPECT_EQ(toml_text("a\"b\\c\n"), "\"a\\\"b\\\\c\\n\""); }

}  // namespace
}  // namespace dikkat::cli
