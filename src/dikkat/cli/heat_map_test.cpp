// Pictures at every depth of colour, worked out by hand; the layout stands whatever the labels are.
#include "dikkat/cli/heat_map.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "dikkat/base/testing.h"
#include "dikkat/cli/colour_ramp.h"

namespace dikkat::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

const std::vector<double> kTriangle = {1.0, kNothing, 0.25, 0.75};

HeatMap triangle() {
  return {.rows = 2, .columns = 2, .values = kTriangle, .row_labels = {"a", "b"}, .column_labels = {"a", "b"}};
}

TEST(HeatMap, PlainCharacters) {
  EXPECT_EQ(drawn(triangle(), {}),
            "  a b\n"
            "a @@\n"
            "b ::##\n");
}

TEST(HeatMap, ShadeBlocks) {
  EXPECT_EQ(drawn(triangle(), {.shades = Shades::blocks}),
            "  a b\n"
            "a ██\n"
            "b ░░▓▓\n");
}

TEST(HeatMap, AllTenCharactersInOrder) {
  std::vector<double> values;
  for (int i = 0; i <= 10; ++i) values.push_back(i / 10.0);
  const HeatMap map{.rows = 1, .columns = 11, .values = values, .row_labels = {"x"}};
  EXPECT_EQ(drawn(map, {.columns = 20}), "x  .:-=+*#%@@\n") << "one column each where two have no room";
}

TEST(HeatMap, SixteenColours) {
  EXPECT_EQ(drawn(triangle(), {.depth = ColourDepth::sixteen}),
            "  a b\n"
            "a \x1b[0;47m  \x1b[0m  \n"
            "b \x1b[0;44m  \x1b[0;43m  \x1b[0m\n");
}

TEST(HeatMap, TwoHundredAndFiftySixColours) {
  // Quarters of the ramp are its anchors. (92,26,112) is nearest to (95,0,95), 16 + 36 + 1; (240,124,48) to
  // (255,135,95), 16 + 5 * 36 + 2 * 6 + 1, at a squared distance of 2555, before (255,135,0) at 2650 and (215,135,95)
  // at 2955.
  EXPECT_EQ(drawn(triangle(), {.depth = ColourDepth::many}),
            "  a b\n"
            "a \x1b[0;48;5;229m  \x1b[0m  \n"
            "b \x1b[0;48;5;53m  \x1b[0;48;5;209m  \x1b[0m\n");
}

TEST(HeatMap, AllColours) {
  EXPECT_EQ(drawn(triangle(), {.depth = ColourDepth::full}),
            "  a b\n"
            "a \x1b[0;48;2;252;240;164m  \x1b[0m  \n"
            "b \x1b[0;48;2;92;26;112m  \x1b[0;48;2;240;124;48m  \x1b[0m\n");
}

TEST(HeatMap, EqualNeighboursShareTheirColour) {
  const std::vector<double> values(4, 1.0);
  const HeatMap map{.rows = 1, .columns = 4, .values = values};
  EXPECT_EQ(drawn(map, {.depth = ColourDepth::sixteen}), "\x1b[0;47m        \x1b[0m\n");
}

TEST(HeatMap, NumbersStandUnderTheirLabels) {
  HeatMap map = triangle();
  map.cells = CellText::numbers;
  EXPECT_EQ(drawn(map, {}),
            "      a    b\n"
            "a  1.00\n"
            "b  0.25 0.75\n");
  EXPECT_THAT(drawn(map, {.depth = ColourDepth::sixteen}), HasSubstr("b \x1b[0;97;44m 0.25\x1b[0;30;43m 0.75\x1b[0m"))
      << "white letters on dark, black ones on bright";
}

TEST(HeatMap, CellsGrowWithTheirLabels) {
  HeatMap map = triangle();
  map.column_labels = {"The", "mat"};
  EXPECT_EQ(drawn(map, {}),
            "  The mat\n"
            "a @@@@\n"
            "b ::::####\n");
}

TEST(HeatMap, ScalesToLowAndHigh) {
  const std::vector<double> values = {-3.0, -2.0, 0.0, 2.0, 9.0};
  const HeatMap map{.rows = 1, .columns = 5, .values = values, .low = -2.0, .high = 2.0};
  EXPECT_EQ(drawn(map, {}), "    ++@@@@\n");
  const HeatMap flat{.rows = 1, .columns = 5, .values = values, .low = 0.0, .high = 0.0};
  EXPECT_EQ(drawn(flat, {}), "      @@@@\n") << "no range: above it or not";
}

