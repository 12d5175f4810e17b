// "Did you mean": the known name somebody was probably thinking of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dikkat::cli {

// In this order: what other programs call it (n-embd is width), initials (lr is learning-rate), the nearest spelling,
// the only known name that begins with it.
[[nodiscard]] std::optional<std::string> suggestion(std::string_view name, const std::vector<std::string>& known);

// "did you mean <prefix><name>?", or `otherwise` when no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                                       std::string_view prefix, std::string otherwise);

}  // namespace dikkat::cli
