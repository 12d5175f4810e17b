#include "dikkat/cli/help.h"

#include <algorithm>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/text/wrap.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kIndent = 32;  // where the right column begins

std::string row(const std::string& left, const std::string& right) {
  std::string out = "  " + left;
  if (out.size() + 2 > kIndent) {
    out += "\n" + std::string(kIndent, ' ');
  } else {
    out.resize(kIndent, ' ');
  }
  if (right.empty()) return out + "\n";
  return out + text::wrapped_to(std::string(kIndent, ' ') + right, kWidth, 0).substr(kIndent);
}

std::string described(const Option& option) {
  std::string text = option.help;
  if (option.required) text += " (required)";
  if (option.repeats) text += "; may be repeated";
  const bool shown = option.value == "true|false" || option.choices.empty();
  if (!shown) {
    text += ": ";
    for (const std::string& choice : option.choices) text += (&choice == &option.choices.front() ? "" : ", ") + choice;
  }
  if (!option.fallback.empty()) text += " [" + option.fallback + "]";
  return text;
}

std::string examples_of(const std::vector<Example>& examples) {
  std::string out = "\nExamples:\n";
  for (const Example& example : examples) out += "  # " + example.what + "\n  " + example.command + "\n";
  return out;
}

int run_help(const Arguments& arguments, Output& output) {
  const std::string text =
      arguments.operands().empty() ? overview() : help_of(command_named(arguments.operands().front()));
  if (arguments.json()) {
    output.line(text_of(Json::object().set("help", text)));
  } else {
    output.write(text);
  }
  return 0;
}

}  // namespace

std::string usage_of(const Command& command) {
  std::string usage = "dikkat " + command.name;
  for (const Operand& operand : command.operands) {
    const std::string dots = operand.most > 1 ? "..." : "";
    usage += operand.least > 0 ? " " + operand.name + dots : " [" + operand.name + dots + "]";
  }
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      if (option.required) usage += " --" + option.name + " " + option.value;
    }
  }
  return usage + " [OPTION]...";
}

std::string help_of(const Command& command) {
  std::string out = "Usage: " + usage_of(command) + "\n\n" + text::wrapped_to(command.description, kWidth, 0);
  if (!command.operands.empty()) out += "\n";
  for (const Operand& operand : command.operands) out += row(operand.name, operand.help);
  for (const OptionGroup& group : command.groups) {
    out += "\n" + group.title + ":\n";
    for (const Option& option : group.options) {
      out += row("--" + option.name + (option.value.empty() ? "" : " " + option.value), described(option));
    }
  }
  return command.examples.empty() ? out : out + examples_of(command.examples);
}

std::string overview() {
  std::string out =
      "Dikkat trains small transformers on text and on series and shows what they do inside,\n"
      "the same to the last bit every time.\n\n"
      "Usage: dikkat COMMAND [OPTION]...\n";
  for (const Topic& topic : topics()) {
    out += "\n" + topic.title + ":\n";
    for (const Command& command : topic.commands) out += row(command.name, command.summary);
  }
  out += examples_of({{"dikkat train data/atasozleri.txt --out runs/first --steps 600", "train on a text"},
                      {"dikkat generate runs/first --prompt \"Bir \" --tokens 300", "let the model write"},
                      {"dikkat train --out runs/first --resume", "go on where a stopped run stands"},
                      {"dikkat inspect runs/first --text \"Bir elin\"", "see where every head looks"}});
  return out +
         "\ndikkat COMMAND --help   explains a command; dikkat man | man -l -   is the whole manual.\n"
         "dikkat --version        says what this build is.\n";
}

Command help_command() {
  return {.name = "help",
          .summary = "show this help, or that of a command",
          .description = "Shows what there is, or explains one command.",
          .operands = {{.name = "COMMAND", .help = "a command", .least = 0, .completes = Completes::nothing}},
          .groups = {},
          .examples = {{"dikkat help train", "all of training's options"}},
          .run = run_help};
}

}  // namespace dikkat::cli
