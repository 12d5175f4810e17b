#include "dikkat/text/wrap.h"

#include <algorithm>

#include "dikkat/text/display_width.h"

namespace dikkat::text {
namespace {

// One paragraph, without blanks at its beginning.
void append_paragraph(std::string_view text, std::size_t columns, std::size_t begin, std::size_t indent,
                      std::string& out) {
  out.append(text.empty() ? 0 : begin, ' ');
  std::size_t used = begin;
  bool first_of_line = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t width = label_columns(word);
    if (!first_of_line && used + 1 + width > columns) {
      out += '\n';
      out.append(begin + indent, ' ');
      used = begin + indent;
    } else if (!first_of_line) {
      out += ' ';
      ++used;
    }
    out += word;
    used += width;
    first_of_line = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

}  // namespace

std::string wrapped_to(std::string_view text, std::size_t columns, std::size_t indent) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    append_paragraph(text.substr(0, end), columns, begin, indent, out);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string prose(std::string_view text) {
  constexpr std::size_t kColumns = 80;
  return wrapped_to(text, kColumns, 0);
}

}  // namespace dikkat::text
