#include "dikkat/text/wrap.h"

#include <gtest/gtest.h>

#include <string>

namespace dikkat::text {
namespace {

TEST(Wrap, BreaksAtBlanksAndIndents) {
  EXPECT_EQ(wrapped_to("one two three", 80, 2), "one two three\n");
  EXPECT_EQ(wrapped_to("one two three", 13, 2), "one two three\n");
  EXPECT_EQ(wrapped_to("one two three", 12, 2), "one two\n  three\n");
  EXPECT_EQ(wrapped_to("  one two three", 7, 2), "  one\n    two\n    three\n");
  EXPECT_EQ(wrapped_to("", 7, 2), "");
}

TEST(Wrap, KeepsParagraphs) {
  EXPECT_EQ(wrapped_to("  one two\nthree\n\nfour", 7, 1), "  one\n   two\n  three\n\n  four\n");
  EXPECT_EQ(wrapped_to("one\n\n", 80, 0), "one\n\n");
}

TEST(Wrap, LeavesLongWordsWhole) { EXPECT_EQ(wrapped_to("a runs/first b", 5, 1), "a\n runs/first\n b\n"); }

TEST(Wrap, CountsColumnsAndNotBytes) {
  EXPECT_EQ(wrapped_to("göl göl", 7, 0), "göl göl\n");
  EXPECT_EQ(wrapped_to("漢字 漢字", 8, 0), "漢字\n漢字\n");
}

TEST(Prose, BreaksAtBlanksWithinEightyColumns) {
  EXPECT_EQ(prose(""), "");
  EXPECT_EQ(prose("one\n\ntwo"), "one\n\ntwo\n");
  const std::string forty(40, 'a');
  EXPECT_EQ(prose(forty + " " + std::string(39, 'b')), forty + " " + std::string(39, 'b') + "\n");
  EXPECT_EQ(prose(forty + " " + std::string(40, 'b')), forty + "\n" + std::string(40, 'b') + "\n");
  EXPECT_EQ(prose(std::string(90, 'a') + " b"), std::string(90, 'a') + "\nb\n");
  std::string lira;  // 39 columns of three bytes each
  for (int i = 0; i < 39; ++i) lira += "₺";
  EXPECT_EQ(prose(forty + " " + lira), forty + " " + lira + "\n");
}

}  // namespace
}  // namespace dikkat::text
