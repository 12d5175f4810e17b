// What is shown of heads and activations, worked out by hand.
#include "dikkat/cli/inspection_view.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dikkat/cli/csv.h"
#include "dikkat/cli/inspection_files.h"

namespace dikkat::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

inspect::HeadSummary summary(std::size_t layer, std::size_t head, const inspect::HeadFacts& facts) {
  return {.layer = layer, .head = head, .facts = facts, .small = {2, {1.0, std::nan(""), 0.25, 0.75}}};
}

TEST(InspectionView, SaysWhereAHeadLooks) {
  EXPECT_EQ(looks_at({.self = 0.5}), "itself");
  EXPECT_EQ(looks_at({.self = 0.2, .previous = 0.6}), "the token before");
  EXPECT_EQ(looks_at({.first = 0.9}), "the first token");
  EXPECT_EQ(looks_at({.distance = 20, .evenness = 0.8}), "all it sees, evenly");
  EXPECT_EQ(looks_at({.distance = 2.9, .evenness = 0.3}), "its neighbourhood");
  EXPECT_EQ(looks_at({.distance = 3.0, .evenness = 0.3}), "here and there");
}

TEST(InspectionView, TheTableHasALineAHead) {
  const std::string table = facts_table({summary(
      0, 1, {.self = 0.126, .previous = 0.75, .first = 0.0625, .distance = 1.25, .spread = 1.5, .evenness = 0.5})});
  EXPECT_EQ(table,
            "   head   self  previous  first  distance  spread  looks mostly at\n"
            "    0.1   0.13      0.75   0.06       1.2     1.5  the token before\n");
}

TEST(InspectionView, TheMostFocusedIsTheLeastEven) {
  const std::vector<inspect::HeadSummary> all = {summary(0, 0, {.evenness = 0.5}), summary(1, 3, {.evenness = 0.25}),
                                                 summary(2, 0, {.evenness = 0.25})};
  EXPECT_EQ(most_focused(all).layer, 1U);
}

std::string repeated(const std::string& line, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += line;
  return all;
}

TEST(InspectionView, TheOverviewHasARowOfThumbnailsALayer) {
  const std::vector<inspect::HeadSummary> all = {summary(0, 0, {}), summary(0, 1, {}), summary(1, 0, {})};
  const std::string text = overview(all, {.columns = 20});
  EXPECT_EQ(text,
            "0.0       0.1\n"
            "@@@@@     @@@@@\n"
            "@@@@@     @@@@@\n"
            ":::::#### :::::####\n"
            ":::::#### :::::####\n"
            "\n"
            "1.0\n" +
                repeated("@@@@@@@@@@\n", 5) + repeated("::::::::::#########\n", 4) + "\n");
}

TEST(InspectionView, ManyHeadsGoOnTheNextLine) {
  std::vector<inspect::HeadSummary> all;
  for (std::size_t h = 0; h < 5; ++h) all.push_back(summary(0, h, {}));
  const std::string text = overview(all, {.columns = 20});
  EXPECT_THAT(text, HasSubstr("0.0    0.1\n"));
  EXPECT_THAT(text, HasSubstr("0.2    0.3\n"));
  EXPECT_THAT(text, HasSubstr("\n0.4\n"));
}

std::vector<inspect::TokenLabel> letters(std::size_t count, std::size_t given) {
  std::vector<inspect::TokenLabel> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back({static_cast<text::Token>(i), std::string(1, static_cast<char>('a' + i % 26)), i >= given});
  }
  return labels;
}

TEST(InspectionView, ShowsAsManyTokensAsFit) {
  const Look look{.columns = 80};
  EXPECT_EQ(shown_tokens(letters(5, 5), look).count, 5U);
  EXPECT_EQ(shown_tokens(letters(100, 100), look).count, 69U);
  EXPECT_EQ(shown_tokens(letters(100, 100), look).first, 0U);
  EXPECT_EQ(shown_tokens(letters(100, 90), look).first, 31U) << "the end, where the model wrote it";
}

