// The program's commands: one function a command, one file a function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dikkat/cli/command.h"

namespace dikkat::cli {

[[nodiscard]] Command train_command();
[[nodiscard]] Command generate_command();
[[nodiscard]] Command eval_command();
[[nodiscard]] Command predict_command();
[[nodiscard]] Command info_command();
[[nodiscard]] Command inspect_command();
[[nodiscard]] Command heads_command();
[[nodiscard]] Command check_command();
[[nodiscard]] Command export_command();
[[nodiscard]] Command import_command();
[[nodiscard]] Command lesson_command();
[[nodiscard]] Command attend_command();
[[nodiscard]] Command ablate_command();
[[nodiscard]] Command order_command();
[[nodiscard]] Command lens_command();
[[nodiscard]] Command patch_command();
[[nodiscard]] Command verdict_command();
[[nodiscard]] Command config_command();
[[nodiscard]] Command man_command();
[[nodiscard]] Command completions_command();
[[nodiscard]] Command help_command();

// They, by what they are for, in the order of the help. Made at the first call.
struct Topic {
  std::string title;
  std::vector<Command> commands;
};
[[nodiscard]] const std::vector<Topic>& topics();
// All of them, in that order.
[[nodiscard]] const std::vector<Command>& commands();
// Error{usage} with the nearest name.
[[nodiscard]] const Command& command_named(std::string_view name);

struct ExitCode {
  int code;
  std::string_view meaning;
};
// What the program's exit codes mean, for help and man page.
[[nodiscard]] const std::vector<ExitCode>& exit_codes();

}  // namespace dikkat::cli
