#include "dikkat/base/error.h"

#include <utility>

namespace dikkat {
namespace {

std::string one_line(const std::string& message, const ErrorPlace& place) {
  std::string line = message;
  const std::string spot = place.offset ? "byte " + std::to_string(*place.offset) : place.key;
  if (!place.file.empty() && !spot.empty()) {
    line += " (" + place.file + ": " + spot + ")";
  } else if (!place.file.empty() || !spot.empty()) {
    line += " (" + place.file + spot + ")";
  }
  if (!place.hint.empty()) line += "; " + place.hint;
  return line;
}

}  // namespace

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::internal: return "internal";
    case ErrorKind::usage: return "usage";
    case ErrorKind::malformed: return "malformed";
    case ErrorKind::io: return "io";
    case ErrorKind::numeric: return "numeric";
    case ErrorKind::limit: return "limit";
    case ErrorKind::incompatible: return "incompatible";
    case ErrorKind::locked: return "locked";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string message, ErrorPlace place)
    : kind_(kind), message_(std::move(message)), place_(std::move(place)), line_(one_line(message_, place_)) {}

}  // namespace dikkat
