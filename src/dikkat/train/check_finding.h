// What `check` finds before a training: what, where, and what to do about it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"

namespace dikkat::train {

// fine: looked at, nothing to say but the figure. note: good to know. warning: training works, its result may mislead.
// trouble: training would stop, or its result be worth nothing.
enum class Severity : std::uint8_t { fine, note, warning, trouble };

struct Finding {
  Severity severity = Severity::fine;
  std::string check;                      // a word that stays the same: "encoding", "duplicates", ...
  std::string what;                       // one sentence without a full stop
  std::string where = {};                 // file, and line or row, where there is one
  std::string remedy = {};                // an imperative; never empty above fine
  ErrorKind kind = ErrorKind::malformed;  // of trouble: what would stop the training, or should
};
using Findings = std::vector<Finding>;

// The share of the validation part that stands in the training part too: below the first it is as texts are, above the
// second its loss says nothing.
inline constexpr double kFewDuplicates = 0.05;
inline constexpr double kManyDuplicates = 0.5;

// An error that training would stop with.
[[nodiscard]] Finding finding_of(const Error& error, std::string check);
void append(Findings& findings, Findings more);
// The first trouble, nullptr if there is none.
[[nodiscard]] const Finding* first_trouble(const Findings& findings);

}  // namespace dikkat::train

namespace dikkat {

template <>
struct EnumNames<train::Severity> {
  static constexpr std::array<std::pair<train::Severity, std::string_view>, 4> names{
      {{train::Severity::fine, "fine"},
       {train::Severity::note, "note"},
       {train::Severity::warning, "warning"},
       {train::Severity::trouble, "trouble"}}};
};

}  // namespace dikkat