TEST(HeatMap, MarkedRowsAreShown) {
  HeatMap map = triangle();
  map.marked = {false, true};
  EXPECT_EQ(drawn(map, {}),
            "    a b\n"
            "  a @@\n"
            "> b ::##\n");
}

TEST(HeatMap, WhatDoesNotFitIsCutWithNotice) {
  const std::vector<double> values(3 * 100, 1.0);
  const HeatMap map{.rows = 3, .columns = 100, .values = values, .row_labels = {"x", "y", "z"}, .most_rows = 2};
  EXPECT_EQ(drawn(map, {.columns = 20}), "x " + std::string(18, '@') + "\ny " + std::string(18, '@') +
                                             "\n(cut: 18 of 100 columns (all with --columns 102), 2 of 3 rows)\n");
  EXPECT_THAT(drawn(map, {.columns = 102}), HasSubstr("\n(cut: 2 of 3 rows)\n"));
}

// Every line of a map is as wide as the others whatever stands in its labels: seen by what is left of the cells.
TEST(HeatMap, HostileLabelsLeaveTheCellsWhereTheyAre) {
  const std::vector<std::string> labels = {
      "<script>alert(1)</script>", "\"", "\n\n\n", "\u200B", "א", "注意力", "\u0301", "\x1B[31m",
      std::string(1000, 'a'),      ""};
  const std::vector<double> values(labels.size() * labels.size(), 1.0);
  const HeatMap map{
      .rows = labels.size(), .columns = labels.size(), .values = values, .row_labels = labels, .column_labels = labels};
  const std::string text = drawn(map, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  // 16 columns of label, one blank, then 10 cells of (80 - 17) / 10 = 6.
  EXPECT_THAT(text, HasSubstr("\n<script>alert(1… " + std::string(60, '@') + "\n"));
  EXPECT_THAT(text, HasSubstr("\n               \u200Eא\u200E " + std::string(60, '@') + "\n"));
  EXPECT_THAT(text, HasSubstr("\n          注意力 " + std::string(60, '@') + "\n"));
}

TEST(HeatMap, ThumbnailsKeepTheLargestOfEachBlock) {
  std::vector<double> values(16, 0.0);
  values[3 * 4 + 1] = 0.55;
  values[0] = kNothing;
  const HeatMap map{.rows = 4, .columns = 4, .values = values};
  EXPECT_THAT(thumbnail(map, 2, 2, {}), ElementsAre("  ", "+ "));
  EXPECT_THAT(thumbnail(map, 4, 4, {}), ElementsAre("    ", "    ", "    ", " +  "));
  const std::vector<double> one = {1.0};
  EXPECT_THAT(thumbnail({.rows = 1, .columns = 1, .values = one}, 2, 3, {}), ElementsAre("@@@", "@@@"));
  EXPECT_THAT(thumbnail({}, 1, 2, {}), ElementsAre("  ")) << "of nothing";
}

TEST(HeatMap, ThumbnailsInColourHoldTwoRowsALine) {
  const std::vector<double> values = {1.0, kNothing, 0.0, 0.0, 1.0, kNothing, kNothing, 1.0};
  const HeatMap map{.rows = 4, .columns = 2, .values = values};
  const Look look{.depth = ColourDepth::sixteen, .shades = Shades::blocks};
  EXPECT_THAT(thumbnail(map, 2, 2, look), ElementsAre("\x1b[0;37;40m▀\x1b[0;30m▄\x1b[0m", "\x1b[0;37m▀▄\x1b[0m"));
  EXPECT_THAT(thumbnail(map, 1, 1, {.depth = ColourDepth::sixteen}), ElementsAre("\x1b[0;47m \x1b[0m"))
      << "no UTF-8: no half blocks";
}

TEST(HeatMap, TheLegendGoesFromLowToHigh) {
  EXPECT_EQ(legend(0.0, 1.0, {}), "0.00  .:-=+*#%@ 1.00");
  EXPECT_EQ(legend(-2.0, 2.5, {.shades = Shades::blocks}), "-2.00   ░░▒▒▓▓██ 2.50");
}

TEST(Look, IsFoundFromTheTerminal) {
  const TerminalFacts xterm{.terminal = true, .term = "xterm-256color", .locale = "tr_TR.UTF-8", .columns = 132};
  TerminalFacts facts = xterm;
  EXPECT_EQ(depth_for(facts, ColourWish::automatic), ColourDepth::many);
  facts.colorterm = "truecolor";
  EXPECT_EQ(depth_for(facts, ColourWish::automatic), ColourDepth::full);
  facts.no_color = "1";
  EXPECT_EQ(depth_for(facts, ColourWish::automatic), ColourDepth::none);
  EXPECT_EQ(depth_for(facts, ColourWish::always), ColourDepth::full);
  EXPECT_EQ(depth_for(xterm, ColourWish::never), ColourDepth::none);
  EXPECT_EQ(depth_for({.terminal = true, .term = "xterm"}, ColourWish::automatic), ColourDepth::sixteen);
  EXPECT_EQ(depth_for({.terminal = true, .term = "foot-direct"}, ColourWish::automatic), ColourDepth::full);
  for (const char* term : {"dumb", "", "vt100"}) {
    EXPECT_EQ(depth_for({.terminal = true, .term = term}, ColourWish::automatic), ColourDepth::none) << term;
  }
  facts = xterm;
  facts.terminal = false;
  EXPECT_EQ(depth_for(facts, ColourWish::automatic), ColourDepth::none) << "a pipe";
  EXPECT_EQ(depth_for(facts, ColourWish::always), ColourDepth::many);
}

TEST(Look, DrawsBlocksWhereUtf8IsSpoken) {
  EXPECT_EQ(look_for({.terminal = true, .locale = "C.utf8"}, ColourWish::automatic).shades, Shades::blocks);
  EXPECT_EQ(look_for({.terminal = true, .locale = "C"}, ColourWish::automatic).shades, Shades::ascii);
  EXPECT_EQ(look_for({.terminal = false, .locale = "C.utf8"}, ColourWish::automatic).shades, Shades::ascii);
  EXPECT_EQ(look_for({.columns = 132}, ColourWish::never).columns, 132U);
}

TEST(Look, OptionsOverrule) {
  Command command{};
  command.groups = {{"Looks", look_options()}};
  const auto look = [&](const std::vector<std::string>& words) { return look_of(Arguments(command, words)); };
  EXPECT_EQ(look({"--color", "never"}).depth, ColourDepth::none);
  EXPECT_EQ(look({"--colors", "24bit"}).depth, ColourDepth::full);
  EXPECT_EQ(look({"--colors", "16", "--color", "always"}).depth, ColourDepth::sixteen);
  EXPECT_EQ(look({"--colors", "24bit", "--color", "never"}).depth, ColourDepth::none);
  EXPECT_EQ(look({"--columns", "33"}).columns, 33U);
  using dikkat::testing::error_of;
  EXPECT_EQ(error_of([&] { (void)look({"--columns", "19"}); }).kind(), ErrorKind::usage);
  EXPECT_EQ(error_of([&] { (void)look({"--columns", "10001"}); }).kind(), ErrorKind::usage);
  EXPECT_EQ(error_of([&] { (void)look({"--colors", "many"}); }).kind(), ErrorKind::usage);
}

TEST(ColourRamp, GrowsBrighter) {
  double before = -1.0;
  for (int i = 0; i <= 100; ++i) {
    const Rgb c = ramp(i / 100.0);
    const double brightness = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
    EXPECT_GT(brightness, before) << i;
    before = brightness;
  }
}

TEST(ColourRamp, FindsTheNearestFixedColour) {
  EXPECT_EQ(nearest_of_256({0, 0, 0}), 16U);
  EXPECT_EQ(nearest_of_256({255, 255, 255}), 231U);
  EXPECT_EQ(nearest_of_256({95, 135, 175}), 67U);    // 16 + 36 * 1 + 6 * 2 + 3
  EXPECT_EQ(nearest_of_256({128, 128, 128}), 244U);  // grey 8 + 10 * 12
}

}  // namespace
}  // namespace dikkat::cli
