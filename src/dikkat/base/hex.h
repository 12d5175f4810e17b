// Bytes as lower-case hex digits.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace dikkat {

[[nodiscard]] inline std::string hex(std::span<const std::byte> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    text += kDigits[std::to_integer<unsigned>(b) >> 4U];
    text += kDigits[std::to_integer<unsigned>(b) & 15U];
  }
  return text;
}

}  // namespace dikkat
