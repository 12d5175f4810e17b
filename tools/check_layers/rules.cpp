#include <toml++/toml.h>

#include <stdexcept>

#include "layers.h"

namespace layers {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error("layers.toml: " + what); }

std::vector<std::string> strings(const toml::node* node, const std::string& key) {
  const toml::array* array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr) refuse(key + " must be a list of strings");
  std::vector<std::string> result;
  for (const toml::node& element : *array) {
    const toml::value<std::string>* text = element.as_string();
    if (text == nullptr) refuse(key + " must be a list of strings");
    result.push_back(text->get());
  }
  return result;
}

std::set<std::string> string_set(const toml::node* node, const std::string& key) {
  const std::vector<std::string> list = strings(node, key);
  std::set<std::string> result(list.begin(), list.end());
  if (result.size() != list.size()) refuse(key + " names something twice");
  return result;
}

Kind kind_named(const std::string& name) {
  static const std::map<std::string, Kind> kKinds = {
      {"source", Kind::source}, {"body", Kind::body}, {"test", Kind::test}};
  const auto found = kKinds.find(name);
  if (found == kKinds.end()) refuse("unknown kind `" + name + "`; known: source, body, test");
  return found->second;
}

const toml::table& table(const toml::table& file, const std::string& key) {
  const toml::table* result = file[key].as_table();
  if (result == nullptr) refuse("[" + key + "] lacks");
  return *result;
}

Outside outside_of(const toml::table& entry, const std::set<std::string>& all_folders) {
  for (const auto& [key, value] : entry) {
    if (key != "headers" && key != "folders" && key != "in") refuse("[[outside]] knows no `" + std::string(key) + "`");
  }
  Outside outside{.headers = strings(entry.get("headers"), "headers"), .folders = all_folders, .kinds = {}};
  if (entry.contains("folders")) outside.folders = string_set(entry.get("folders"), "folders");
  for (const std::string& folder : outside.folders) {
    if (!all_folders.contains(folder)) refuse("[[outside]] names `" + folder + "`, which stands on no floor");
  }
  for (const std::string& kind : strings(entry.get("in"), "in")) outside.kinds.insert(kind_named(kind));
  return outside;
}

void read_floors(const toml::table& file, Rules& rules, std::set<std::string>& all_folders) {
  const toml::array* floors = file["floors"].as_array();
  if (floors == nullptr) refuse("floors lacks");
  for (const toml::node& floor : *floors) {
    rules.floors.push_back(strings(&floor, "floors"));
    for (const std::string& folder : rules.floors.back()) {
      if (!all_folders.insert(folder).second) refuse("`" + folder + "` stands on two floors");
    }
  }
}

}  // namespace

Rules read_rules(const std::filesystem::path& path) {
  const toml::table file = toml::parse_file(path.string());
  for (const auto& [key, value] : file) {
    if (key != "floors" && key != "sees" && key != "kinds" && key != "outside")
      refuse("unknown key `" + std::string(key) + "`");
  }
  Rules rules;
  std::set<std::string> all_folders;
  read_floors(file, rules, all_folders);
  for (const auto& [folder, seen] : table(file, "sees")) {
    rules.sees[std::string(folder)] = string_set(&seen, "sees." + std::string(folder));
  }
  for (const auto& [kind, ends] : table(file, "kinds")) {
    rules.name_ends[kind_named(std::string(kind))] = strings(&ends, "kinds");
  }
  if (const toml::array* entries = file["outside"].as_array()) {
    for (const toml::node& entry : *entries) {
      if (!entry.is_table()) refuse("outside must be a list of tables");
      rules.outside.push_back(outside_of(*entry.as_table(), all_folders));
    }
  }
  return rules;
}

}  // namespace layers
