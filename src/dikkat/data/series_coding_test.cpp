#include "dikkat/data/series_coding.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include "dikkat/base/testing.h"

namespace dikkat::data {
namespace {

using dikkat::testing::error_of;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two channels; lengths 2, 1, 1.
SeriesTable small_table() {
  SeriesTable table;
  table.channels = 2;
  table.channel_names = {"x", "y"};
  table.values = {1, 10, 3, 10, 8, 10, 100, -7};
  table.lengths = {2, 1, 1};
  table.labels = {"b", "a", "b"};
  table.names = {"row 1", "row 2", "row 3"};
  return table;
}

const std::vector<std::size_t> kFirstTwo{0, 1};

SeriesTable labelled(const std::vector<std::string>& labels) {
  SeriesTable table;
  table.channel_names = {"value"};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    table.values.push_back(static_cast<double>(i));
    table.lengths.push_back(1);
    table.names.push_back("row " + std::to_string(i + 1));
  }
  table.labels = labels;
  return table;
}

std::vector<std::size_t> all_rows(const SeriesTable& table) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table.count(); ++i) rows.push_back(i);
  return rows;
}

SeriesCoding coding_of(const SeriesTable& table, SeriesTarget target = SeriesTarget::label) {
  return series_coding_of(table, all_rows(table), target, "s.csv");
}

TEST(SeriesCoding, TakesMeanAndDeviationFromTheTrainingPartOnly) {
  const SeriesCoding coding = series_coding_of(small_table(), kFirstTwo, SeriesTarget::label, "s.csv");
  // x: 1, 3, 8: mean 4, squares 9 + 1 + 16 over 3; y: constant
  EXPECT_THAT(coding.means, ElementsAre(4, 10));
  EXPECT_THAT(coding.deviations, ElementsAre(DoubleEq(std::sqrt(26.0 / 3)), 1));
  EXPECT_EQ(coding.longest, 2U);
  EXPECT_THAT(coding.labels, ElementsAre("a", "b"));
  EXPECT_EQ(coding.outputs(), 1U);
}

// The mean of a constant that binary numbers do not hold exactly may round; its deviation must not be of rounding.
TEST(SeriesCoding, OfAConstantIsZeroExactly) {
  SeriesTable table = labelled({"a", "b", "a"});  // 0.1 + 0.1 + 0.1 over 3 is not 0.1
  table.values.assign(3, 0.1);
  const SeriesCoding coding = coding_of(table);
  EXPECT_THAT(coding.means, ElementsAre(0.1));
  EXPECT_THAT(coding.deviations, ElementsAre(1));
  EXPECT_THAT(coded(table, coding, "s.csv").values, ::testing::Each(0.0));
}

