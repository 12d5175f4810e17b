// What ablate, patch and order share: the parts of a model by the words of the command line, and a text with its
// windows.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/command.h"
#include "dikkat/inspect/intervention_parts.h"
#include "dikkat/stats/summary.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {

// "a,b,c" as its words; Error{usage} for an empty one.
[[nodiscard]] std::vector<std::string> words_of_list(std::string_view option, std::string_view list);
// "0,3-7" as 0 3 4 5 6 7, ascending, each once; Error{usage} for anything else, or numbers of `bound` and above.
[[nodiscard]] std::vector<std::size_t> numbers_of_list(std::string_view option, std::string_view list,
                                                       std::size_t bound);

// --heads, --blocks, --residuals, --paths.
[[nodiscard]] std::vector<Option> part_options();
// The parts they name, in the order of these options, each once; what the model does not have is refused with the
// nearest and the option's name.
[[nodiscard]] std::vector<inspect::Part> named_parts(const Arguments& arguments, const models::Config& config);

// --file, --skip-unknown; a text that windows are drawn from.
[[nodiscard]] std::vector<Option> windows_text_options();
struct WindowsText {
  data::Corpus corpus;
  std::string source;      // "the validation part of text.txt"
  bool own = false;        // the run's own text: its validation part is measured, its training part is the reference
  std::string whole = {};  // of the run's own text: the file that all of it is in; empty where it is in several

  [[nodiscard]] std::span<const text::Token> measured() const {
    return corpus.part(own ? data::Split::validation : data::Split::all);
  }
  [[nodiscard]] std::span<const text::Token> reference() const {
    return own ? corpus.part(data::Split::train) : std::span<const text::Token>{};
  }
};
// Of the named file, or of the run's own text.
[[nodiscard]] WindowsText windows_text(const train::LoadedRun& run, const std::optional<std::string>& file,
                                       text::UnknownPolicy unknown);

// What is measured, as a head says it: "the validation part of text.txt, which the model did not learn from".
[[nodiscard]] std::string measured_text(const WindowsText& text);
// What to say where an interval would lean on too few windows, and how to have more: shorter windows, or all of the
// run's text by `naming` its file ("--file ", or nothing for an operand). nullopt for kLeastWindows and more.
[[nodiscard]] std::optional<std::string> few_windows(std::size_t windows, const WindowsText& text, std::size_t length,
                                                     std::string_view naming);

// The mean of numbers that are one a window and half its 95 % interval: "0.1234 ± 0.0210"; the mean alone where there
// is none. With Sign::always: "+0.1234 ± 0.0210", and "nothing measurable" where both are zero to four places.
enum class Sign : std::uint8_t { if_negative, always };
[[nodiscard]] std::string mean_text(std::span<const double> numbers, Sign sign = Sign::if_negative);
// Whether a mean and half its interval are both zero to the four places that are shown.
[[nodiscard]] bool nothing_measurable(double mean, double half);
inline constexpr std::string_view kNothingMeasurable = "nothing measurable";

// A number for JSON; null where it is not finite.
[[nodiscard]] Json as_json(const stats::Interval& interval);

}  // namespace dikkat::cli
