// Texts as labels of so many columns: whatever they hold, what stands beside them stays where it is.
//
//   control characters, broken UTF-8   escaped as text::escaped does: \n, \t, \xE7
//   blank                              ␣; other blanks and what draws nothing (zero-width, marks of direction,
//                                      variation selectors) by number: U+200B
//   combining marks                    stay on their letter, four at most; without one they get ◌
//   East Asian wide characters         two columns
//   letters of right-to-left scripts   between marks of left-to-right (U+200E), so that a terminal that turns such text
//                                      turns the label and not the line
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dikkat::text {

// Columns that label(text) takes.
[[nodiscard]] std::size_t label_columns(std::string_view text);
// The text as a label: whole if it fits, else its beginning and "…".
[[nodiscard]] std::string label(std::string_view text, std::size_t most_columns);

enum class Side : std::uint8_t { left, right };
// label(text, columns), filled with blanks to exactly so many columns; `side` is where the text stands.
[[nodiscard]] std::string padded_label(std::string_view text, std::size_t columns, Side side);

}  // namespace dikkat::text
