// A settings file: TOML whose keys are the names of the settings (see `dikkat config show`), all at the top level.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dikkat::cli {

struct ConfigEntry {
  std::string key;
  std::variant<bool, std::int64_t, double, std::string> value;
  std::string where;  // "line 3, column 1"
};

// In the file's order. Error{usage} with line and column for anything that is not TOML, a key given twice, nesting
// without end, a control character, a value that is no number, text or switch, a file above 1 MB; Error{io} when it
// cannot be read. CR LF and a byte order mark are fine.
[[nodiscard]] std::vector<ConfigEntry> read_config_file(const std::filesystem::path& path);
// The same for text in hand; `file` is named in errors.
[[nodiscard]] std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& file);

// A text as TOML writes it, with quotes and escapes.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace dikkat::cli
