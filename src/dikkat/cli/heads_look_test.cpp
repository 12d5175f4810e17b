#include "dikkat/cli/heads_look.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace dikkat::cli {
namespace {

using inspect::Finding;
using inspect::HeadReport;
using inspect::HeadScore;
using inspect::ScoreReport;
using ::testing::HasSubstr;
using ::testing::Not;

ScoreReport score(HeadScore kind, double value, double untrained, double size, Finding finding) {
  return {
      .score = kind,
      .value = value,
      .uniform = untrained,
      .tested = value,
      .test = {.null_mean = untrained, .null_deviation = 0.01, .z = (value - untrained) / 0.01, .adjusted_p = 0.001},
      .size = size,
      .finding = finding};
}

// Head 0 is found to do little, head 1 much, head 2 something in between, head 3 nothing.
HeadsLook some_look() {
  HeadsLook look{.run = "run",
                 .model = {.layers = 1, .heads = 4},
                 .source = "text.txt",
                 .length = 8,
                 .windows_wanted = 10,
                 .report = {.windows = 10,
                            .null_windows = 10,
                            .draws = 999,
                            .scores = 2,
                            .columns = inspect::HeadColumns(8, {}),
                            .heads = {}}};
  const auto add = [&](std::vector<ScoreReport> scores, std::vector<std::string> names) {
    look.report.heads.push_back({.layer = 0,
                                 .head = look.report.heads.size(),
                                 .scores = std::move(scores),
                                 .profile = {},
                                 .names = std::move(names)});
  };
  add({score(HeadScore::entropy, 3.220, 3.257, 0.011, Finding::found),
       score(HeadScore::induction, 0.07, 0.06, 0.01, Finding::none)},
      {});
  add({score(HeadScore::entropy, 2.0, 3.257, 0.386, Finding::found),
       score(HeadScore::induction, 0.9, 0.06, 0.84, Finding::found)},
      {"induction head"});
  add({score(HeadScore::entropy, 2.2, 3.257, 0.324, Finding::found),
       score(HeadScore::induction, 0.12, 0.06, 0.06, Finding::found)},
      {});
  add({score(HeadScore::entropy, 3.2, 3.257, 0.01, Finding::none),
       score(HeadScore::induction, 0.06, 0.06, 0, Finding::none)},
      {});
  return look;
}

// Where each part begins; they are all there.
std::vector<std::size_t> places(const std::string& text, const std::vector<std::string>& parts) {
  std::vector<std::size_t> found;
  for (const std::string& part : parts) {
    EXPECT_THAT(text, HasSubstr(part));
    found.push_back(text.find(part));
  }
  return found;
}

TEST(HeadsFindings, TellTheLargestFirst) {
  const std::string text = findings_text(some_look(), 200);
  EXPECT_THAT(text, HasSubstr("3 of 4 heads do something that chance would not"));
  EXPECT_THAT(text, HasSubstr("2 of them something large"));
  const auto order = places(text, {"layer 0 head 1: induction head\n", "more to what followed before: induction 0.900",
                                   "chooses sharply: entropy 2.000, untrained 3.257, uniform 3.257", "layer 0 head 2\n",
                                   "chooses sharply: entropy 2.200", "layer 0 head 0\n"});
  EXPECT_TRUE(std::ranges::is_sorted(order)) << text;
  EXPECT_THAT(text, Not(HasSubstr("head 3")));
}

TEST(HeadsFindings, DoNotCallLittleMuch) {
  const std::string text = findings_text(some_look(), 200);
  EXPECT_THAT(text, HasSubstr("layer 0 head 0\n    a little sharper than chance (entropy 3.220, untrained "
                              "3.257, uniform 3.257)\n"));
  EXPECT_THAT(
      text, HasSubstr("    a little more to what followed before (induction 0.120, untrained 0.060, uniform 0.060)\n"));
}

TEST(HeadsText, FitsAnyTerminal) {
  for (const std::size_t columns : {60U, 80U, 132U}) {
    std::istringstream lines(heads_text(some_look(), {}, columns));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
  }
}

// Nine columns do not fit beside the label: they come in two tables.
TEST(HeadsText, BreaksATableThatIsTooWide) {
  const std::string narrow = heads_text(some_look(), {}, 20);
  EXPECT_EQ(narrow.find("entr."), narrow.rfind("entr."));
  EXPECT_GT(narrow.find("induct\n"), narrow.find("  head 3"));
  const std::string wide = heads_text(some_look(), {}, 80);
  EXPECT_THAT(wide, HasSubstr(" entr. induct\n"));
}

}  // namespace
}  // namespace dikkat::cli
