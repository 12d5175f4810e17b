#include "dikkat/cli/config_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/json.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20U;

std::string place_of(const toml::source_position& position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

[[noreturn]] void refuse(std::string message, const std::string& file, std::string where, std::string hint = {}) {
  throw Error(ErrorKind::usage, std::move(message), {.file = file, .key = std::move(where), .hint = std::move(hint)});
}

decltype(ConfigEntry::value) value_of(const toml::node& node, const std::string& key, const std::string& file) {
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_string()) return value->get();
  refuse("'" + label_of(key) + "' is neither a number nor a text nor a switch", file, place_of(node.source().begin),
         node.is_table() ? "settings stand at the top level of the file, without tables" : "give it one value");
}

std::string_view line_of(std::string_view text, std::size_t number) {
  while (--number > 0 && text.find('\n') != std::string_view::npos) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find_last_not_of('\r') + 1);
}

// What is wrong, and what to do. The library's own words explain its grammar.
std::pair<std::string, std::string> fault_in(std::string_view description, std::string_view line) {
  const auto says = [&](std::string_view part) { return description.find(part) != std::string_view::npos; };
  const std::string quoted = "'" + label_of(line) + "'";
  if (says("redefine")) return {quoted + " sets something for the second time", "keep one of the two lines"};
  if (says("nested")) return {"values are nested without end here", "give each setting one number, text or switch"};
  if (says("UTF-8") || says("utf-8")) return {"a settings file is UTF-8, and this is not", "save it as UTF-8"};
  const bool has_control =
      std::any_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
  if (has_control) return {"there is a control character in " + quoted, "take it out"};
  return {quoted + " is no setting as TOML writes it",
          "write NAME = VALUE, like steps = 300 or norm = \"rms\": texts in quotes, numbers without leading zeros"};
}

// Steps over the string that begins at `at`: '...', "...", or with three quotes over several lines.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool over_lines = text.substr(at, 3) == three;
  at += over_lines ? 3 : 1;
  for (; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (over_lines ? text.substr(at, 3) == three : text[at] == quote) {
      at += over_lines ? 3 : 1;
      for (int more = 0; over_lines && more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
      return at;
    } else if (!over_lines && text[at] == '\n') {
      return at;
    }
  }
  return text.size();
}

// The library goes one call deeper for every part of a.dotted.key, without end.
void refuse_endless_keys(std::string_view text, const std::string& file) {
  constexpr std::size_t kMostDots = 64;
  std::size_t dots = 0;
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, at);
      line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                  text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      at = end;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\n') {
      ++line;
      dots = 0;
    }
    if (c == '.' && ++dots > kMostDots) {
      refuse("a name of more than " + std::to_string(kMostDots) + " parts between dots", file,
             "line " + std::to_string(line), "write NAME = VALUE, like steps = 300; names of settings have no dots");
    }
    ++at;
  }
}

toml::table parse(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, std::string_view(file));
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    auto [message, hint] = fault_in(error.description(), line_of(text, std::max<std::size_t>(at.line, 1)));
    refuse(std::move(message), file, place_of(at), std::move(hint));
  }
}

}  // namespace

std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& file) {
  refuse_endless_keys(text, file);
  const toml::table table = parse(text, file);
  std::vector<std::pair<toml::source_position, ConfigEntry>> found;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const toml::source_position at = key.source().begin;
    found.push_back({at, {.key = name, .value = value_of(node, name, file), .where = place_of(at)}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ConfigEntry> entries;
  for (auto& [at, entry] : found) entries.push_back(std::move(entry));
  return entries;
}

std::vector<ConfigEntry> read_config_file(const std::filesystem::path& path) {
  std::string text;
  try {
    text = read_small_file(path, kLargest);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::limit) throw;
    refuse("a settings file of more than 1 MB is none", path.string(), "", "check the path");
  }
  return parse_config(text, path.string());
}

std::string toml_text(std::string_view text) {
  std::string quoted;
  append_json_string(text, quoted);  // TOML's basic strings know all of JSON's escapes but \/, which is never written
  return quoted;
}

}  // namespace dikkat::cli
