#include "dikkat/base/size_text.h"

#include <fmt/format.h>

#include <array>

namespace dikkat {

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1000 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", size, size < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string counted(std::uint64_t count, std::string_view thing) {
  std::string text = std::to_string(count) + ' ';
  text += thing;
  return count == 1 ? text : text + 's';
}

}  // namespace dikkat
