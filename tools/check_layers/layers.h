// The rule of floors: layers.toml against the includes of every source and the links of every folder.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace layers {

enum class Kind { source, header, body, test };

// Headers from outside the house, and who may include them in which kinds of files.
struct Outside {
  std::vector<std::string> headers;  // "fmt/" stands for all that begin so
  std::set<std::string> folders;
  std::set<Kind> kinds;
};

struct Rules {
  std::vector<std::vector<std::string>> floors;        // bottom first
  std::map<std::string, std::set<std::string>> sees;   // folder -> folders
  std::map<Kind, std::vector<std::string>> name_ends;  // of bodies and tests
  std::vector<Outside> outside;
};

// Reads layers.toml. Throws std::runtime_error that names the key which lacks or is not known.
[[nodiscard]] Rules read_rules(const std::filesystem::path& file);

struct Violation {
  std::string place;  // file or file:line, relative to the root
  std::string rule;   // what is broken
  friend bool operator==(const Violation&, const Violation&) = default;
};

// Everything in `root`/src/dikkat that breaks the rules of `root`/layers.toml; empty when the house holds.
[[nodiscard]] std::vector<Violation> check(const std::filesystem::path& root);

}  // namespace layers
