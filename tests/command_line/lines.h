// What the program wrote, seen as lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace dikkat::testing {

// With its line breaks as blanks: where a sentence is broken is no matter.
inline std::string flat(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Characters of the widest line; UTF-8's continuation bytes are none.
inline std::size_t widest(std::string_view text) {
  std::size_t most = 0;
  std::size_t now = 0;
  for (const char c : text) {
    now = c == '\n' ? 0 : now + ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0);
    most = std::max(most, now);
  }
  return most;
}

}  // namespace dikkat::testing
