#include "dikkat/train/check_series.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "dikkat/random/streams.h"

namespace dikkat::train {
namespace {

using ::testing::HasSubstr;

// `count` series of 8 steps and two channels, labels by turns; every third is for validation.
struct Example {
  explicit Example(std::size_t count = 60, std::size_t classes = 2) {
    table.channels = 2;
    table.channel_names = {"x", "y"};
    const random::Stream stream = random::stream(1, "series");
    for (std::uint32_t row = 0; row < count; ++row) {
      for (std::uint32_t i = 0; i < 16; ++i) table.values.push_back(random::uniform(stream, {row, i, 0, 0}));
      table.lengths.push_back(8);
      table.labels.push_back(std::string(1, static_cast<char>('a' + row % classes)));
      table.names.push_back("row " + std::to_string(row + 1));
      (row % 3 == 2 ? validation : training).push_back(row);
    }
  }
  [[nodiscard]] Findings findings(data::SeriesTarget target = data::SeriesTarget::label) const {
    return check_series(
        {.table = table, .training = training, .validation = validation, .target = target, .name = "s.csv"});
  }
  double& value(std::size_t row, std::size_t step, std::size_t channel) {
    return table.values[row * 16 + step * 2 + channel];
  }
  data::SeriesTable table;
  std::vector<std::size_t> training;
  std::vector<std::size_t> validation;
};

Finding found_in_series(const Findings& findings, Severity severity, std::string_view check) {
  for (const Finding& finding : findings) {
    if (finding.severity == severity && finding.check == check) {
      EXPECT_FALSE(finding.remedy.empty());
      return finding;
    }
  }
  ADD_FAILURE() << "no " << text_of(severity) << " of " << check;
  return {};
}

TEST(CheckSeries, OfGoodSeriesAreFine) {
  for (const Finding& finding : Example().findings()) {
    EXPECT_EQ(finding.severity, Severity::fine) << finding.check << ": " << finding.what;
  }
}

TEST(CheckSeries, OfGoodNumbersAreFine) {
  Example example;
  for (std::size_t i = 0; i < 60; ++i) example.table.labels[i] = std::to_string(i) + ".5";
  for (const Finding& finding : example.findings(data::SeriesTarget::number)) {
    EXPECT_EQ(finding.severity, Severity::fine) << finding.check << ": " << finding.what;
  }
}

TEST(CheckSeries, FindOneClassOnly) {
  const Finding finding = found_in_series(Example(60, 1).findings(), Severity::trouble, "labels");
  EXPECT_THAT(finding.what, HasSubstr("one class only"));
  EXPECT_EQ(finding.kind, ErrorKind::malformed);
}

TEST(CheckSeries, FindAClassThatValidationLacks) {
  Example example;
  example.table.labels[0] = "rare";
  const Findings findings = example.findings();
  EXPECT_THAT(found_in_series(findings, Severity::warning, "labels").what,
              HasSubstr("1 of 3 classes have no series for validation: 'rare'"));
}

TEST(CheckSeries, FindHeavyImbalance) {
  Example example;
  for (std::size_t i = 0; i < 60; ++i) example.table.labels[i] = i < 6 ? "few" : "many";
  const Findings uneven = example.findings();
  EXPECT_EQ(std::count_if(uneven.begin(), uneven.end(), [](const auto& f) { return f.severity != Severity::fine; }), 0);
  example.table.labels[0] = "many";
  EXPECT_THAT(found_in_series(example.findings(), Severity::warning, "labels").what,
              HasSubstr("'many' has 55 series, 'few' has 5; always saying 'many' is right 91.7 %"));
}

TEST(CheckSeries, FindLabelsThatAreRatherNumbersOrClasses) {
  Example example;
  for (std::size_t i = 0; i < 60; ++i) example.table.labels[i] = std::to_string(i);
  EXPECT_THAT(found_in_series(example.findings(), Severity::warning, "labels").remedy, HasSubstr("--task regress"));
  for (std::size_t i = 0; i < 60; ++i) example.table.labels[i] = std::to_string(i % 3);
  EXPECT_THAT(found_in_series(example.findings(data::SeriesTarget::number), Severity::note, "labels").remedy,
              HasSubstr("--task classify"));
  for (std::string& label : example.table.labels) label = "4";
  found_in_series(example.findings(data::SeriesTarget::number), Severity::trouble, "labels");
  example.table.labels[4] = "four";
  EXPECT_THAT(found_in_series(example.findings(data::SeriesTarget::number), Severity::trouble, "labels").where,
              HasSubstr("row 5"));
}

TEST(CheckSeries, FindConstantChannelsAndSeries) {
  Example example;
  for (std::size_t row = 0; row < 60; ++row) {
    for (std::size_t step = 0; step < 8; ++step) example.value(row, step, 1) = 3;
  }
  EXPECT_THAT(found_in_series(example.findings(), Severity::warning, "channels").what,
              HasSubstr("channel 'y' is constant"));
  Example flat;
  for (std::size_t step = 0; step < 8; ++step) flat.value(7, step, 0) = flat.value(7, step, 1) = 0.25;
  const Finding finding = found_in_series(flat.findings(), Severity::warning, "channels");
  EXPECT_EQ(finding.what, "1 series is constant");
  EXPECT_EQ(finding.where, "s.csv: row 8");
}

TEST(CheckSeries, FindValuesFarFromAllOthers) {
  Example example(6000);
  example.value(9, 3, 1) = -999;
  const Finding finding = found_in_series(example.findings(), Severity::warning, "values");
  EXPECT_THAT(finding.what, HasSubstr("1 value is more than 50 deviations"));
  EXPECT_EQ(finding.where, "s.csv: row 10, step 4");
}

TEST(CheckSeries, FindSeriesThatStandInBothParts) {
  Example example;
  for (std::size_t i = 0; i < 16; ++i) example.table.values[2 * 16 + i] = example.table.values[0 * 16 + i];
  const Finding finding = found_in_series(example.findings(), Severity::warning, "duplicates");  // 1 of 20
  EXPECT_THAT(finding.what, HasSubstr("1 of 20 series for validation also stands in the training part"));
  EXPECT_EQ(finding.where, "s.csv: row 3");
  for (std::size_t row = 2; row < 60; row += 3) {
    std::copy_n(example.table.values.begin(), 16, example.table.values.begin() + static_cast<std::ptrdiff_t>(row * 16));
    example.table.labels[row] = example.table.labels[0];
  }
  found_in_series(example.findings(), Severity::trouble, "duplicates");
}

TEST(CheckSeries, FindEqualSeriesWithTwoLabels) {
  Example example;
  std::copy_n(example.table.values.begin(), 16, example.table.values.begin() + 16);
  const Finding finding = found_in_series(example.findings(), Severity::warning, "duplicates");
  EXPECT_EQ(finding.where, "s.csv: row 1 and row 2");
  EXPECT_THAT(finding.what, HasSubstr("labelled otherwise"));
}

TEST(CheckSeries, FindAValidationPartThatIsSmallOrMissing) {
  Example example(12);
  EXPECT_THAT(found_in_series(example.findings(), Severity::warning, "size").what,
              HasSubstr("8 series for training, 4"));
  example.validation.clear();
  found_in_series(example.findings(), Severity::note, "size");
}

}  // namespace
}  // namespace dikkat::train
