// The page's parts as they stand in web/page, compiled into the library (cmake/DikkatEmbed.cmake writes the source).
#pragma once

#include <span>
#include <string_view>

namespace dikkat::inspect {

struct PageModule {
  std::string_view name;  // page.html, page.css, or a script
  std::string_view text;
};

// page.html, page.css, then the scripts in the order in which they build on one another.
[[nodiscard]] std::span<const PageModule> page_modules();

}  // namespace dikkat::inspect
