// What the lesson prints: as the document prints it, in English, and as JSON.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/testing.h"
#include "dikkat/lessons/heads.h"
#include "dikkat/lessons/heads_testing.h"

namespace dikkat::lessons {
namespace {

using dikkat::testing::flowing;
using testing::document_lesson;
using testing::golden_text;
using ::testing::HasSubstr;
using ::testing::Not;

HeadsLesson lesson_of(const HeadsSettings& settings) {
  Pool pool(2);
  return heads_lesson(kernels::Executor{pool}, settings);
}

// A5, A12, A15, A19, A21
TEST(HeadsPublished, EqualsTheDocumentsOutputByteForByte) {
  EXPECT_EQ(as_published(document_lesson()), golden_text("lesson_heads_published.out"));
}

// A21
TEST(HeadsPublished, EqualsTheEditedProgramsOutputByteForByte) {
  const Json more = parse_json(golden_text("lesson_heads_more.json"), "lesson_heads_more.json");
  const auto cases = JsonAt(more, "lesson_heads_more.json").items();
  ASSERT_EQ(cases.size(), 7U);
  for (const JsonAt& one : cases) {
    const HeadsSettings settings{
        .seed = one["seed"].count(), .epochs = one["epochs"].count(), .width = one["width"].count()};
    EXPECT_EQ(as_published(lesson_of(settings)), one["printed"].string());
  }
}

const std::string& document_text() {
  static const std::string text = flowing(explained(document_lesson()));
  return text;
}
const HeadsLesson& other_lesson() {
  static const HeadsLesson lesson = lesson_of({.seed = 7, .epochs = 60});
  return lesson;
}
const std::string& other_text() {
  static const std::string text = flowing(explained(other_lesson()));
  return text;
}

double mean_of(const std::array<HeadsRun, 2>& runs) { return (runs[0].accuracy() + runs[1].accuracy()) / 2; }

TEST(HeadsExplained, SaysTheQuestionAndTheBaseline) {
  EXPECT_THAT(document_text(), HasSubstr("720 made-up series of 12 readings (seed 20260218)"));
  EXPECT_THAT(document_text(), HasSubstr("200 train, 63 of which rise; 180 are held out, 61 of which rise"));
  EXPECT_THAT(document_text(), HasSubstr("0.6611 of these"));
  EXPECT_THAT(document_text(),
              HasSubstr("The first one: 0.0 0.893 -0.222 -0.542 -0.404 -1.114 0.234 -1.03 -1.493 0.534 "
                        "-1.807 0.05 - it does not rise."));
  EXPECT_THAT(other_text(), HasSubstr("(seed 7)"));
  EXPECT_THAT(other_text(), HasSubstr(fmt::format("{} of which rise: whoever", rising(other_lesson().held_out()))));
}

// A13, the document's figures.
TEST(HeadsExplained, GainAgainstTheSpreadOfTwoRuns) {
  EXPECT_THAT(document_text(), HasSubstr("The means rise with the number of heads: 0.8722, 0.8806, 0.8972."));
  EXPECT_THAT(document_text(), HasSubstr("From 1 head to 4 the mean gains 0.0250"));
  EXPECT_THAT(document_text(), HasSubstr("the best mean lies 0.2361 above the baseline"));
  EXPECT_THAT(document_text(), HasSubstr("lie 0.0500 apart, 2.0 times that gain"));
  EXPECT_THAT(document_text(), HasSubstr("takes 1 head after run 1 and 4 heads after run 2"));
}

// A13: another seed, other figures; those of its own run.
TEST(HeadsExplained, GainIsThatOfTheVeryRun) {
  const auto& runs = other_lesson().with_position;
  EXPECT_THAT(other_text(),
              HasSubstr(fmt::format("{:.4f}, {:.4f}, {:.4f}.", mean_of(runs[0]), mean_of(runs[1]), mean_of(runs[2]))));
  const double gain = mean_of(runs[2]) - mean_of(runs[0]);
  EXPECT_THAT(other_text(), HasSubstr(fmt::format("the mean {} {:.4f}", gain < 0 ? "loses" : "gains", std::abs(gain))));
  EXPECT_THAT(other_text(), Not(HasSubstr("0.8722, 0.8806, 0.8972")));
}

// The document's lesson with other counts of right answers: 1, 2, 4 heads, two runs each.
std::string text_with(const std::array<std::array<std::size_t, 2>, 3>& right, const HeadsSettings& settings = {}) {
  HeadsLesson lesson = document_lesson();
  lesson.settings = settings;
  for (std::size_t at = 0; at < 3; ++at) {
    for (std::size_t run = 0; run < 2; ++run) lesson.with_position[at][run].correct = right[at][run];
  }
  return flowing(explained(lesson));
}

TEST(HeadsExplained, MeansRiseOnlyWhereEachIsAboveTheOneBefore) {
  EXPECT_THAT(text_with({{{140, 150}, {145, 146}, {150, 150}}}), HasSubstr("The means rise with the number of heads"));
  EXPECT_THAT(text_with({{{165, 165}, {164, 166}, {168, 169}}}),
              HasSubstr("The means never fall with the number of heads, but one step brings nothing: 0.9167, 0.9167"));
  EXPECT_THAT(text_with({{{140, 140}, {150, 150}, {145, 145}}}), HasSubstr("The means do not rise step by step"));
  const std::string same = text_with({{{140, 140}, {139, 141}, {140, 140}}});
  EXPECT_THAT(same, HasSubstr("The means are all the same"));
  EXPECT_THAT(same, HasSubstr("the mean neither gains nor loses;"));
  EXPECT_THAT(same, HasSubstr("here neither moves the figure"));
  EXPECT_THAT(text_with({{{119, 119}, {119, 119}, {119, 119}}}), HasSubstr("the best mean is the baseline's."));
}

TEST(HeadsExplained, AChoiceIsWrongOnlyWhereTheMeanTakesAnother) {
  const char* wrong = "a number of heads chosen from one run is chosen wrongly";
  EXPECT_THAT(text_with({{{160, 154}, {158, 159}, {157, 166}}}), HasSubstr(std::string(wrong) + ", here from run 1."));
  EXPECT_THAT(text_with({{{154, 160}, {159, 158}, {166, 157}}}), HasSubstr(std::string(wrong) + ", here from run 2."));
  EXPECT_THAT(text_with({{{170, 100}, {160, 160}, {100, 170}}}), HasSubstr(std::string(wrong) + ", here from either."));
  const std::string right = text_with({{{140, 150}, {170, 171}, {165, 171}}});
  EXPECT_THAT(right,
              HasSubstr("takes 2 heads after run 1 and 2 or 4 heads after run 2; the mean of both takes 2 heads."));
  EXPECT_THAT(right, HasSubstr("Here neither run alone leads away"));
  EXPECT_THAT(right, Not(HasSubstr(wrong)));
  EXPECT_THAT(text_with({{{150, 150}, {150, 149}, {150, 148}}}), HasSubstr("takes 1, 2 or 4 heads after run 1"));
}

// Seeds closer than the 720 series share some of them.
TEST(HeadsExplained, TheSeedItSuggestsSharesNoSeries) {
  const std::array<std::array<std::size_t, 2>, 3> agreeing = {{{140, 140}, {150, 150}, {160, 161}}};
  EXPECT_THAT(text_with(agreeing), HasSubstr("--seed 20261218 may choose otherwise"));
  EXPECT_THAT(text_with(agreeing, {.seed = kMostHeadsSeed}), HasSubstr("--seed 9223372036854774807 may"));
}

TEST(HeadsExplained, TooLittleTrainingTellsNothingOfPosition) {
  const char* untold = "too little to tell what position is worth";
  const std::string one = text_with({{{119, 119}, {119, 119}, {119, 119}}}, {.epochs = 1});
  EXPECT_THAT(one,
              HasSubstr("0.6611 with two position channels and 0.6611 without: 1 epoch of training is too little"));
  EXPECT_THAT(one, HasSubstr("With position they reach 0.6611 and 0.6611: 1 epoch"));
  EXPECT_THAT(one, HasSubstr("; 1 epoch of descent"));
  const std::string first = text_with({{{119, 119}, {147, 119}, {119, 119}}}, {.epochs = 50});
  EXPECT_THAT(first, HasSubstr("run 1 of 2 heads reaches 0.8167 with and 0.6611 without. Run 2 does not show it: it "
                               "reaches 0.6611 with two position channels and 0.6611 without."));
  EXPECT_THAT(first, Not(HasSubstr(untold)));
  EXPECT_THAT(text_with({{{119, 119}, {119, 121}, {119, 119}}}), HasSubstr("these runs do not tell what position"));
  EXPECT_THAT(document_text(), Not(HasSubstr("what position is worth")));
}

// Equal counts are equal, whatever their quotient's last bit: 127 of 180 is also 1 - 53 / 180.
TEST(HeadsExplained, TheBaselineIsReachedByCount) {
  HeadsLesson lesson = document_lesson();
  for (std::size_t i = 0; i < kHeadsHeldOut; ++i) lesson.series[kHeadsFirstHeldOut + i].label = i < 53 ? 1 : 0;
  for (HeadsRun& run : lesson.without_position) run.correct = 127;
  EXPECT_THAT(flowing(explained(lesson)), HasSubstr("They reach the baseline exactly, and no more."));
}

TEST(HeadsExplained, SaysWhyTheDocumentHasAnotherDifference) {
  EXPECT_THAT(document_text(), HasSubstr("0,0055 is the difference of two rounded figures; 1 / 180 is 0.0056."));
  EXPECT_THAT(other_text(), Not(HasSubstr("0,0055")));
}

TEST(HeadsExplained, SaysWhatAChangeDid) {
  const std::string text = explained(other_lesson(), &document_lesson());
  EXPECT_THAT(text, HasSubstr("What you changed, and what it did to the published run\n   seed 20260218 -> 7\n"
                              "   epochs 150 -> 60\n   mean accuracy of 1 head:"));
  EXPECT_THAT(text, HasSubstr(fmt::format("4 heads: 0.8972 -> {:.4f}\n", mean_of(other_lesson().with_position[2]))));
  EXPECT_THAT(other_text(), Not(HasSubstr("What you changed")));
}

// A16
TEST(HeadsExplained, SaysWhichRunSplitsByRegion) {
  EXPECT_THAT(document_text(), HasSubstr("Run 1 of 2 heads does not split by the two regions (centres 5.57 and 6.30)"));
  EXPECT_THAT(document_text(), HasSubstr("Run 2 of 2 heads splits by the two regions (centres 3.30 and 8.55)"));
  EXPECT_THAT(document_text(), HasSubstr("run 1 is 0.0056 lower (1 of 180 series)"));
  const HeadsRun& run = other_lesson().with_position[1][0];
  EXPECT_THAT(other_text(), HasSubstr(fmt::format("(centres {:.2f} and {:.2f})", run.centres[0], run.centres[1])));
  EXPECT_THAT(other_text(), Not(HasSubstr("centres 3.30 and 8.55")));
}

// A17, A18, A19, A20
TEST(HeadsExplained, OrderTestShowsThatPositionIsAPrecondition) {
  EXPECT_THAT(document_text(), HasSubstr("with position 0.8778 0.8833 0.3173 0.9753"));
  EXPECT_THAT(document_text(), HasSubstr("without position 0.6611 0.6611 0.0000 0.0000"));
  EXPECT_THAT(document_text(), HasSubstr("Shuffling moves not one bit of any of their 360 probabilities"));
  EXPECT_THAT(other_text(), HasSubstr(fmt::format("{:.4f} {:.4f} ", other_lesson().with_position[1][1].mean_change,
                                                  other_lesson().with_position[1][1].largest_change)));
}

// A22
TEST(HeadsExplained, NamesWhatIsMissingWithThisRunsFigures) {
  EXPECT_THAT(document_text(), HasSubstr("All 33 parameters here"));
  EXPECT_THAT(document_text(), HasSubstr("a projection of its own for every step"));
  EXPECT_THAT(document_text(), HasSubstr("skip connections"));
  EXPECT_THAT(document_text(), HasSubstr("A recurrent network gets order from its structure"));
  EXPECT_THAT(document_text(), HasSubstr("reaches 0.8833 with two position channels and 0.6611 without"));
  EXPECT_THAT(other_text(), HasSubstr(fmt::format("reaches {:.4f} with two position channels and {:.4f} without",
                                                  other_lesson().with_position[1][1].accuracy(),
                                                  other_lesson().without_position[1].accuracy())));
}

// A dot for each run at its accuracy: 160, 154 of 180 on a line from 0.65 to 0.95 of 51 columns.
TEST(HeadsExplained, DotsStandAtTheAccuracies) {
  const std::string text = explained(document_lesson());
  std::string line(51, ' ');
  line[2] = '|';   // (0.6611 - 0.65) / 0.30 * 50 = 1.85
  line[40] = 'o';  // (0.8889 - 0.65) / 0.30 * 50 = 39.8
  line[34] = 'o';  // (0.8556 - 0.65) / 0.30 * 50 = 34.3
  EXPECT_THAT(text, HasSubstr("1 head   0.65 " + line + " 0.95"));
}

// Two columns a step, the largest mean weight a full block.
TEST(HeadsExplained, BarsAreTheMeanWeights) {
  const std::string text = explained(document_lesson());
  const HeadsRun& run = document_lesson().with_position[1][1];
  static constexpr const char* kHeights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto first = run.mean_weights(0);
  const auto second = run.mean_weights(1);
  const double largest =
      std::max(*std::max_element(first.begin(), first.end()), *std::max_element(second.begin(), second.end()));
  std::string expected;
  for (const double weight : second) {
    const char* height = kHeights[static_cast<int>(std::floor(weight / largest * 8 + 0.5))];
    expected += std::string(height) + height;
  }
  EXPECT_THAT(text, HasSubstr("head 2  " + expected + "  centre  8.55"));
  EXPECT_THAT(expected, HasSubstr("█"));
}

TEST(HeadsExplained, LinesFitATerminal) {
  for (const std::string& text : {explained(document_lesson()), explained(other_lesson())}) {
    std::size_t column = 0;
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;
      column = c == '\n' ? 0 : column + 1;
      EXPECT_LE(column, 120U);
    }
  }
}

// Every key of the golden file, and every list as long as there.
void expect_keys(const JsonAt& ours, const JsonAt& theirs) {
  if (theirs.value().kind() == Json::Kind::object) {
    for (const std::string& key : theirs.keys()) {
      ASSERT_TRUE(ours.has(key)) << theirs.path() << "." << key;
      expect_keys(ours[key], theirs[key]);
    }
  } else if (theirs.value().kind() == Json::Kind::array) {
    const auto a = ours.items();
    const auto b = theirs.items();
    ASSERT_EQ(a.size(), b.size()) << theirs.path();
    for (std::size_t i = 0; i < a.size(); ++i) expect_keys(a[i], b[i]);
  } else if (theirs.value().kind() == Json::Kind::string) {
    (void)ours.string();
  } else {
    EXPECT_NEAR(ours.real(), theirs.real(), testing::kTolerance) << theirs.path();
  }
}

TEST(HeadsJson, HasTheGoldenFilesKeysAndNumbers) {
  Pool pool(1);
  const Json json = as_json(document_lesson(), kernels::Executor{pool});
  const Json read = parse_json(text_of(json), "json");
  expect_keys(JsonAt(read, "json"), JsonAt(testing::golden(), "golden"));
  EXPECT_EQ(JsonAt(read, "json")["runs"].items()[7]["name"].string(), "nopos H=2 run2");
}

}  // namespace
}  // namespace dikkat::lessons
