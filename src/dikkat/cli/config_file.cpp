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
  return std::to_string(position.line) + ":" + std::to_string(position.column);
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

toml::table parse(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, std::string_view(file));
  } catch (const toml::parse_error& error) {
    refuse(label_of(error.description()), file, place_of(error.source().begin));
  }
}

}  // namespace

std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& file) {
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
