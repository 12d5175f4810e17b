// The one exception of the house, and the exit codes it maps to.
//
// Every refusal names what happened, where (file and byte offset, or the setting's key), why, and what to do.
// Nothing below cli/ prints, aborts or exits: it throws Error, and cli/main turns the kind into the exit code.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace dikkat {

// The value is the process's exit code (documented in the man page).
enum class ErrorKind : int {
  internal = 1,      // a bug of ours
  usage = 2,         // command line or configuration
  malformed = 3,     // an input file that breaks its format
  io = 4,            // missing, permission, full, EIO
  numeric = 5,       // non-finite, diverged
  limit = 6,         // would exceed memory, time or size
  incompatible = 7,  // valid but does not fit (shape, configuration, tokenizer, version, text)
  locked = 8,        // another process holds it
};

[[nodiscard]] const char* name_of(ErrorKind kind);
[[nodiscard]] inline int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

// Where and how to mend; every field may be empty.
struct ErrorPlace {
  std::string file = {};
  std::optional<std::uint64_t> offset = {};  // byte in `file`
  std::string key = {};                      // setting, parameter path, or line:column
  std::string hint = {};                     // the remedy, an imperative
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, ErrorPlace place = {});

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const ErrorPlace& place() const { return place_; }
  // "<message> (<file>:<offset or key>); <hint>", one line, ready for "dikkat: error: ".
  [[nodiscard]] const char* what() const noexcept override { return line_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
  ErrorPlace place_;
  std::string line_;
};

}  // namespace dikkat
