// The run a command was given, with its warnings told.
#pragma once

#include "dikkat/cli/arguments.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {

// The first operand, at --checkpoint (default: the newest).
[[nodiscard]] train::LoadedRun open_run(const Arguments& arguments);

}  // namespace dikkat::cli
