// Attention of one text, or of two side by side, as pictures for a terminal: what `dikkat attend` prints.
#pragma once

#include <string>
#include <vector>

#include "dikkat/cli/heat_map.h"
#include "dikkat/kernels/mask.h"
#include "dikkat/lessons/self_attention.h"

namespace dikkat::cli {

struct AttendedText {
  std::string text;                 // the whole, for headings
  std::vector<std::string> tokens;  // as they come
  lessons::Matrix weights;          // (n,n) of one head, or the mean over heads
};

inline constexpr std::size_t kShownRows = 48;  // of a picture; more are cut with notice

// The weights in figures, then as a heat map up to the largest weight, with its legend. What the mask hides stays
// empty.
[[nodiscard]] std::string drawn(const AttendedText& text, const kernels::Mask& mask, const Look& look);

// Both, beside each other where the line has room (with 2 decimals if it must be), else below each other; then second
// minus first, where they have equally many tokens, else a line that says why not.
[[nodiscard]] std::string drawn_together(const AttendedText& first, const AttendedText& second,
                                         const kernels::Mask& mask, const Look& look);

// Columns that a line takes on a terminal: escape sequences and marks of direction take none.
[[nodiscard]] std::size_t visible_columns(std::string_view line);

}  // namespace dikkat::cli
