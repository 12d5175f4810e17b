#include "dikkat/train/check_finding.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dikkat::train {

Finding finding_of(const Error& error, std::string check) {
  const ErrorPlace& place = error.place();
  std::string where = place.file;
  if (!place.key.empty()) where += (where.empty() ? "" : ": ") + place.key;
  if (place.offset) where += (where.empty() ? "byte " : ", byte ") + std::to_string(*place.offset);
  return {.severity = Severity::trouble,
          .check = std::move(check),
          .what = error.message(),
          .where = std::move(where),
          .remedy = place.hint.empty() ? "see the documentation" : place.hint,
          .kind = error.kind()};
}

void append(Findings& findings, Findings more) {
  findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

const Finding* first_trouble(const Findings& findings) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.severity == Severity::trouble; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace dikkat::train
