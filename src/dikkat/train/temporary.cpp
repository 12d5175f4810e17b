#include "dikkat/train/temporary.h"

#include <signal.h>  // kill(pid, 0) asks whether a process is there
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"

namespace dikkat::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";

struct TemporaryName {
  std::string_view final_name;
  pid_t process;
};

std::optional<TemporaryName> temporary_name(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const auto process = count_from(name.substr(mark + kMark.size()));
  if (!process || *process == 0 || *process > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max())) {
    return std::nullopt;
  }
  return TemporaryName{name.substr(0, mark), static_cast<pid_t>(*process)};
}

bool is_gone(pid_t process) { return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH); }

}  // namespace

TemporaryPath::TemporaryPath(const fs::path& final_path)
    : path_(final_path.string() + std::string(kMark) + std::to_string(::getpid())) {
  std::error_code code;
  fs::remove_all(path_, code);  // of a dead process that had our number
  if (code) throw Error(ErrorKind::io, "cannot remove: " + code.message(), {.file = path_.string()});
}

TemporaryPath::~TemporaryPath() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void make_folder(const fs::path& folder) {
  std::error_code code;
  const bool made = fs::create_directory(folder, code);
  if (made) return;
  throw Error(ErrorKind::io, "cannot make the folder: " + (code ? code.message() : std::string("it is there already")),
              {.file = folder.string(), .hint = "check the path, its permissions and the space on the disk"});
}

void remove_at_once(const fs::path& folder) {
  const TemporaryPath temporary(folder);
  std::error_code code;
  fs::rename(folder, temporary.path(), code);
  if (code) throw Error(ErrorKind::io, "cannot remove: " + code.message(), {.file = folder.string()});
}

void remove_leftovers(const fs::path& folder, const std::string& name) {
  std::vector<fs::path> leftovers;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const std::string file_name = entry->path().filename().string();
    const auto temporary = temporary_name(file_name);
    if (temporary && is_gone(temporary->process) && (name.empty() || temporary->final_name == name)) {
      leftovers.push_back(entry->path());
    }
  }
  for (const fs::path& leftover : leftovers) {
    fs::remove_all(leftover, code);
    if (code) throw Error(ErrorKind::io, "cannot remove a leftover: " + code.message(), {.file = leftover.string()});
  }
}

}  // namespace dikkat::train
