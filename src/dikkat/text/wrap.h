// Sentences in lines that fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dikkat::text {

// `text` broken at blanks into lines of at most `columns` (display_width.h), each ended by a line break. All lines
// begin with the blanks that the text begins with, all but a paragraph's first with `indent` more; the text's own line
// breaks end paragraphs. A word that is longer than a line stays whole. Nothing for no text.
[[nodiscard]] std::string wrapped_to(std::string_view text, std::size_t columns, std::size_t indent);

// For people, where nobody says how wide: 80 columns.
[[nodiscard]] std::string prose(std::string_view text);

}  // namespace dikkat::text
