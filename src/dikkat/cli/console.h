// The program's three descriptors, written to directly: no locale, no hidden buffers, and every failure noticed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dikkat::cli {

// Whoever read our output has gone away: the program stops quietly, with exit code 0.
struct OutputClosed {};

// Descriptors 0, 1 and 2 that were closed at the start are opened the wrong way round on /dev/null, so that no file of
// ours takes their place, and reading or writing them fails as it would have.
void hold_standard_descriptors();

// Standard output. Collects, and writes when told to or when much has come together.
class Output {
 public:
  void write(std::string_view text);
  void line(std::string_view text);
  // Error{io} when not everything could be written, OutputClosed when nobody reads any more.
  void flush();

 private:
  std::string pending_;
};

// Standard error: what is lost here is lost.
void write_error(std::string_view text);

enum class Stream { output = 1, error = 2 };
[[nodiscard]] bool is_terminal(Stream stream);
// Columns of the terminal at the stream; 80 when it does not say.
[[nodiscard]] std::size_t columns(Stream stream);
// Whether escape sequences mean anything there: a terminal, and TERM set and not "dumb".
[[nodiscard]] bool has_escapes(Stream stream);
// Whether colours are welcome there: escape sequences, and NO_COLOR unset or empty.
[[nodiscard]] bool has_colour(Stream stream);

// Text for a terminal: line breaks and tabs as they are, every other control character escaped.
[[nodiscard]] std::string harmless(std::string_view text);

}  // namespace dikkat::cli
