#include "dikkat/cli/shell_word.h"

#include <algorithm>

#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/._-+:@%").find(c) != std::string_view::npos;
}

std::string with(std::string_view word, char character, std::string_view instead) {
  std::string out;
  for (const char c : word) {
    if (c == character) {
      out += instead;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string shell_word(std::string_view word) {
  const std::string path = (word.starts_with('-') ? "./" : "") + std::string(word);
  if (!path.empty() && std::all_of(path.begin(), path.end(), is_plain)) return path;
  const std::string shown = text::escaped(path);
  if (shown == path) return "'" + with(path, '\'', "'\\''") + "'";
  return "$'" + with(text::escaped(with(path, '\\', "\\\\")), '\'', "\\'") + "'";
}

}  // namespace dikkat::cli
