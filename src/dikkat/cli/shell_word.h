// Words as a shell takes them, for commands that are shown to be typed or pasted.
#pragma once

#include <string>
#include <string_view>

namespace dikkat::cli {

// Plain words as they are, others in quotes; control characters as $'...' writes them. A name that begins with a dash
// gets ./ before it, so that it is no option.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace dikkat::cli
