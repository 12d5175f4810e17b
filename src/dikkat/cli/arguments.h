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
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/cli/command.h"

namespace dikkat::cli {

class Arguments {
 public:
  // Error{usage} for whatever does not fit the table, with the nearest name. With --help among the words (before a
  // --) nothing is asked of the operands.
  Arguments(const Command& command, const std::vector<std::string>& words);

  [[nodiscard]] const Command& command() const { return *command_; }
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
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

// Error{usage}: "--steps takes a whole number >= 0 in decimal digits, not '1.0'".
[[noreturn]] void refuse_value(std::string_view option, std::string_view given, const std::string& domain);

template <class T>
T Arguments::value(std::string_view option, T otherwise) const {
  const std::optional<std::string> given = text(option);
  if (!given) return otherwise;
  const std::optional<T> read = field_from<T>(*given);
  if (!read) refuse_value(option, *given, domain_of<T>());
  return *read;
}

}  // namespace dikkat::cli
