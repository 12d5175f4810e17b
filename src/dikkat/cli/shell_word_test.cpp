#include "dikkat/cli/shell_word.h"

#include <gtest/gtest.h>

namespace dikkat::cli {
namespace {

TEST(ShellWord, IsPlainWhereItMayBe) {
  EXPECT_EQ(shell_word("runs/first-2.0_x"), "runs/first-2.0_x");
  EXPECT_EQ(shell_word("/opt/dikkat/build/dikkat"), "/opt/dikkat/build/dikkat");
}

TEST(ShellWord, IsQuotedWhereAShellWouldReadMore) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my run"), "'my run'");
  EXPECT_EQ(shell_word("koşu"), "'koşu'");
  EXPECT_EQ(shell_word("$HOME/*"), "'$HOME/*'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a\nb\\c'"), "$'a\\nb\\\\c\\''");
}

TEST(ShellWord, IsNoOption) { EXPECT_EQ(shell_word("-x"), "./-x"); }

}  // namespace
}  // namespace dikkat::cli
