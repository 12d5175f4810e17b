// Fields of the CSV files that commands write (RFC 4180).
#pragma once

#include <string>
#include <string_view>

namespace dikkat::cli {

// A text in quotes, whatever it holds; broken UTF-8 escaped.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace dikkat::cli
