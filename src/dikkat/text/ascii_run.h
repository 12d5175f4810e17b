// Most text is ASCII for long stretches, which need no decoding: eight bytes are looked at at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dikkat::text {

inline constexpr std::size_t kAsciiRun = 8;

// Whether kAsciiRun ASCII characters stand at `at`.
[[nodiscard]] inline bool ascii_run_at(std::string_view text, std::size_t at) {
  if (text.size() - at < kAsciiRun) return false;
  std::uint64_t word;
  std::memcpy(&word, text.data() + at, sizeof word);
  return (word & 0x8080808080808080U) == 0;
}

}  // namespace dikkat::text
