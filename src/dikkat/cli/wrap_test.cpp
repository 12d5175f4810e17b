#include "dikkat/cli/wrap.h"

#include <gtest/gtest.h>

namespace dikkat::cli {
namespace {

TEST(Wrap, BreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrapped_to("one two three", 80, 2), "one two three\n");
  EXPECT_EQ(wrapped_to("one two three", 13, 2), "one two three\n");
  EXPECT_EQ(wrapped_to("one two three", 12, 2), "one two\n  three\n");
  EXPECT_EQ(wrapped_to("  one two three", 7, 2), "  one\n    two\n    three\n");
  EXPECT_EQ(wrapped_to("", 7, 2), "\n");
}

TEST(Wrap, LeavesLongWordsWhole) { EXPECT_EQ(wrapped_to("a runs/first b", 5, 1), "a\n runs/first\n b\n"); }

TEST(Wrap, CountsColumnsAndNotBytes) {
  EXPECT_EQ(wrapped_to("göl göl", 7, 0), "göl göl\n");
  EXPECT_EQ(wrapped_to("漢字 漢字", 8, 0), "漢字\n漢字\n");
}

}  // namespace
}  // namespace dikkat::cli
