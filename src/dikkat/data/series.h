// Series of numbers with a label each, as they stand in a file.
//
// Forms (docs/formats/series.md): CSV or TSV with one row a series, steps in columns, a label column; long form with
// columns id, time, value..., label (several channels); the UCR and UEA archives' .tsv and .ts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dikkat::data {

struct SeriesTable {
  std::size_t channels = 1;
  std::vector<std::string> channel_names;  // (channels); "value" for one without a name
  std::vector<double> values;              // (sum of lengths, channels): series after series, step after step
  std::vector<std::size_t> lengths;        // (n), each at least 1
  std::vector<std::string> labels;         // (n) as written; empty when the file has none
  std::vector<std::string> names;          // (n): id of the long form; otherwise its row, "row 17"
  std::string fingerprint;                 // 32 hex digits: XXH3-128 of the file's bytes

  [[nodiscard]] std::size_t count() const { return lengths.size(); }
};

enum class Labels : std::uint8_t { required, if_there };

struct SeriesOptions {
  // Name (or 1-based number) of the label's column; without it "label", "class", "target" or "y" of the header, else
  // the first column.
  std::optional<std::string> label;
  // Columns of the long form; all three together. Everything else that is no label is a channel.
  std::optional<std::string> id;
  std::optional<std::string> time;
  Labels labels = Labels::required;
};

// Error{malformed} with file, row and column for ragged rows, text in a number, NaN, infinities, missing values, empty
// files, a label missing in one part; Error{io}; Error{usage} for a column that isn't there (nearest name).
[[nodiscard]] SeriesTable read_series(const std::filesystem::path& path, const SeriesOptions& options);

// Rows for validation: `share` of each label's (at least one of a label with two or more), chosen by the seed, never by
// the order of the file. Ascending. Numbers instead of labels (regress): share of all.
[[nodiscard]] std::vector<std::size_t> validation_rows(std::span<const std::string> labels, double share,
                                                       std::uint64_t seed);
[[nodiscard]] std::vector<std::size_t> validation_rows(std::size_t count, double share, std::uint64_t seed);

}  // namespace dikkat::data
