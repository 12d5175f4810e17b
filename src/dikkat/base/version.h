// What this build is: for `dikkat --version`, for checkpoints (which name the build that wrote them), for reports.
#pragma once

#include <string_view>

namespace dikkat {

struct Version {
  std::string_view number;  // "0.1.0", semantic versioning
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  std::string_view commit;      // full git hash the build was made at; "unknown" where there is no repository
  std::string_view compiler;    // "GNU 12.2.0"
  std::string_view build_type;  // "Release"
  std::string_view flags;       // the compiler's flags as given
};

// Constant for the life of the program.
[[nodiscard]] const Version& version();

}  // namespace dikkat
