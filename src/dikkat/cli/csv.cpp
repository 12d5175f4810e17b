#include "dikkat/cli/csv.h"

#include "dikkat/base/json.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {

std::string csv_field(std::string_view text) {
  std::string field = "\"";
  for (const char c : is_utf8(text) ? std::string(text) : text::escaped(text)) {
    if (c == '"') field += c;
    field += c;
  }
  return field + "\"";
}

}  // namespace dikkat::cli
