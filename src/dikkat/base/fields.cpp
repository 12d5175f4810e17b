#include "dikkat/base/fields.h"

#include <algorithm>
#include <cmath>
#include <system_error>

namespace dikkat {
namespace {

template <class Number>
std::optional<Number> whole_text_as(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours, each one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string text_of(double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string();
}

std::optional<std::uint64_t> count_from(std::string_view text) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return whole_text_as<std::uint64_t>(text);
}

std::optional<double> real_from(std::string_view text) {
  const std::optional<double> value = whole_text_as<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<bool> switch_from(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::optional<std::string> nearest;
  std::size_t smallest = name.size() + 1;
  for (const std::string& candidate : known) {
    // A third of the letters may be wrong. Lengths that differ by more need no table (names can be of any size).
    const std::size_t allowed = std::max<std::size_t>(1, std::min(name.size(), candidate.size()) / 3);
    if (std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size()) > allowed) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= allowed && distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace dikkat
