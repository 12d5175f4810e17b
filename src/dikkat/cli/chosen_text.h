// The text a command looks at a model with: --text, --file, or the start of the run's validation part, and which of its
// tokens where it is longer than the model's context.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/cli/arguments.h"
#include "dikkat/cli/command.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/text/tokenizer.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {

// --text, --file, --skip-unknown; --from, --length, --last.
[[nodiscard]] std::vector<Option> text_options();

struct TokenWindow {
  std::size_t first = 0;
  std::size_t count = 0;
};
// What of a text is asked for.
struct WindowWish {
  std::optional<std::size_t> from = {};
  std::optional<std::size_t> length = {};
  std::optional<std::size_t> last = {};
};
// Whether nobody named the text, so that its beginning may be taken without being asked.
enum class Naming : std::uint8_t { named, unnamed };

// The window of a text of `total` tokens (at least one) for a model that sees `room` of them at once.
// Error{incompatible} for a text that is longer and no window asked for, Error{usage} for a window beyond the text or
// the room.
[[nodiscard]] TokenWindow window_of(std::size_t total, std::size_t room, const WindowWish& wish, Naming naming);

struct ChosenText {
  std::vector<text::Token> tokens;  // of the window, at least one
  std::size_t first = 0;            // token of the whole that the window begins with
  std::size_t total = 0;            // tokens of the whole
  std::string source;               // "--text", the file's name, "the validation part of text.txt"
  std::size_t skipped = 0;          // characters left out

  // "tokens 0 to 63 of 1,200 of the validation part of text.txt"
  [[nodiscard]] std::string where() const;
};

// For a model whose context leaves `room` tokens. Error{usage} for no text at all; unknown characters as the tokenizer
// refuses them, with --skip-unknown as the remedy.
[[nodiscard]] ChosenText chosen_text(const Arguments& arguments, const train::LoadedRun& run, std::size_t room);

// Says on standard error how many characters were left out because the model has no token for them, if any.
void say_skipped(std::size_t skipped);

}  // namespace dikkat::cli
