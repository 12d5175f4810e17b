// Labels of exactly so many columns, whatever a token holds.
#include "dikkat/text/display_width.h"

#include <gtest/gtest.h>

namespace dikkat::text {
namespace {

TEST(DisplayWidth, PlainTextIsAsLongAsItIs) {
  EXPECT_EQ(label("cat", 8), "cat");
  EXPECT_EQ(label_columns("cat"), 3U);
  EXPECT_EQ(label("<script>", 8), "<script>");
  EXPECT_EQ(label("\"'", 8), "\"'");
  EXPECT_EQ(label("çğıöşü", 6), "çğıöşü");
  EXPECT_EQ(label("", 4), "");
}

TEST(DisplayWidth, WhatIsTooLongEndsInAnEllipsis) {
  EXPECT_EQ(label("kittens", 7), "kittens");
  EXPECT_EQ(label("kittens", 6), "kitte…");
  EXPECT_EQ(label("kittens", 1), "…");
  EXPECT_EQ(label("kittens", 0), "");
}

TEST(DisplayWidth, BlanksAndControlCharactersAreSeen) {
  EXPECT_EQ(label(" the", 8), "␣the");
  EXPECT_EQ(label("\n", 8), "\\n");
  EXPECT_EQ(label("a\tb", 8), "a\\tb");
  EXPECT_EQ(label("\x1B[2J", 8), "\\x1B[2J");
  EXPECT_EQ(label("\xE7", 8), "\\xE7") << "a byte of a character";
  EXPECT_EQ(label("\u0085", 8), "U+0085");
  EXPECT_EQ(label("\u00A0", 8), "U+00A0");
  EXPECT_EQ(label("\u3000", 8), "U+3000");
}

TEST(DisplayWidth, WhatDrawsNothingIsNamed) {
  EXPECT_EQ(label("\u200B", 8), "U+200B");
  EXPECT_EQ(label("a\u200Db", 8), "aU+200Db");
  EXPECT_EQ(label("\uFEFF", 8), "U+FEFF");
  EXPECT_EQ(label("\u202E", 8), "U+202E") << "would turn the rest of the line";
  EXPECT_EQ(label("\u2764\uFE0F", 8), "\u2764U+FE0F");
  EXPECT_EQ(label_columns("\U000E0001"), 7U);
}

TEST(DisplayWidth, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(label_columns("注意"), 4U);
  EXPECT_EQ(label("注意力", 6), "注意力");
  EXPECT_EQ(label("注意力", 5), "注意…");
  EXPECT_EQ(label("注意力", 4), "注…") << "half a character is none";
  EXPECT_EQ(padded_label("注意力", 4, Side::left), "注… ");
  EXPECT_EQ(label_columns("\U0001F600"), 2U);
  EXPECT_EQ(label_columns("\uFF21"), 2U);
}

TEST(DisplayWidth, MarksStayOnTheirLetter) {
  EXPECT_EQ(label_columns("e\u0301"), 1U);
  EXPECT_EQ(label("e\u0301tude", 3), "e\u0301t…");
  EXPECT_EQ(label("\u0301", 8), "\u25CC\u0301") << "alone";
  EXPECT_EQ(label(" \u0301", 8), "␣\u25CC\u0301") << "nothing to stand on";
  EXPECT_EQ(label("\n\u0301", 8), "\\n\u25CC\u0301");
  std::string towers = "e";
  for (int i = 0; i < 100; ++i) towers += "\u0301";
  EXPECT_EQ(label(towers, 8), "e\u0301\u0301\u0301\u0301");
}

TEST(DisplayWidth, RightToLeftIsHeldBetweenMarks) {
  EXPECT_EQ(label("שלום", 8), "\u200Eשלום\u200E");
  EXPECT_EQ(label_columns("שלום"), 4U);
  EXPECT_EQ(label("ال", 1), "…") << "nothing is left to hold";
  EXPECT_EQ(padded_label("א", 3, Side::right), "  \u200Eא\u200E");
  EXPECT_EQ(label("می\u200Cرود", 8), "\u200Eمی\u200Cرود\u200E") << "a non-joiner inside a word";
  EXPECT_EQ(label("\u200Cرود", 9), "\u200EU+200Cرود\u200E");
}

TEST(DisplayWidth, PaddingFillsExactly) {
  EXPECT_EQ(padded_label("ab", 4, Side::left), "ab  ");
  EXPECT_EQ(padded_label("ab", 4, Side::right), "  ab");
  EXPECT_EQ(padded_label("abcdef", 4, Side::right), "abc…");
  EXPECT_EQ(padded_label("", 2, Side::left), "  ");
}

}  // namespace
}  // namespace dikkat::text
