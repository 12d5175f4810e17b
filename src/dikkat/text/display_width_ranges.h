// Which code points take how many columns, as sorted ranges. Their source is made by tools/make_display_width.
#pragma once

#include <cstdint>
#include <span>

namespace dikkat::text {

struct CodePoints {
  std::uint32_t first;
  std::uint32_t last;
};

[[nodiscard]] std::span<const CodePoints> combining_ranges();
[[nodiscard]] std::span<const CodePoints> invisible_ranges();
[[nodiscard]] std::span<const CodePoints> wide_ranges();

}  // namespace dikkat::text
