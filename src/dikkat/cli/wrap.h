// Sentences in lines that fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dikkat::cli {

// `text` broken at blanks into lines of at most `columns`, each ended by a line break; all but the first begin with
// `indent` more blanks than the first does. A word that is longer stays whole.
[[nodiscard]] std::string wrapped_to(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace dikkat::cli
