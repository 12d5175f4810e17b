// A number of bytes as people read it.
#pragma once

#include <cstdint>
#include <string>

namespace dikkat {

// 512 B, 1.4 KiB, 27 MiB. Always with a point, never by locale.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace dikkat
