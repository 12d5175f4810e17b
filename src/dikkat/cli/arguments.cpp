#include "dikkat/cli/arguments.h"

#include <algorithm>
#include <limits>

#include "dikkat/base/json.h"
#include "dikkat/cli/suggest.h"

namespace dikkat::cli {
namespace {

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error(ErrorKind::usage, std::move(message), {.hint = std::move(hint)});
}

std::string see_help(const Command& command) { return "see dikkat " + command.name + " --help"; }

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) names.push_back(option.name);
  }
  return names;
}

struct Spelled {
  std::string_view name;
  std::optional<std::string_view> value;  // after =
};

Spelled spelled(std::string_view word) {
  word.remove_prefix(2);
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

bool is_option_of(const Command& command, std::string_view word) {
  return word == "--" || (word.starts_with("--") && find_option(command, spelled(word).name) != nullptr);
}

}  // namespace

const Option* find_option(const Command& command, std::string_view name) {
  for (const OptionGroup& group : command.groups) {
    for (const Option& option : group.options) {
      if (option.name == name) return &option;
    }
  }
  return nullptr;
}

OptionGroup common_options() {
  return {"Every command",
          {{.name = "json", .help = "JSON on standard output, one object, instead of text for people"},
           {.name = "threads",
            .value = "N",
            .help = "threads to use; no result depends on it",
            .fallback = "as many as the machine allows"},
           {.name = "kernels",
            .value = "KIND",
            .help = "which bodies of the kernels: the plain loops, the fast ones, or both, compared to the bit",
            .fallback = "fast",
            .choices = {"reference", "fast", "check"}},
           {.name = "help", .help = "show this help (also -h)"}}};
}

Option checkpoint_option() {
  return {.name = "checkpoint",
          .value = "latest|best|N",
          .help =
              "which checkpoint: the newest, the best by validation "
              "loss, or that of step N",
          .fallback = "latest"};
}

Arguments::Arguments(const Command& command, const std::vector<std::string>& words, std::string program)
    : command_(&command), program_(std::move(program)) {
  bool only_operands = false;
  for (std::size_t at = 0; at < words.size();) {
    const std::string& word = words[at];
    if (only_operands || word == "-" || !word.starts_with("-")) {
      operands_.push_back(word);
      ++at;
    } else if (word == "--") {
      only_operands = true;
      ++at;
    } else if (word == "-h") {
      values_["help"];
      ++at;
    } else {
      at += take_option(words, at);
    }
  }
  if (!has("help")) check_operands();
}

std::size_t Arguments::take_option(const std::vector<std::string>& words, std::size_t at) {
  const std::string& word = words[at];
  if (!word.starts_with("--")) {
    refuse("'" + label_of(word) + "' is no option of dikkat " + command_->name + ": options begin with two dashes",
           did_you_mean(std::string_view(word).substr(1), option_names(*command_), "--", see_help(*command_)));
  }
  const auto [name, attached] = spelled(word);
  const Option* option = find_option(*command_, name);
  if (option == nullptr) {
    refuse("dikkat " + command_->name + " has no option '--" + label_of(name) + "'",
           did_you_mean(name, option_names(*command_), "--", see_help(*command_)));
  }
  if (has(name) && !option->repeats) refuse("--" + option->name + " is given twice", "give it once");
  std::vector<std::string>& values = values_[option->name];
  if (option->value.empty()) {
    if (attached) refuse("--" + option->name + " takes no value", "write --" + option->name + " alone");
    return 1;
  }
  if (attached) {
    values.emplace_back(*attached);
    return 1;
  }
  if (at + 1 == words.size() || is_option_of(*command_, words[at + 1])) {
    refuse("--" + option->name + " needs a value", "write --" + option->name + " " + option->value);
  }
  values.push_back(words[at + 1]);
  return 2;
}

void Arguments::check_operands() const {
  for (std::size_t at = 0; at < operands_.size(); ++at) {
    if (!operands_[at].empty() || command_->operands.empty()) continue;
    const Operand& operand = command_->operands[std::min(at, command_->operands.size() - 1)];
    refuse("an empty word is no " + operand.name + " (" + operand.help + ")", "name it, or leave the word out");
  }
  std::size_t least = 0;
  std::size_t most = 0;
  for (const Operand& operand : command_->operands) {
    if (operands_.size() < least + operand.least) {
      refuse("dikkat " + command_->name + " needs " + operand.name + ": " + operand.help, see_help(*command_));
    }
    least += operand.least;
    most = std::max(most, most + operand.most);  // `most` may be the largest number there is
    if (operand.most == std::string::npos) return;
  }
  if (operands_.size() > most) {
    refuse("dikkat " + command_->name + " takes no further '" + label_of(operands_[most]) + "'", see_help(*command_));
  }
}

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto found = values_.find(option);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Arguments::texts(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::size_t Arguments::positive(std::string_view option, std::size_t otherwise) const {
  const std::size_t number = value<std::size_t>(option, otherwise);
  if (number == 0) refuse_value(option, "0", "a whole number >= 1", value_hint<std::size_t>(option));
  return number;
}

std::string Arguments::choice(std::string_view name) const {
  const Option& option = *find_option(*command_, name);
  std::string given = text(name).value_or(option.fallback);
  if (std::find(option.choices.begin(), option.choices.end(), given) != option.choices.end()) return given;
  std::string words;
  for (const std::string& choice : option.choices) words += (words.empty() ? "" : ", ") + choice;
  throw Error(ErrorKind::usage, "--" + option.name + " takes one of " + words + ", not '" + label_of(given) + "'",
              {.key = option.name, .hint = did_you_mean(given, option.choices, "", "choose one of them")});
}

void refuse_value(std::string_view option, std::string_view given, const std::string& domain, std::string hint) {
  throw Error(ErrorKind::usage, "--" + std::string(option) + " takes " + domain + ", not '" + label_of(given) + "'",
              {.key = std::string(option), .hint = std::move(hint)});
}

bool is_whole_number(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void refuse_too_large(std::string_view option, std::string_view given) {
  throw Error(ErrorKind::usage,
              "--" + std::string(option) + ": " + label_of(given) + " is larger than " +
                  std::to_string(std::numeric_limits<std::uint64_t>::max()),
              {.key = std::string(option), .hint = "give a smaller number"});
}

}  // namespace dikkat::cli
