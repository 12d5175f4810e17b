#include "dikkat/base/json.h"
#include "dikkat/base/version.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/help.h"

namespace dikkat::cli {
namespace {

// Text as roff takes it: backslashes and hyphens escaped, no line that begins with a control character.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

// Lines of the text are paragraphs.
std::string paragraphs(std::string_view text) {
  const std::size_t end = text.find('\n');
  const std::string first = roff(text.substr(0, end)) + "\n";
  return end == std::string_view::npos ? first : first + ".PP\n" + paragraphs(text.substr(end + 1));
}

std::string tagged(const std::string& tag, const std::string& text) { return ".TP\n" + tag + "\n" + roff(text) + "\n"; }

std::string page_of(const Option& option) {
  std::string tag = "\\fB\\-\\-" + roff(option.name) + "\\fR";
  if (!option.value.empty()) tag += " \\fI" + roff(option.value) + "\\fR";
  std::string text = option.help;
  if (option.required) text += " (required)";
  if (!option.choices.empty() && option.value != "true|false") {
    text += ": one of";
    for (const std::string& choice : option.choices) text += (&choice == &option.choices.front() ? " " : ", ") + choice;
  }
  if (option.repeats) text += ". May be repeated";
  text += ".";
  if (!option.fallback.empty()) text += " Default: " + option.fallback + ".";
  return tagged(tag, text);
}

std::string page_of(const Command& command) {
  std::string out = ".SS " + roff(usage_of(command)) + "\n" + paragraphs(command.description);
  for (const Operand& operand : command.operands) out += tagged("\\fI" + roff(operand.name) + "\\fR", operand.help);
  for (const OptionGroup& group : command.groups) {
    if (&group == &command.groups.back()) continue;  // every command's, described once
    out += ".PP\n" + roff(group.title) + ":\n";
    for (const Option& option : group.options) out += page_of(option);
  }
  for (const Example& example : command.examples) {
    out += ".PP\nExample, " + roff(example.what) + ":\n.PP\n.nf\n.RS\n" + roff(example.command) + "\n.RE\n.fi\n";
  }
  return out;
}

int run_man(const Arguments& arguments, Output& output) {
  if (arguments.json()) {
    output.line(text_of(Json::object().set("man", manual_page())));
  } else {
    output.write(manual_page());
  }
  return 0;
}

}  // namespace

std::string manual_page() {
  std::string out = ".TH DIKKAT 1 \"\" \"dikkat " + std::string(version().number) + "\" \"User Commands\"\n";
  out += ".SH NAME\ndikkat \\- train small transformers and look inside them\n";
  out += ".SH SYNOPSIS\n.B dikkat\n\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n";
  out +=
      ".SH DESCRIPTION\n" +
      roff(
          "Trains small language models on plain text, resumes them exactly, and lets them write. Every result is the "
          "same to the last bit whatever the number of threads, straight or resumed.") +
      "\n";
  out += ".SH OPTIONS\nThese are taken by every command.\n";
  for (const Option& option : common_options().options) out += page_of(option);
  out += tagged("\\fB\\-\\-version\\fR", "What this build is; with --json as an object.");
  out += ".SH COMMANDS\n";
  for (const Command& command : commands()) out += page_of(command);
  out += ".SH EXIT STATUS\n";
  for (const ExitCode& code : exit_codes())
    out += tagged("\\fB" + std::to_string(code.code) + "\\fR", std::string(code.meaning) + ".");
  out += ".SH ENVIRONMENT\n" + tagged("\\fBNO_COLOR\\fR", "If set and not empty, no colours.") +
         tagged("\\fBTERM\\fR", "If unset or dumb: no colours, and plain lines of progress every few seconds.");
  return out;
}

Command man_command() {
  return {.name = "man",
          .summary = "print the manual page",
          .description = "Prints the manual page dikkat(1) as roff, made from the same tables as the help.",
          .operands = {},
          .groups = {},
          .examples = {{"dikkat man | man -l -", "read it"}},
          .run = run_man};
}

}  // namespace dikkat::cli
