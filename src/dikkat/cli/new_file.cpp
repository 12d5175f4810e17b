#include "dikkat/cli/new_file.h"

#include <filesystem>

#include "dikkat/base/error.h"
#include "dikkat/base/size_text.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {

void refuse_existing(const std::string& path, const std::string& option) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return;
  throw Error(ErrorKind::usage, "it exists already, and nothing is overwritten",
              {.file = path, .hint = "choose another " + option});
}

std::optional<std::string> new_file(const Arguments& arguments, const std::string& option) {
  std::optional<std::string> file = arguments.text(option);
  if (!file) return file;
  const std::string name = "--" + option;
  if (file->empty() || *file == "-") {
    throw Error(ErrorKind::usage, "it needs the name of a file to be made", {.key = name, .hint = "name one"});
  }
  refuse_existing(*file, name);
  return file;
}

std::string wrote_text(const std::string& path) {
  return "Wrote " + text::escaped(path) + ", " + size_text(std::filesystem::file_size(path));
}

}  // namespace dikkat::cli
