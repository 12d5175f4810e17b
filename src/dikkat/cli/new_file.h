// Files that a command makes. Nothing that is there is ever overwritten, and that is said before anything is computed.
#pragma once

#include <optional>
#include <string>

#include "dikkat/cli/arguments.h"

namespace dikkat::cli {

// Error{usage} for what exists already, a link that leads nowhere among it; `option` is that to choose another by:
// "--csv".
void refuse_existing(const std::string& path, const std::string& option);

// The FILE of `option` ("csv"), where it was given: a name, and of nothing that exists. Error{usage} else, also for -:
// standard output is not a file.
[[nodiscard]] std::optional<std::string> new_file(const Arguments& arguments, const std::string& option);

// "Wrote heads.csv, 12 KiB", of a file that stands.
[[nodiscard]] std::string wrote_text(const std::string& path);

}  // namespace dikkat::cli
