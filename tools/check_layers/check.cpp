#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "layers.h"

namespace layers {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::size_t line = 0;
  std::string path;
};

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == text.npos ? std::string_view{} : text.substr(first);
}

// What stands between the quotes or brackets of an include line. A macro that holds a path of the house counts as one:
// it is how a kernel names the body that is compiled once per instruction set.
std::optional<std::string> included_path(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed(line.substr(1));
  const bool defines = line.starts_with("define") && line.find("\"dikkat/") != line.npos;
  if (!line.starts_with("include") && !defines) return std::nullopt;
  const std::size_t open = line.find_first_of("\"<");
  if (open == line.npos) return std::nullopt;
  const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  if (close == line.npos) return std::nullopt;
  return std::string(line.substr(open + 1, close - open - 1));
}

std::vector<Include> includes_of(const fs::path& file) {
  std::vector<Include> result;
  std::istringstream lines(read_text(file));
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (auto path = included_path(line)) result.push_back({number, std::move(*path)});
  }
  return result;
}

// The words after SEES in a folder's dikkat_folder(...) call; nothing where there is no such call.
std::optional<std::set<std::string>> linked_folders(const fs::path& cmake_file, const std::string& folder) {
  const std::string text = read_text(cmake_file);
  const std::size_t call = text.find("dikkat_folder(" + folder);
  if (call == text.npos) return std::nullopt;
  std::string words = text.substr(call, text.find(')', call) - call);
  words.erase(0, words.find('(') + 1);
  std::istringstream stream(words);
  std::set<std::string> result;
  bool in_sees = false;
  for (std::string word; stream >> word;) {
    if (std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
      in_sees = word == "SEES";
    } else if (in_sees) {
      result.insert(word);
    }
  }
  return result;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : " ").append(name);
  return text.empty() ? "nothing" : text;
}

class Check {
 public:
  Check(const fs::path& root, Rules rules) : root_(root), rules_(std::move(rules)) {}

  std::vector<Violation> run() {
    check_floors();
    for (const auto& [folder, seen] : rules_.sees) {
      check_links(folder, seen);
    }
    for (const fs::path& file : files()) {
      check_file(file);
    }
    return std::move(violations_);
  }

 private:
  void report(std::string place, std::string rule) { violations_.push_back({std::move(place), std::move(rule)}); }
  [[nodiscard]] fs::path house() const { return root_ / "src" / "dikkat"; }
  [[nodiscard]] std::string relative(const fs::path& file) const { return fs::relative(file, root_).generic_string(); }
  [[nodiscard]] std::string folder_of(const fs::path& file) const {
    return fs::relative(file, house()).begin()->string();
  }

  void check_floors() {
    std::set<std::string> below;
    std::set<std::string> standing;
    for (const auto& floor : rules_.floors) {
      for (const std::string& folder : floor) {
        standing.insert(folder);
        const auto sees = rules_.sees.find(folder);
        if (sees == rules_.sees.end()) {
          report("layers.toml", "`" + folder + "` stands on a floor but [sees] does not say what it may see");
          continue;
        }
        for (const std::string& seen : sees->second) {
          if (below.contains(seen)) continue;
          report("layers.toml",
                 std::string("`").append(folder) + "` sees `" + seen + "`, which stands on no lower floor");
        }
      }
      below.insert(floor.begin(), floor.end());
    }
    for (const auto& [folder, seen] : rules_.sees) {
      if (!standing.contains(folder)) report("layers.toml", "[sees] has `" + folder + "`, which stands on no floor");
    }
  }

  void check_links(const std::string& folder, const std::set<std::string>& seen) {
    const fs::path cmake_file = house() / folder / "CMakeLists.txt";
    if (!fs::exists(cmake_file))
      return report("layers.toml", "`" + folder + "` has no src/dikkat/" + folder + "/CMakeLists.txt");
    const auto linked = linked_folders(cmake_file, folder);
    if (!linked) return report(relative(cmake_file), "no dikkat_folder(" + folder + " ...) here");
    if (*linked != seen) {
      report(relative(cmake_file), "SEES " + listed(*linked) + ", but layers.toml has " + listed(seen));
    }
  }

  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    for (const auto& entry : fs::recursive_directory_iterator(house())) {
      const std::string extension = entry.path().extension().string();
      if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp")) result.push_back(entry.path());
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  [[nodiscard]] Kind kind_of(const std::string& path) const {
    for (const auto& [kind, ends] : rules_.name_ends) {
      if (std::any_of(ends.begin(), ends.end(), [&](const auto& end) { return path.ends_with(end); })) return kind;
    }
    return path.ends_with(".cpp") ? Kind::source : Kind::header;
  }

  void check_file(const fs::path& file) {
    const std::string folder = folder_of(file);
    if (!rules_.sees.contains(folder)) return report(relative(file), "its folder is not in layers.toml");
    const Kind kind = kind_of("/" + relative(file));
    for (const Include& include : includes_of(file)) {
      const std::string place = relative(file) + ":" + std::to_string(include.line);
      if (include.path.starts_with("dikkat/")) {
        check_inside(place, folder, kind, include.path);
      } else {
        check_outside(place, folder, kind, include.path);
      }
    }
  }

  void check_inside(const std::string& place, const std::string& folder, Kind kind, const std::string& path) {
    const std::string target = path.substr(7, path.find('/', 7) - 7);
    if (target != folder && !rules_.sees.at(folder).contains(target)) {
      return report(place, "`" + folder + "` may not see `" + target + "` (" + path + ")");
    }
    const Kind target_kind = kind_of("/" + path);
    if (target_kind == Kind::body && target != folder)
      report(place, path + " is compiled inside `" + target + "` only");
    if (target_kind == Kind::body && kind == Kind::header) report(place, "a public header includes a body, " + path);
    if (target_kind == Kind::test && kind != Kind::test) report(place, path + " is for tests");
  }

  void check_outside(const std::string& place, const std::string& folder, Kind kind, const std::string& path) {
    bool named = false;
    for (const Outside& outside : rules_.outside) {
      const bool matches = std::any_of(outside.headers.begin(), outside.headers.end(), [&](const std::string& header) {
        return header.ends_with('/') ? path.starts_with(header) : path == header;
      });
      if (!matches) continue;
      named = true;
      if (outside.folders.contains(folder) && outside.kinds.contains(kind)) return;
    }
    if (named) {
      report(place, "`" + folder + "` may not include " + path +
                        (kind == Kind::header ? " in a public header" : " in this kind of file"));
    } else if (path.find_first_of("./") != path.npos) {
      report(place, path + " is neither a header of the C++ standard nor named in layers.toml");
    }
  }

  fs::path root_;
  Rules rules_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> check(const fs::path& root) { return Check(root, read_rules(root / "layers.toml")).run(); }

}  // namespace layers
