// What can be wrong with series before they are trained on.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dikkat/data/series.h"
#include "dikkat/data/series_coding.h"
#include "dikkat/train/check_finding.h"

namespace dikkat::train {

struct CheckedSeries {
  const data::SeriesTable& table;           // with labels
  std::span<const std::size_t> training;    // rows
  std::span<const std::size_t> validation;  // rows; may be none
  data::SeriesTarget target = data::SeriesTarget::label;
  std::string name;  // of the file
};

//   format      how many series, steps, channels
//   labels      one class only, a class that no validation series has, heavy imbalance, labels that are rather numbers
//               (or numbers that are rather labels), all numbers equal
//   channels    constant channels (of the training part) and constant series
//   values      values far from all others of their channel
//   duplicates  series of the validation part that stand in the training part; equal series with different labels
//   size        few series for validation
[[nodiscard]] Findings check_series(const CheckedSeries& parts);

}  // namespace dikkat::train
