#include "dikkat/cli/wrap.h"

#include <algorithm>

#include "dikkat/cli/display_width.h"

namespace dikkat::cli {

std::string wrapped_to(std::string_view text, std::size_t columns, std::size_t indent) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  std::string out(begin, ' ');
  std::size_t used = begin;
  bool first_of_line = true;
  for (std::size_t at = begin; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t width = label_columns(word);
    if (!first_of_line && used + 1 + width > columns) {
      out += "\n" + std::string(begin + indent, ' ');
      used = begin + indent;
    } else if (!first_of_line) {
      out += ' ';
      ++used;
    }
    out += word;
    used += width;
    first_of_line = false;
    at = end + 1;
  }
  return out + "\n";
}

}  // namespace dikkat::cli