TEST(SeriesCoding, OrdersLabelsByValueIfAllAreNumbersElseByByte) {
  EXPECT_THAT(coding_of(labelled({"10", "9", "-1", "9"})).labels, ElementsAre("-1", "9", "10"));
  EXPECT_THAT(coding_of(labelled({"10", "9", "b", "é", "B"})).labels, ElementsAre("10", "9", "B", "b", "é"));
  const Error error = error_of([] { (void)coding_of(labelled({"1", "2", "1.0"})); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_THAT(error.message(), HasSubstr("'1' and '1.0' are the same number"));
}

TEST(SeriesCoding, RefusesTooFewClasses) {
  const Error error = error_of([] { (void)coding_of(labelled({"a", "a"})); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_THAT(error.message(), HasSubstr("one class only"));
  EXPECT_EQ(error.place().file, "s.csv");
  EXPECT_EQ(error_of([] { (void)series_coding_of(labelled({"a"}), {}, SeriesTarget::label, ""); }).kind(),
            ErrorKind::malformed);
  SeriesTable without = labelled({"a", "b"});
  without.labels.clear();
  EXPECT_THAT(error_of([&] { (void)coding_of(without); }).message(), HasSubstr("no labels"));
}

TEST(SeriesCoding, OfNumbersStandardisesThem) {
  const SeriesTable table = labelled({"1", "2.5", "-5e-1"});
  const SeriesCoding coding = coding_of(table, SeriesTarget::number);
  EXPECT_THAT(coding.labels, IsEmpty());
  EXPECT_EQ(coding.outputs(), 1U);
  EXPECT_DOUBLE_EQ(coding.target_mean, 1);
  EXPECT_DOUBLE_EQ(coding.target_deviation, std::sqrt(1.5));
  const CodedSeries series = coded(table, coding, "s.csv");
  EXPECT_THAT(series.numbers, ElementsAre(0, DoubleEq(1.5 / std::sqrt(1.5)), DoubleEq(-1.5 / std::sqrt(1.5))));
  EXPECT_THAT(series.classes, ElementsAre(-1, -1, -1));
  const Error error = error_of([] { (void)coding_of(labelled({"1", "two"}), SeriesTarget::number); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.place().key, "row 2");
}

TEST(SeriesCoding, RefusesValuesTooLargeToComputeWith) {
  SeriesTable table = labelled({"a", "b"});
  table.values = {1e200, -1e200};
  EXPECT_EQ(error_of([&] { (void)coding_of(table); }).kind(), ErrorKind::malformed);
  const SeriesCoding coding = coding_of(labelled({"a", "b"}));
  table.values = {0, 1e300};
  EXPECT_THAT(error_of([&] { (void)coded(table, coding, "t.csv"); }).message(), HasSubstr("row 2"));
}

TEST(SeriesCoding, ReadsBackWhatItWrites) {
  const SeriesCoding coding = series_coding_of(small_table(), kFirstTwo, SeriesTarget::label, "s.csv");
  const SeriesCoding back = series_coding_from(coding.to_json(), "series.json");
  EXPECT_EQ(back.to_json(), coding.to_json());
  EXPECT_EQ(back.fingerprint(), coding.fingerprint());
  EXPECT_EQ(back.means, coding.means);
  EXPECT_EQ(back.deviations, coding.deviations);
  EXPECT_EQ(back.channel_names, coding.channel_names);
  EXPECT_EQ(back.labels, coding.labels);
  EXPECT_EQ(back.longest, 2U);
  const SeriesCoding numbers = coding_of(labelled({"1", "2"}), SeriesTarget::number);
  EXPECT_EQ(series_coding_from(numbers.to_json(), "series.json").target_mean, 1.5);
}

std::string changed(const std::string& from, const std::string& to) {
  std::string json = series_coding_of(small_table(), kFirstTwo, SeriesTarget::label, "").to_json();
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << json;
  return json.replace(at, from.size(), to);
}

TEST(SeriesCoding, RefusesWhatItWouldNotWrite) {
  const std::array<std::string, 3> cases[] = {
      // what, by what, the key that is refused
      {"dikkat series", "other", "format"},
      {"\"target\": \"label\"", "\"target\": \"word\"", "target"},
      {"\"target\": \"label\"", "\"target\": \"number\"", "labels"},
      {"\"mean\": 4.0", "\"mean\": \"4\"", "channels[0].mean"},
      {"\"mean\": 4.0", "\"mean\": 4.0, \"more\": 1", "channels[0]"},
      {"\"deviation\": 1.0", "\"deviation\": 0.0", "channels[1].deviation"},
      {"\"deviation\": 1.0", "\"deviation\": -1.0", "channels[1].deviation"},
      {"\"name\": \"y\"", "\"name\": \"x\"", "channels[1].name"},
      {"\"longest\": 2", "\"longest\": 0", "longest"},
      {"\"longest\": 2", "\"longest\": 2, \"extra\": 2", "top level"},
      {"\"target_mean\": 0.0", "\"target_mean\": 1.0", "target_mean"},
      {"\"target_deviation\": 1.0", "\"target_deviation\": 0.0", "target_deviation"},
      {"\"b\"", "\"a\"", "labels"},
      {"\"a\"", "\"c\"", "labels"},
  };
  for (const auto& [from, to, key] : cases) {
    const std::string json = changed(from, to);
    const Error error = error_of([&] { (void)series_coding_from(json, "f"); });
    EXPECT_EQ(error.kind(), ErrorKind::malformed) << error.what();
    EXPECT_THAT(error.place().key, HasSubstr(key)) << error.what();
    EXPECT_EQ(error.place().file, "f");
  }
  EXPECT_EQ(error_of([] { (void)series_coding_from(changed("\"version\": 1", "\"version\": 2"), "f"); }).kind(),
            ErrorKind::incompatible);
}

TEST(CodedSeries, AreStandardisedChannelByChannel) {
  const SeriesCoding coding = series_coding_of(small_table(), kFirstTwo, SeriesTarget::label, "s.csv");
  const CodedSeries series = coded(small_table(), coding, "s.csv");
  const double d = std::sqrt(26.0 / 3);
  EXPECT_THAT(series.values,
              ElementsAre(DoubleEq(-3 / d), 0, DoubleEq(-1 / d), 0, DoubleEq(4 / d), 0, DoubleEq(96 / d), -17));
  EXPECT_THAT(series.first_step, ElementsAre(0, 2, 3, 4));
  EXPECT_EQ(series.count(), 3U);
  EXPECT_EQ(series.length(0), 2U);
  EXPECT_THAT(series.classes, ElementsAre(1, 0, 1));
  EXPECT_THAT(series.numbers, IsEmpty());
}

TEST(CodedSeries, TakeChannelsByName) {
  const SeriesCoding coding = series_coding_of(small_table(), kFirstTwo, SeriesTarget::label, "s.csv");
  SeriesTable table = small_table();
  table.channel_names = {"y", "x"};
  for (std::size_t i = 0; i < table.values.size(); i += 2) std::swap(table.values[i], table.values[i + 1]);
  EXPECT_EQ(coded(table, coding, "").values, coded(small_table(), coding, "").values);
  table = small_table();
  table.channel_names = {"value 1", "value 2"};  // nameless: by place
  EXPECT_EQ(coded(table, coding, "").values, coded(small_table(), coding, "").values);
  table.channel_names = {"x", "z"};
  EXPECT_EQ(error_of([&] { (void)coded(table, coding, "t"); }).kind(), ErrorKind::incompatible);
  EXPECT_THAT(error_of([&] { (void)coded(table, coding, "t"); }).message(), HasSubstr("no channel 'z'"));
  EXPECT_THAT(error_of([&] { (void)coded(labelled({"a"}), coding, "t"); }).message(), HasSubstr("1 channels"));
}

TEST(CodedSeries, RefuseALabelThatTrainingDidNotHave) {
  const SeriesCoding coding = coding_of(labelled({"walking", "running"}));
  const Error error = error_of([&] { (void)coded(labelled({"walking", "runing"}), coding, "t.csv"); });
  EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  EXPECT_EQ(error.place().file, "t.csv");
  EXPECT_EQ(error.place().key, "row 2");
  EXPECT_EQ(error.place().hint, "did you mean 'running'?");
}

TEST(CodedSeries, TakeNumbersWrittenAnotherWayAsTheSameLabel) {
  const SeriesCoding coding = coding_of(labelled({"10", "9", "-1"}));
  EXPECT_THAT(coding.labels, ElementsAre("-1", "9", "10"));
  EXPECT_EQ(coding.outputs(), 3U);
  EXPECT_THAT(coded(labelled({"1.0000000e+01", "9.0", "-1"}), coding, "").classes, ElementsAre(2, 1, 0));
  EXPECT_EQ(error_of([&] { (void)coded(labelled({"8"}), coding, ""); }).kind(), ErrorKind::incompatible);
}

TEST(CodedSeries, MayHaveNoLabels) {
  const SeriesCoding coding = coding_of(labelled({"a", "b"}));
  SeriesTable table = labelled({"", ""});
  table.labels.clear();
  EXPECT_THAT(coded(table, coding, "").classes, ElementsAre(-1, -1));
}

// Squares of 1e-310 are nothing; the deviation of x and -x is x all the same.
TEST(SeriesCoding, TinyValuesAreStandardisedToo) {
  for (const double x : {0x1p-1040, 0x1p-600, 0x1p-520, 0x1p-501, 0x1p-400}) {
    SeriesTable table = small_table();
    table.channels = 1;
    table.channel_names = {"value"};
    table.lengths = {1, 1};
    table.values = {x, -x};
    table.labels = {"a", "b"};
    table.names = {"row 1", "row 2"};
    const std::vector<std::size_t> both{0, 1};
    const SeriesCoding coding = series_coding_of(table, both, SeriesTarget::label, "s.csv");
    EXPECT_EQ(coding.deviations.front(), x);
    EXPECT_EQ(coded(table, coding, "s.csv").values, (std::vector<double>{1, -1}));
    EXPECT_EQ(series_coding_from(coding.to_json(), "s").deviations.front(), x);
  }
}

}  // namespace
}  // namespace dikkat::data
