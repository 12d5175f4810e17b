// What a command is, as data: parsing, help, the man page, completions and "did you mean" all read these tables.
//
// To add a command: write its file (see eval.cpp), declare its function in commands.h, list it in commands.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/fields.h"

namespace dikkat::cli {

class Arguments;
class Output;

// What a shell may offer for a value.
enum class Completes : std::uint8_t { nothing, file, folder };

struct Option {
  std::string name = {};   // without its dashes
  std::string value = {};  // what stands for its value in help ("N"); empty: a switch, which takes none
  std::string help = {};
  std::string fallback = {};  // the default, for help
  std::vector<std::string> choices = {};
  Completes completes = Completes::nothing;
  bool repeats = false;   // may be given several times
  bool required = false;  // the command asks for it
};

struct OptionGroup {
  std::string title;
  std::vector<Option> options;
};

struct Operand {
  std::string name;  // "RUN"
  std::string help;
  std::size_t least = 1;
  std::size_t most = 1;
  Completes completes = Completes::file;
  std::vector<std::string> choices = {};
};

struct Example {
  std::string command;
  std::string what;
};

struct Command {
  std::string name;
  std::string summary;      // one line, no full stop
  std::string description;  // a paragraph or several
  std::vector<Operand> operands;
  std::vector<OptionGroup> groups;
  std::vector<Example> examples;
  int (*run)(const Arguments& arguments, Output& output);
};

// One option of the command; nullptr if it has none of that name.
[[nodiscard]] const Option* find_option(const Command& command, std::string_view name);

// A settings struct's fields as options (see base/fields.h), their defaults those of `defaults`.
template <class S>
[[nodiscard]] std::vector<Option> field_options(const S& defaults);

// --json, --threads, --kernels, --help: what every command takes.
[[nodiscard]] OptionGroup common_options();
// --checkpoint, for the commands that read a run.
[[nodiscard]] Option checkpoint_option();

template <class S>
std::vector<Option> field_options(const S& defaults) {
  std::vector<Option> options;
  S::fields(defaults, [&](const char* name, const auto& field, const char* help) {
    using T = std::remove_cvref_t<decltype(field)>;
    Option option{.name = name, .value = "TEXT", .help = help, .fallback = std::string(text_of(field))};
    if constexpr (std::is_same_v<T, bool>) {
      option.value = "true|false";
      option.choices = {"true", "false"};
    } else if constexpr (NamedEnum<T>) {
      option.value = "KIND";
      for (const auto& [value, word] : EnumNames<T>::names) option.choices.emplace_back(word);
    } else if constexpr (std::is_floating_point_v<T>) {
      option.value = "X";
    } else if constexpr (std::is_integral_v<T>) {
      option.value = "N";
    }
    options.push_back(std::move(option));
  });
  return options;
}

}  // namespace dikkat::cli
