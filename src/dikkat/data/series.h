// Series of numbers with a label each, as they stand in a file.
//
// Forms (docs/formats/series.md): CSV or TSV with one row a series, steps in columns, a label column; long form with
// columns id, time, value..., label (several channels); the UCR and UEA archives' .tsv and .ts. Which it is, is found
// from what stands in the file, never from its name.
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
  std::vector<std::string> channel_names;  // (channels); "value", or "value 1", "value 2", ..., without names
  std::vector<double> values;              // (sum of lengths, channels): series after series, step after step
  std::vector<std::size_t> lengths;        // (n), each at least 1
  std::vector<std::string> labels;         // (n) as written, without blanks around; empty when the file has none
  std::string label_name;                  // of the label's column; empty without a header
  std::vector<std::string> names;          // (n): id of the long form; otherwise its row, "row 17"
  std::string fingerprint;                 // 32 hex digits: XXH3-128 of the file's bytes

  [[nodiscard]] std::size_t count() const { return lengths.size(); }
};

enum class Labels : std::uint8_t {
  required,
  // For series that may have none (to predict): a label column is taken only where it is sure which, by `label`, by
  // the header, or because the form says so; otherwise Error{usage} asks for it. A column with nothing in it is none.
  if_there,
};

enum class Header : std::uint8_t { found, yes, no };  // found: by what stands in the first row

struct SeriesOptions {
  // Name, or 1-based number, of the label's column ("none" with if_there: there is none). Without it the one called
  // "label", else "class", "target" or "y" in the header (in any case; in the long form "y" is a channel), else the
  // first column of the wide form.
  std::optional<std::string> label;
  // Columns of the long form, both together, by name or number. Without them a header that has the names "id" and
  // "time" is the long form. Everything else that is no label is a channel.
  std::optional<std::string> id;
  std::optional<std::string> time;
  Labels labels = Labels::required;
  Header header = Header::found;
};

// "-" is standard input. Error{malformed} with file, row (1-based line of the file) and column for ragged rows, text in
// a number, NaN, infinities, missing values, empty files, a label missing in one part; Error{io}; Error{usage} for a
// column that isn't there (nearest name) or where it can't be known which is the label.
[[nodiscard]] SeriesTable read_series(const std::filesystem::path& path, const SeriesOptions& options = {});
// The same out of memory; errors call it `name`.
[[nodiscard]] SeriesTable series_in(std::string bytes, std::string name, const SeriesOptions& options = {});

// Rows for validation: `share` of each label's n, rounded to the nearest, at least 1 and at most n - 1 of a label with
// two or more, none of one with a single row. Which of them: a function of (seed, label, the row's place among those of
// its label), so neither the order in which labels come nor other labels' rows matter. Ascending. Share 0: none.
// Numbers instead of labels (regress): share of all. Error{usage} unless 0 <= share < 1.
[[nodiscard]] std::vector<std::size_t> validation_rows(std::span<const std::string> labels, double share,
                                                       std::uint64_t seed);
[[nodiscard]] std::vector<std::size_t> validation_rows(std::size_t count, double share, std::uint64_t seed);

}  // namespace dikkat::data
