#include "dikkat/train/series_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace dikkat::train {
namespace {

// Sorted by class, as the archives sort their rows.
data::SeriesTable sorted_table() {
  data::SeriesTable table;
  for (int i = 0; i < 30; ++i) {
    table.labels.push_back(i < 20 ? "calm" : "storm");
    table.lengths.push_back(1);
    table.values.push_back(i);
  }
  return table;
}

Settings settings_of(double share, std::uint64_t seed) {
  Settings settings;
  settings.validation_share = share;
  settings.seed = seed;
  return settings;
}

TEST(SeriesParts, EachLabelGivesItsShare) {
  const data::SeriesTable table = sorted_table();
  const SeriesParts parts = series_parts(table, models::Task::classify, settings_of(0.2, 1));
  std::map<std::string, int> count;
  for (const std::size_t s : parts.validation) ++count[table.labels[s]];
  EXPECT_EQ(count["calm"], 4);
  EXPECT_EQ(count["storm"], 2);
}

TEST(SeriesParts, EverySeriesIsInOnePart) {
  const SeriesParts parts = series_parts(sorted_table(), models::Task::classify, settings_of(0.3, 2));
  std::vector<std::size_t> all = parts.training;
  all.insert(all.end(), parts.validation.begin(), parts.validation.end());
  std::sort(all.begin(), all.end());
  for (std::size_t s = 0; s < 30; ++s) EXPECT_EQ(all.at(s), s);
  EXPECT_EQ(all.size(), 30U);
}

TEST(SeriesParts, TheSeedChooses) {
  const auto of_seed = [](std::uint64_t seed) {
    return series_parts(sorted_table(), models::Task::classify, settings_of(0.2, seed)).validation;
  };
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

TEST(SeriesParts, NumbersAreCutFromTheWhole) {
  EXPECT_EQ(series_parts(sorted_table(), models::Task::regress, settings_of(0.2, 1)).validation.size(), 6U);
}

TEST(SeriesParts, NoShareNoValidation) {
  const SeriesParts parts = series_parts(sorted_table(), models::Task::classify, settings_of(0, 1));
  EXPECT_TRUE(parts.validation.empty());
  EXPECT_EQ(parts.training.size(), 30U);
}

}  // namespace
}  // namespace dikkat::train
