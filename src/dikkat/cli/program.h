// The program: words in, exit code out.
#pragma once

#include <string>
#include <vector>

namespace dikkat::cli {

// Runs the command line; `program` is how it was called, `words` what follows. Whatever goes wrong is told here (one
// line on standard error, or an object on standard output with --json) and becomes the exit code; nothing is thrown.
[[nodiscard]] int run_program(const std::string& program, const std::vector<std::string>& words);

}  // namespace dikkat::cli
