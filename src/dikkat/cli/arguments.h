// The words of a command line, sorted into options and operands by a command's table.
//
//   --name VALUE, --name=VALUE, --switch; everything after -- is an operand, and so is a lone -. No abbreviations, no
//   option twice (unless its table says it repeats). A value that is itself an option of the command is taken for a
//   forgotten value; --name=--other says it is meant.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/cli/command.h"

namespace dikkat::cli {

class Arguments {
 public:
  // Error{usage} for whatever does not fit the table, with the nearest name. With --help among the words (before a
  // --) nothing is asked of the operands.
  // `program` is how the program was called.
  Arguments(const Command& command, const std::vector<std::string>& words, std::string program = "dikkat");

  [[nodiscard]] const Command& command() const { return *command_; }
  [[nodiscard]] const std::string& program() const { return program_; }
  [[nodiscard]] bool has(std::string_view option) const { return values_.find(option) != values_.end(); }
  // The option's value, if it was given.
  [[nodiscard]] std::optional<std::string> text(std::string_view option) const;
  // All values of an option that repeats.
  [[nodiscard]] std::vector<std::string> texts(std::string_view option) const;
  // The value read exactly as T (see field_from), `otherwise` if it was not given; Error{usage} names the domain.
  template <class T>
  [[nodiscard]] T value(std::string_view option, T otherwise) const;
  // As value, for a number that may not be 0.
  [[nodiscard]] std::size_t positive(std::string_view option, std::size_t otherwise) const;
  // One of the option's choices.
  [[nodiscard]] std::string choice(std::string_view option) const;

  [[nodiscard]] const std::vector<std::string>& operands() const { return operands_; }
  [[nodiscard]] bool json() const { return has("json"); }

 private:
  // Takes the option at words[at], returns how many words it took.
  std::size_t take_option(const std::vector<std::string>& words, std::size_t at);
  void check_operands() const;

  const Command* command_;
  std::string program_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

// Error{usage}: "--steps takes a whole number >= 0 in decimal digits, not '1.0'".
[[noreturn]] void refuse_value(std::string_view option, std::string_view given, const std::string& domain,
                               std::string hint = {});
// Whether it is a whole number in decimal digits, of any size.
[[nodiscard]] bool is_whole_number(std::string_view text);
[[noreturn]] void refuse_too_large(std::string_view option, std::string_view given);

// The remedy for a value that cannot be read as T.
template <class T>
[[nodiscard]] std::string value_hint(std::string_view option) {
  const std::string name = "--" + std::string(option);
  if constexpr (std::is_same_v<T, bool>) {
    return "write " + name + " true or " + name + " false";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "write it like " + name + " 0.5";
  } else if constexpr (std::is_integral_v<T>) {
    return "write it like " + name + " 100";
  } else {
    return "choose one of them";
  }
}

template <class T>
T Arguments::value(std::string_view option, T otherwise) const {
  const std::optional<std::string> given = text(option);
  if (!given) return otherwise;
  const std::optional<T> read = field_from<T>(*given);
  if (read) return *read;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (is_whole_number(*given)) refuse_too_large(option, *given);
  }
  std::string hint = value_hint<T>(option);
  if constexpr (NamedEnum<T>) {
    std::vector<std::string> names;
    for (const auto& [value, name] : EnumNames<T>::names) names.emplace_back(name);
    if (const auto near = nearest_name(*given, names)) hint = "did you mean " + *near + "?";
  }
  refuse_value(option, *given, domain_of<T>(), std::move(hint));
}

}  // namespace dikkat::cli
