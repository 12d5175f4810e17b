// Numbers of bytes and of things as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dikkat {

// 512 B, 1.4 KiB, 27 MiB. Always with a point, never by locale.
[[nodiscard]] std::string size_text(std::uint64_t bytes);
// 1 head, 2 heads: for things that take an s.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view thing);

}  // namespace dikkat