TEST(InspectionView, ALargeMapHasItsTokensAndMarks) {
  const std::string text = large_map({1.0, std::nan(""), 0.25, 0.75}, {0, 2}, letters(2, 1), {});
  EXPECT_EQ(text,
            "    a b\n"
            "  a @@\n"
            "> b ::##\n"
            "0.00  .:-=+*#%@ 1.00\n"
            "> was written by the model\n");
  EXPECT_THAT(large_map({1.0}, {3, 1}, letters(5, 5), {}), HasSubstr("\nd @@\n"));
  EXPECT_THAT(large_map({1.0}, {3, 1}, letters(5, 5), {}),
              HasSubstr("(rows and columns 3 to 3 of 0 to 4 shown; --columns 16 shows all)"));
  EXPECT_THAT(large_map({1.0}, {0, 1}, letters(1, 1), {}), Not(HasSubstr("written")));
}

TEST(InspectionView, FactsOfAnActivation) {
  const Tensor x = Tensor::empty({2, 1, 3}, DType::f32);
  const std::vector<float> values = {1, -2, 3, 0, std::numeric_limits<float>::infinity(), -6};
  std::copy(values.begin(), values.end(), x.data<float>());
  const ActivationFacts facts = facts_of("x", x);
  EXPECT_EQ(facts.not_finite, 1U);
  EXPECT_DOUBLE_EQ(facts.mean, -4.0 / 5);
  EXPECT_DOUBLE_EQ(facts.root_mean_square, std::sqrt(50.0 / 5));
  EXPECT_DOUBLE_EQ(facts.deviation, std::sqrt(10.0 - 0.64));
  EXPECT_EQ(facts.smallest, -6.0);
  EXPECT_EQ(facts.largest, 3.0);
  EXPECT_EQ(facts.small.side, 2U);
  EXPECT_EQ(facts.small.values, (std::vector<double>{2, 3, 0, 6}));
  EXPECT_THAT(activations_table({facts}), HasSubstr("(2,1,3)"));
  EXPECT_THAT(activations_table({facts}), HasSubstr("1 not finite"));
  EXPECT_EQ(small_map(facts, {}), "\nx: magnitude, rows from above, at most 6\n  -+\n   @\n");
}

TEST(InspectionView, AnActivationWithoutAFiniteNumberHasNoFacts) {
  const Tensor x = Tensor::empty({1, 2}, DType::f64);
  x.fill(std::nan(""));
  const ActivationFacts facts = facts_of("x", x);
  EXPECT_EQ(facts.not_finite, 2U);
  EXPECT_TRUE(std::isnan(facts.mean));
  EXPECT_THAT(activations_table({facts}), HasSubstr("nan"));
  EXPECT_THAT(small_map(facts, {}), HasSubstr("x: magnitude"));
}

TEST(InspectionFiles, FieldsOfCsvAreQuoted) {
  EXPECT_EQ(csv_field("a"), "\"a\"");
  EXPECT_EQ(csv_field("\""), "\"\"\"\"");
  EXPECT_EQ(csv_field("a,\n"), "\"a,\n\"");
  EXPECT_EQ(csv_field("\xC3"), "\"\\xC3\"");
}

TEST(InspectionFiles, NumbersAreAsShortAsTheirKindAllows) {
  const Tensor single = Tensor::empty({3}, DType::f32);
  single.data<float>()[0] = 0.1F;
  single.data<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  single.data<float>()[2] = 1e-20F;
  EXPECT_EQ(text_of(json_number(single, 0)), "0.1");
  EXPECT_EQ(text_of(json_number(single, 1)), "null");
  EXPECT_EQ(shortest(single, 0), "0.1");
  EXPECT_EQ(shortest(single, 2), "1e-20");
  const Tensor real = Tensor::empty({1}, DType::f64);
  real.data<double>()[0] = 0.1;
  EXPECT_EQ(shortest(real, 0), "0.1");
}

}  // namespace
}  // namespace dikkat::cli
