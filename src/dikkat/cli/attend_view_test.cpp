#include "dikkat/cli/attend_view.h"

#include <gmock/gmock.h>

#include <sstream>

namespace dikkat::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr kernels::Mask kFree = {.direction = kernels::Direction::bidirectional};
constexpr kernels::Mask kCausal = {.direction = kernels::Direction::causal};

AttendedText text_of(std::vector<std::string> tokens, std::vector<double> weights) {
  AttendedText text;
  for (const std::string& token : tokens) text.text += (text.text.empty() ? "" : " ") + token;
  text.tokens = std::move(tokens);
  text.weights = lessons::Matrix(text.tokens.size(), text.tokens.size());
  text.weights.values = std::move(weights);
  return text;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, visible_columns(line));
  return widest;
}

const AttendedText kFirst = text_of({"a", "b"}, {0.25, 0.75, 0.5, 0.5});
const AttendedText kSecond = text_of({"a", "c"}, {0.75, 0.25, 0.5, 0.5});

TEST(AttendView, ShowsFiguresThenShadesUpToTheLargestWeight) {
  EXPECT_EQ(drawn(kFirst, kFree, {}),
            "       a     b\n"
            "a  0.250 0.750\n"
            "b  0.500 0.500\n"
            "\n"
            "  a b\n"
            "a --@@\n"
            "b ****\n"
            "0.00  .:-=+*#%@ 0.75\n");
}

TEST(AttendView, WhatTheMaskHidesStaysEmpty) {
  EXPECT_THAT(drawn(text_of({"a", "b"}, {1.0, 0.0, 0.5, 0.5}), kCausal, {}), HasSubstr("\na  1.000\nb  0.500 0.500\n"));
}

TEST(AttendView, TwoStandBesideEachOtherWithTheirDifferenceBelow) {
  const std::string text = drawn_together(kFirst, kSecond, kFree, {.columns = 60});
  EXPECT_THAT(text, HasSubstr("a b                            a c\n"));
  EXPECT_THAT(text, HasSubstr("a  0.250 0.750                 a  0.750 0.250\n"));
  EXPECT_THAT(text, HasSubstr("The second minus the first: 0.250 apart on average, 0.500 at most\n"));
  EXPECT_THAT(text, HasSubstr("  a   0.500 -0.500\n"));
  EXPECT_THAT(text, HasSubstr("b/c   0.000  0.000\n"));
  EXPECT_LE(widest_line(text), 66U);  // the difference's sentence
}

TEST(AttendView, TheyLoseADecimalBeforeTheyStandBelowEachOther) {
  EXPECT_THAT(drawn_together(kFirst, kSecond, kFree, {.columns = 30}), HasSubstr("a  0.25 0.75    a  0.75 0.25\n"));
  EXPECT_THAT(drawn_together(kFirst, kSecond, kFree, {.columns = 20}), HasSubstr("a  0.250 0.750\nb  0.500 0.500\n"));
}

TEST(AttendView, UnequalLengthsAreSaidToHaveNoDifference) {
  const std::string text = drawn_together(kFirst, text_of({"x"}, {1.0}), kFree, {});
  EXPECT_THAT(text, HasSubstr("the first has 2 tokens, the second 1, so no cell answers to a cell."));
  EXPECT_THAT(text, Not(HasSubstr("minus")));
}

TEST(AttendView, LongTextsAreCutWithNotice) {
  const std::size_t n = 100;
  const AttendedText text = text_of(std::vector<std::string>(n, "word"), std::vector<double>(n * n, 0.01));
  const std::string picture = drawn(text, kFree, {});
  EXPECT_THAT(picture, HasSubstr("(cut: "));
  EXPECT_THAT(picture, HasSubstr("48 of 100 rows"));
  EXPECT_LE(widest_line(picture), 80U);
}

TEST(AttendView, HostileTokensKeepTheirPlace) {
  const std::vector<std::string> tokens = {"<script>", "\x1B[2J", "\n", "\xE2\x80\x8B", "\xD7\xA9\xD7\x9C"};
  const std::string picture = drawn(text_of(tokens, std::vector<double>(25, 0.2)), kFree, {});
  EXPECT_THAT(picture, Not(HasSubstr("\x1B")));
  EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n'), 6 + 1 + 6 + 1);
  EXPECT_THAT(picture, HasSubstr("U+200B"));
}

TEST(AttendView, EscapeSequencesAndMarksOfDirectionTakeNoColumns) {
  EXPECT_EQ(visible_columns("\x1B[0;48;5;234m  \x1B[0mab"), 4U);
  EXPECT_EQ(visible_columns("\xE2\x80\x8Eש\xE2\x80\x8E"), 1U);
  EXPECT_EQ(visible_columns(""), 0U);
}

}  // namespace
}  // namespace dikkat::cli
