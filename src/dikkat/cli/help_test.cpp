#include "dikkat/cli/help.h"

#include <gmock/gmock.h>

#include "dikkat/base/testing.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"

namespace dikkat::cli {
namespace {

using ::testing::HasSubstr;

// Help is read in terminals of all kinds: ASCII, and no line of more than 100 columns (examples aside).
TEST(Help, FitsATerminal) {
  std::vector<std::string> texts{overview()};
  for (const Command& command : commands()) texts.push_back(help_of(command));
  for (const std::string& text : texts) {
    std::size_t column = 0;
    for (const char c : text) {
      ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << text;
      column = c == '\n' ? 0 : column + 1;
      ASSERT_LE(column, 100U) << text;
    }
  }
}

TEST(Help, NamesEveryCommandAndEveryOption) {
  for (const Command& command : commands()) {
    EXPECT_THAT(overview(), HasSubstr("\n  " + command.name + " "));
    for (const OptionGroup& group : command.groups) {
      for (const Option& option : group.options) EXPECT_THAT(help_of(command), HasSubstr("\n  --" + option.name));
    }
    EXPECT_THAT(help_of(command), HasSubstr("\nExamples:\n"));
  }
}

TEST(ManualPage, DescribesEveryOptionAndExitCode) {
  const std::string page = manual_page();
  EXPECT_TRUE(page.starts_with(".TH DIKKAT 1"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-learning\\-rate\\fR \\fIX\\fR"));
  for (const ExitCode& code : exit_codes()) EXPECT_THAT(page, HasSubstr("\\fB" + std::to_string(code.code) + "\\fR\n"));
}

TEST(Completions, KnowEveryCommandInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completions_for(shell);
    for (const Command& command : commands()) EXPECT_THAT(script, HasSubstr(command.name)) << shell;
    EXPECT_THAT(script, HasSubstr("learning-rate")) << shell;
    EXPECT_THAT(script, HasSubstr("shakespeare-cpu")) << shell;
  }
  EXPECT_EQ(testing::error_of([] { static_cast<void>(completions_for("tcsh")); }).kind(), ErrorKind::usage);
}

TEST(Harmless, EscapesWhatCouldSteerATerminal) {
  EXPECT_EQ(harmless("one\ttwo\nthr\x1b[31mee\r"), "one\ttwo\nthr\\x1B[31mee\\r");
  EXPECT_EQ(harmless("şöyle"), "şöyle");
  EXPECT_EQ(harmless(""), "");
}

}  // namespace
}  // namespace dikkat::cli
