#include "dikkat/train/temporary.h"

#include <signal.h>  // kill(pid, 0) asks whether a process is there
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/file.h"

namespace dikkat::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInfix = ".tmp-";
constexpr const char* kMark = ".dikkat-temporary";
constexpr std::size_t kMostMarkBytes = 4096;
constexpr std::uint64_t kMostProcess = 4194304;  // Linux's PID_MAX_LIMIT: a date, like 20261130, is no process
constexpr std::array<std::string_view, 5> kFiles{"latest", "best", "run.json", "log.jsonl", "nan-report.json"};
constexpr std::array<std::string_view, 4> kCheckpointFiles{"MANIFEST", "optimizer.safetensors", "state.json",
                                                           "weights.safetensors"};

struct TemporaryName {
  std::string_view final_name;
  pid_t process;
};

std::optional<TemporaryName> temporary_name(std::string_view name) {
  const std::size_t infix = name.rfind(kInfix);
  if (infix == std::string_view::npos) return std::nullopt;
  const auto process = count_from(name.substr(infix + kInfix.size()));
  if (!process || *process == 0 || *process > kMostProcess) return std::nullopt;
  return TemporaryName{name.substr(0, infix), static_cast<pid_t>(*process)};
}

bool is_gone(pid_t process) { return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH); }

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_checkpoint_name(std::string_view name) {
  constexpr std::string_view kStep = "step-";
  return name == "probe" || (name.starts_with(kStep) && count_from(name.substr(kStep.size())));
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    entries.push_back(entry->path());
  }
  return entries;
}

enum class What : std::uint8_t { folder, file };

// Of that kind, no link to one, and our user's.
bool is_our(What what, const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid()) return false;
  return what == What::folder ? S_ISDIR(status.st_mode) : S_ISREG(status.st_mode);
}

bool holds_only(const fs::path& folder, std::span<const std::string_view> names) {
  const std::vector<fs::path> entries = entries_of(folder);
  std::error_code code;
  const bool empty = fs::is_empty(folder, code);  // and can be listed
  return !code && empty == entries.empty() && std::all_of(entries.begin(), entries.end(), [&](const fs::path& entry) {
    return is_our(What::file, entry) && is_one_of(entry.filename().string(), names);
  });
}

bool is_marked(const fs::path& folder) {
  try {
    return is_our(What::file, folder / kMark) &&
           read_small_file(folder / kMark, kMostMarkBytes) == folder.filename().string() + "\n";
  } catch (const Error&) {
    return false;
  }
}

// Of a run that was being made. A crash between making the folder and marking it leaves nothing, or a piece of the
// mark.
bool is_unfinished_run(const fs::path& folder) {
  constexpr std::array<std::string_view, 1> kOnlyMark{kMark};
  return is_our(What::folder, folder) && (is_marked(folder) || holds_only(folder, kOnlyMark));
}

// Within a run: what it was to become.
bool is_unfinished_part(const fs::path& path, std::string_view final_name) {
  if (is_checkpoint_name(final_name)) return is_our(What::folder, path) && holds_only(path, kCheckpointFiles);
  return is_one_of(final_name, kFiles) && is_our(What::file, path);
}

void remove_leftover(const fs::path& leftover) {
  std::error_code code;
  fs::remove_all(leftover, code);
  if (!code) return;
  throw Error(ErrorKind::io, "cannot remove a leftover: " + code.message(),
              {.file = leftover.string(), .hint = "check the permissions of the folder"});
}

template <class IsLeftover>
void remove_leftovers(const fs::path& folder, IsLeftover&& is_leftover) {
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    const auto temporary = temporary_name(name);
    if (temporary && is_gone(temporary->process) && is_leftover(entry, temporary->final_name)) remove_leftover(entry);
  }
}

}  // namespace

TemporaryPath::TemporaryPath(const fs::path& final_path)
    : path_(final_path.string() + std::string(kInfix) + std::to_string(::getpid())) {
  std::error_code code;
  if (fs::symlink_status(path_, code).type() == fs::file_type::not_found) return;
  if (code) {
    throw Error(ErrorKind::io, "cannot be made: " + code.message(),
                {.file = final_path.string(), .hint = "check the path and its permissions"});
  }
  // Of a dead process that had our number, or somebody's own.
  if (!is_unfinished_run(path_) && !is_unfinished_part(path_, final_path.filename().string())) {
    throw Error(ErrorKind::io, "something is in the way", {.file = path_.string(), .hint = "give it another name"});
  }
  remove_leftover(path_);
}

TemporaryPath::~TemporaryPath() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void mark(const TemporaryPath& temporary) {
  FileWriter writer(temporary.path() / kMark);
  writer.write(temporary.path().filename().string() + "\n");
  writer.finish();
  sync_folder(temporary.path());
}

void unmark(const fs::path& folder) { ::unlink((folder / kMark).c_str()); }

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

void remove_leftovers_beside(const fs::path& run) {
  const std::string name = run.filename().string();
  remove_leftovers(run.has_parent_path() ? run.parent_path() : fs::path("."),
                   [&](const fs::path& entry, std::string_view final_name) {
                     return final_name == name && is_unfinished_run(entry);
                   });
}

void remove_leftovers_within(const fs::path& run) {
  remove_leftovers(run, is_unfinished_part);
  unmark(run);
}

}  // namespace dikkat::train
