#include "dikkat/lessons/heads_data.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "dikkat/lessons/heads_testing.h"
#include "dikkat/lessons/published_generator.h"

namespace dikkat::lessons {
namespace {

using testing::at;
using ::testing::HasSubstr;
using testing::numbers;
using ::testing::StartsWith;

constexpr std::uint64_t kSeed = 20260218;

// A1
TEST(HeadsData, GeneratorIsTheDocuments) {
  PublishedGenerator generator(kSeed);
  for (const double expected : numbers(at("first_10_uniforms_seed_20260218"))) EXPECT_EQ(generator.next(), expected);
}

// The document takes t ^ (t >> 16) of the whole number before it keeps 32 bits, so that bit 32 reaches bit 16: of
// 2^32 + 2^16 there remains 2^16 ^ (2^16 + 1) = 1, which is also what remains of 1.
TEST(HeadsData, SeedBeyond32BitsIsTakenAsTheDocumentTakesIt) {
  const auto first = [](std::uint64_t seed) { return PublishedGenerator(seed).next(); };
  EXPECT_NE(first(std::uint64_t{1} << 32U), first(0));
  EXPECT_EQ(first((std::uint64_t{1} << 32U) | 0x10000U), first(1U));
}

// A2
TEST(HeadsData, SeriesAreTheDocuments) {
  const auto series = heads_series(kSeed);
  const auto expected = at("sequences").items();
  ASSERT_EQ(series.size(), 720U);
  ASSERT_EQ(expected.size(), 720U);
  for (std::size_t i = 0; i < 720; ++i) {
    const auto readings = numbers(expected[i]["oku"]);
    ASSERT_TRUE(std::equal(readings.begin(), readings.end(), series[i].readings.begin(), series[i].readings.end()))
        << i;
  }
}

TEST(HeadsData, RoundingIsToTheNearestTiesToEven) {
  EXPECT_EQ(rounded_to_thousandths(0.0625), 0.062);  // exact ties in binary
  EXPECT_EQ(rounded_to_thousandths(0.1875), 0.188);
  EXPECT_EQ(rounded_to_thousandths(-1.0005000000000001), -1.001);
  EXPECT_EQ(rounded_to_thousandths(0.00049), 0.0);
}

// A3
TEST(HeadsData, LabelsAreTheDocuments) {
  const auto series = heads_series(kSeed);
  const auto expected = at("sequences").items();
  for (std::size_t i = 0; i < 720; ++i) EXPECT_EQ(series[i].label, expected[i]["y"].integer()) << i;
}

// A3
TEST(HeadsData, LabelComparesTheTwoRegionsAndNeitherStep0NorStep6) {
  std::array<double, kHeadsSteps> readings{};
  EXPECT_EQ(heads_label(readings), 0);
  readings[0] = readings[6] = 100;
  EXPECT_EQ(heads_label(readings), 0);
  readings[7] = 1.5;  // a mean of 0.3 is not above 0.30
  EXPECT_EQ(heads_label(readings), 0);
  readings[11] = 0.001;
  EXPECT_EQ(heads_label(readings), 1);
  readings[1] = 0.002;
  EXPECT_EQ(heads_label(readings), 0);
  readings[5] = -0.003;
  EXPECT_EQ(heads_label(readings), 1);
}

// A4
TEST(HeadsData, First200TrainAndTheLast180AreHeldOut) {
  const HeadsLesson& lesson = testing::document_lesson();
  EXPECT_EQ(lesson.training().size(), 200U);
  EXPECT_EQ(lesson.held_out().size(), 180U);
  EXPECT_EQ(lesson.training().data(), lesson.series.data());
  EXPECT_EQ(lesson.held_out().data(), lesson.series.data() + 540);
}

// A5
TEST(HeadsData, CountsAndBaselineAreTheDocuments) {
  const HeadsLesson& lesson = testing::document_lesson();
  EXPECT_EQ(rising(lesson.training()), 63U);
  EXPECT_EQ(rising(lesson.held_out()), 61U);
  EXPECT_EQ(rising(lesson.series), at("label_positives")["all720"].count());
  EXPECT_EQ(baseline(lesson.held_out()), 119.0 / 180.0);
}

TEST(HeadsData, BaselineIsOfTheMoreFrequentLabelWhicheverItIs) {
  std::vector<HeadsSeries> series(4);
  for (std::size_t i = 0; i < 3; ++i) series[i].label = 1;
  EXPECT_EQ(baseline(series), 0.75);
}

// A17: draws of the generator say which reading goes where; the readings stay the same twelve.
TEST(HeadsData, ShuffleIsFisherYatesFromTheEnd) {
  HeadsSeries series{};
  for (std::size_t t = 0; t < kHeadsSteps; ++t) series.readings[t] = static_cast<double>(t);
  const HeadsSeries seen = shuffled(series, kSeed, 5);
  PublishedGenerator generator(kSeed + 4000 + 5);
  std::vector<double> expected(series.readings.begin(), series.readings.end());
  for (std::size_t i = 11; i > 0; --i) {
    std::swap(expected[i], expected[static_cast<std::size_t>(generator.next() * static_cast<double>(i + 1))]);
  }
  EXPECT_THAT(seen.readings, ::testing::ElementsAreArray(expected));
  EXPECT_THAT(seen.readings, ::testing::UnorderedElementsAreArray(series.readings));
}

TEST(HeadsData, CompensatedSumKeepsWhatAPlainSumLoses) {
  EXPECT_EQ(compensated_sum(std::vector<double>{1, 1e100, 1, -1e100}), 2.0);
  EXPECT_EQ(compensated_sum(std::vector<double>(10, 0.1)), 1.0);  // as Python 3.12 has it; plain: 0.9999999999999999
}

TEST(HeadsData, FloatsArePrintedAsPythonPrintsThem) {
  EXPECT_EQ(python_float(0.0), "0.0");
  EXPECT_EQ(python_float(-0.0), "-0.0");
  EXPECT_EQ(python_float(2), "2.0");
  EXPECT_EQ(python_float(-1.114), "-1.114");
  EXPECT_EQ(python_float(0.001), "0.001");
}

TEST(HeadsData, CsvHasAHeaderAndARowForEachSeriesLabelFirst) {
  const auto series = heads_series(kSeed);
  const std::string text = heads_csv(series);
  EXPECT_THAT(text, StartsWith("label,step_0,step_1,step_2,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 721);
  EXPECT_THAT(
      text, HasSubstr("\ndoes not rise,0.0,0.893,-0.222,-0.542,-0.404,-1.114,0.234,-1.03,-1.493,0.534,-1.807,0.05\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), ','), 721 * 12);
}

}  // namespace
}  // namespace dikkat::lessons
