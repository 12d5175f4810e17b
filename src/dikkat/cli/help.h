// Help, the man page and the completions, all written from the commands' tables.
#pragma once

#include <string>
#include <string_view>

#include "dikkat/cli/command.h"

namespace dikkat::cli {

// What `dikkat --help` and `dikkat COMMAND --help` print.
[[nodiscard]] std::string overview();
[[nodiscard]] std::string help_of(const Command& command);
// "dikkat eval RUN [FILE] [OPTION]..."
[[nodiscard]] std::string usage_of(const Command& command);

// The manual page dikkat(1), in the man macros of roff.
[[nodiscard]] std::string manual_page();

// "bash", "zsh" or "fish".
[[nodiscard]] std::string completions_for(std::string_view shell);

}  // namespace dikkat::cli
