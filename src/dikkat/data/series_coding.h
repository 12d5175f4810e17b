// How series become what a model takes: to series what a tokenizer is to text. Made from the training part, kept in the
// run as series.json, and applied to every series after.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/data/series.h"

namespace dikkat::data {

enum class SeriesTarget : std::uint8_t { label, number };  // classify, regress

struct SeriesCoding {
  SeriesTarget target = SeriesTarget::label;
  std::vector<std::string> channel_names;
  std::vector<double> means;        // (channels) over all steps of the training part
  std::vector<double> deviations;   // (channels), divisor n; 1 where a channel is constant
  std::size_t longest = 0;          // steps of the longest series it was made from
  std::vector<std::string> labels;  // (K) distinct, byte-wise order (numbers by value); empty for `number`
  double target_mean = 0;           // of `number`
  double target_deviation = 1;

  [[nodiscard]] std::size_t channels() const { return means.size(); }
  // Outputs of a model for it: K for K > 2 classes, otherwise 1.
  [[nodiscard]] std::size_t outputs() const { return labels.size() > 2 ? labels.size() : 1; }
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] std::string fingerprint() const;  // 32 hex digits of XXH3-128 of to_json()
};

// From rows `rows` of the table. Error{malformed} for fewer than two classes, two labels that are the same number, a
// label that is no number (regress), values whose mean or deviation is beyond a double.
[[nodiscard]] SeriesCoding series_coding_of(const SeriesTable& table, std::span<const std::size_t> rows,
                                            SeriesTarget target, const std::string& file);
// Error{malformed} with key and rule. `file` is named in errors.
[[nodiscard]] SeriesCoding series_coding_from(std::string_view json, const std::string& file);

// Series as numbers for a model: (value - mean) / deviation of its channel.
struct CodedSeries {
  std::size_t channels = 1;
  std::vector<double> values;              // (sum of lengths, channels)
  std::vector<std::size_t> first_step{0};  // (n+1) where each series' steps begin
  std::vector<std::int32_t> classes;       // (n), index into the coding's labels; -1 where there is no label
  std::vector<double> numbers;             // (n) standardised targets of `number`; empty where there are no labels

  [[nodiscard]] std::size_t count() const { return first_step.size() - 1; }
  [[nodiscard]] std::size_t length(std::size_t series) const { return first_step[series + 1] - first_step[series]; }
};

// Channels go by their names where both sides have them, in any order, else by place. Labels that are numbers go by
// value ("1" is "1.0"). Error{incompatible} for another number of channels, a channel or a label the coding does not
// know (nearest, row); Error{malformed} for a label that is no number (regress) and values too large for a float.
[[nodiscard]] CodedSeries coded(const SeriesTable& table, const SeriesCoding& coding, const std::string& file);

}  // namespace dikkat::data
