#include "dikkat/cli/commands.h"

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/suggest.h"

namespace dikkat::cli {

namespace {

// Words that are no commands and yet have an answer.
std::string remedy_for(std::string_view name, const std::vector<std::string>& commands) {
  if (name == "version") return "dikkat --version says it";
  if (name == "presets") return "dikkat config presets lists them";
  if (name == "settings") return "dikkat config show lists them";
  return did_you_mean(name, commands, "dikkat ", "dikkat --help lists them all");
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all = [] {
    std::vector<Topic> list{
        {"Train and use", {check_command(), train_command(), generate_command(), eval_command(), predict_command()}},
        {"Look inside",
         {inspect_command(), heads_command(), ablate_command(), patch_command(), order_command(), lens_command()}},
        {"Compare", {verdict_command()}},
        {"Learn", {lesson_command(), attend_command()}},
        {"Runs and their weights", {info_command(), export_command(), import_command()}},
        {"The program", {config_command(), man_command(), completions_command(), help_command()}},
    };
    for (Topic& topic : list) {
      for (Command& command : topic.commands) command.groups.push_back(common_options());
    }
    return list;
  }();
  return all;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> list;
    for (const Topic& topic : topics()) list.insert(list.end(), topic.commands.begin(), topic.commands.end());
    return list;
  }();
  return all;
}

const Command& command_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  throw Error(ErrorKind::usage, "there is no command '" + label_of(name) + "'", {.hint = remedy_for(name, names)});
}

const std::vector<ExitCode>& exit_codes() {
  static const std::vector<ExitCode> codes{
      {0, "done"},
      {1, "internal error: a bug; please report it"},
      {2, "usage or configuration"},
      {3, "an input file is malformed"},
      {4, "input or output failed (missing, permission, full)"},
      {5, "numeric failure (non-finite, diverged)"},
      {6, "would exceed a limit of memory, time or size"},
      {7, "valid but incompatible (shape, settings, tokenizer, version, text)"},
      {8, "locked by another process"},
      {130, "interrupted (training: after a durable checkpoint)"},
      {143, "terminated (training: after a durable checkpoint)"},
  };
  return codes;
}

}  // namespace dikkat::cli
