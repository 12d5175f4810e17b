// The run a command was given, with its warnings told.
#pragma once

#include "dikkat/cli/arguments.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {

// The first operand, at --checkpoint (default: the newest).
[[nodiscard]] train::LoadedRun open_run(const Arguments& arguments);

// --skip-unknown, for the commands that give a model text. `what` is the text.
[[nodiscard]] Option skip_unknown_option(const std::string& what);
[[nodiscard]] text::UnknownPolicy unknown_policy(const Arguments& arguments);
// The tokenizer's refusal of unknown characters, with --skip-unknown as the remedy; anything else as it is.
[[nodiscard]] Error with_skip_hint(const Error& error);

}  // namespace dikkat::cli
