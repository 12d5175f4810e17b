// Numbers as people read them. Always with a point, never by locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "dikkat/base/size_text.h"

namespace dikkat::cli {

// 27,678
[[nodiscard]] std::string grouped(std::uint64_t number);
// 0.4 s, 23 s, 4:05 min, 2:30 h
[[nodiscard]] std::string duration_text(double seconds);
// about 23 s, less than 0.1 s: of times that are guessed
[[nodiscard]] std::string about_text(double seconds);
// 1.9168
[[nodiscard]] std::string loss_text(double nats);
// 950, 12.3k, 1.2M
[[nodiscard]] std::string rate_text(double per_second);

}  // namespace dikkat::cli
