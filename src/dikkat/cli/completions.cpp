#include <string>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/help.h"

namespace dikkat::cli {
namespace {

// For words inside single quotes of all three shells.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string all_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return joined(names);
}

template <class Visit>
void for_each_option(const Command& command, Visit&& visit) {
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) visit(option);
  }
}

std::vector<std::string> operand_choices(const Command& command) {
  return command.operands.empty() ? std::vector<std::string>() : command.operands.front().choices;
}

// What may follow: the value of the option before, an option, or an operand.
std::string bash_case(const Command& command) {
  std::string values;
  std::string options;
  for_each_option(command, [&](const Option& option) {
    options += (options.empty() ? "--" : " --") + option.name;
    if (option.value.empty()) return;
    const std::string words =
        option.choices.empty() ? "" : "compgen -W " + quoted(joined(option.choices)) + " -- \"$word\"";
    const std::string files =
        "compgen -" + std::string(option.completes == Completes::folder ? "d" : "f") + " -- \"$word\"";
    values += "        --" + option.name + ") mapfile -t COMPREPLY < <(" +
              (!words.empty()                           ? words
               : option.completes == Completes::nothing ? "true"
                                                        : files) +
              "); return ;;\n";
  });
  const std::vector<std::string> choices = operand_choices(command);
  std::string out = "    " + command.name + ")\n      case $before in\n" + values + "      esac\n";
  out += "      if [[ $word == -* ]]; then mapfile -t COMPREPLY < <(compgen -W " + quoted(options) + " -- \"$word\")\n";
  out += "      else mapfile -t COMPREPLY < <(compgen " + (choices.empty() ? "-f" : "-W " + quoted(joined(choices))) +
         " -- \"$word\"); fi ;;\n";
  return out;
}

std::string for_bash() {
  std::string out =
      "# dikkat completions for bash: source <(dikkat completions bash)\n"
      "_dikkat() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  compopt -o filenames 2>/dev/null\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W " +
      quoted(all_names() + " --help --version") +
      " -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : commands()) out += bash_case(command);
  return out + "  esac\n}\ncomplete -F _dikkat dikkat\n";
}

// A description inside _arguments' brackets, where these characters mean something.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const std::vector<std::string>& choices, Completes completes) {
  if (!choices.empty()) return "(" + joined(choices) + ")";
  if (completes == Completes::file) return "_files";
  return completes == Completes::folder ? "_files -/" : " ";
}

std::string zsh_case(const Command& command) {
  std::string out = "    " + command.name + ") _arguments";
  for_each_option(command, [&](const Option& option) {
    std::string word = (option.repeats ? "*--" : "--") + option.name + "[" + zsh_text(option.help) + "]";
    if (!option.value.empty())
      word += ":" + zsh_text(option.value) + ":" + zsh_action(option.choices, option.completes);
    out += " \\\n      " + quoted(word);
  });
  for (const Operand& operand : command.operands) {
    const std::string how_many = operand.most > 1 ? "*" : operand.least == 0 ? ":" : "";
    out += " \\\n      " + quoted(how_many + ":" + operand.name + ":" + zsh_action(operand.choices, operand.completes));
  }
  return out + " ;;\n";
}

std::string for_zsh() {
  std::string out =
      "#compdef dikkat\n# dikkat completions for zsh: source <(dikkat completions zsh)\n"
      "_dikkat() {\n  if ((CURRENT == 2)); then\n    local -a names=(\n";
  for (const Command& command : commands())
    out += "      " + quoted(command.name + ":" + zsh_text(command.summary)) + "\n";
  out +=
      "    )\n    _describe command names\n    return\n  fi\n  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  "
      "case $name in\n";
  for (const Command& command : commands()) out += zsh_case(command);
  return out + "  esac\n}\ncompdef _dikkat dikkat\n";
}

std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string for_fish() {
  std::string out = "# dikkat completions for fish: dikkat completions fish | source\n";
  for (const Command& command : commands()) {
    out += "complete -c dikkat -f -n __fish_use_subcommand -a " + command.name + " -d " + fish_text(command.summary) +
           "\n";
    const std::string when = "complete -c dikkat -n '__fish_seen_subcommand_from " + command.name + "'";
    for_each_option(command, [&](const Option& option) {
      out += when + " -l " + option.name + " -d " + fish_text(option.help);
      if (!option.value.empty()) out += option.completes == Completes::nothing ? " -x" : " -r";
      if (!option.choices.empty()) out += " -a " + fish_text(joined(option.choices));
      out += "\n";
    });
    if (!operand_choices(command).empty()) out += when + " -f -a " + fish_text(joined(operand_choices(command))) + "\n";
  }
  return out;
}

int run_completions(const Arguments& arguments, Output& output) {
  const std::string& shell = arguments.operands().front();
  if (arguments.json()) {
    output.line(text_of(Json::object().set("shell", shell).set("script", completions_for(shell))));
  } else {
    output.write(completions_for(shell));
  }
  return 0;
}

}  // namespace

std::string completions_for(std::string_view shell) {
  if (shell == "bash") return for_bash();
  if (shell == "zsh") return for_zsh();
  if (shell == "fish") return for_fish();
  throw Error(ErrorKind::usage, "there are no completions for '" + label_of(shell) + "'",
              {.hint = "bash, zsh or fish"});
}

Command completions_command() {
  return {.name = "completions",
          .summary = "print completions for bash, zsh or fish",
          .description = "Prints a script that teaches a shell the commands, their options and their values.",
          .operands = {{.name = "SHELL",
                        .help = "bash, zsh or fish",
                        .completes = Completes::nothing,
                        .choices = {"bash", "zsh", "fish"}}},
          .groups = {},
          .examples = {{"source <(dikkat completions bash)", "in ~/.bashrc"}},
          .run = run_completions};
}

}  // namespace dikkat::cli
