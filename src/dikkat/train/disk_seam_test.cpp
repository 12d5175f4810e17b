#include "dikkat/train/disk_seam.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <map>
#include <utility>

namespace dikkat::train::testing {
namespace {

using Kind = DiskEvent::Kind;

thread_local std::optional<Fault> fault;
thread_local int seen = 0;

struct Recording {
  std::vector<DiskEvent> events;
  std::map<int, std::pair<std::string, std::optional<std::size_t>>> descriptors;  // path; the number of a created file
  std::size_t files = 0;
};
thread_local Recording* recording = nullptr;

bool fails(Call call) {
  if (!fault || fault->call != call) return false;
  ++seen;
  return fault->lasting == Lasting::once ? seen == fault->at : seen >= fault->at;
}

long refused() {
  errno = fault->code;
  return -1;
}

void note_open(int descriptor, const char* path, int flags) {
  if (recording == nullptr || descriptor < 0) return;
  std::optional<std::size_t> file;
  if ((flags & O_CREAT) != 0) {
    file = recording->files++;
    recording->events.push_back({.kind = Kind::create, .path = path, .to = {}, .file = *file, .bytes = {}});
  }
  recording->descriptors[descriptor] = {path, file};
}

void note_write(int descriptor, const void* bytes, long count) {
  if (recording == nullptr || count <= 0) return;
  const auto found = recording->descriptors.find(descriptor);
  if (found == recording->descriptors.end() || !found->second.second) return;
  recording->events.push_back({.kind = Kind::write,
                               .path = found->second.first,
                               .to = {},
                               .file = *found->second.second,
                               .bytes = {static_cast<const char*>(bytes), static_cast<std::size_t>(count)}});
}

void note_sync(int descriptor) {
  if (recording == nullptr) return;
  const auto found = recording->descriptors.find(descriptor);
  if (found == recording->descriptors.end()) return;
  const auto& [path, file] = found->second;
  recording->events.push_back({.kind = file ? Kind::sync_file : Kind::sync_folder,
                               .path = path,
                               .to = {},
                               .file = file.value_or(0),
                               .bytes = {}});
}

void note(Kind kind, const std::string& path, const char* to = "") {
  if (recording != nullptr) recording->events.push_back({.kind = kind, .path = path, .to = to, .file = 0, .bytes = {}});
}

// The path of a name relative to an open folder (std::filesystem::remove_all walks that way).
std::string path_at(int folder, const char* name) {
  if (folder == AT_FDCWD || name[0] == '/') return name;
  const std::string link = "/proc/self/fd/" + std::to_string(folder);
  char target[4096];
  const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
  return std::string(target, length < 0 ? 0 : static_cast<std::size_t>(length)) + "/" + name;
}

}  // namespace

FaultyDisk::FaultyDisk(const Fault& wanted) {
  seen = 0;
  fault = wanted;
}
FaultyDisk::~FaultyDisk() { fault.reset(); }
bool FaultyDisk::hit() const { return seen >= fault->at; }

RecordedDisk::RecordedDisk() { recording = new Recording; }
RecordedDisk::~RecordedDisk() { delete std::exchange(recording, nullptr); }
const std::vector<DiskEvent>& RecordedDisk::events() const { return recording->events; }

}  // namespace dikkat::train::testing

// In place of the C library's, for this program and the shared libraries it loads.
#define DIKKAT_SEAM extern "C" __attribute__((visibility("default")))
namespace seam = dikkat::train::testing;

DIKKAT_SEAM int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  if ((flags & O_CREAT) != 0 && seam::fails(seam::Call::open)) return static_cast<int>(seam::refused());
  const int descriptor = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  seam::note_open(descriptor, path, flags);
  return descriptor;
}

DIKKAT_SEAM ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (descriptor > STDERR_FILENO && seam::fails(seam::Call::write)) {
    if (seam::fault->code != 0) return seam::refused();
    count = (count + 1) / 2;
  }
  const ssize_t taken = syscall(SYS_write, descriptor, bytes, count);
  seam::note_write(descriptor, bytes, taken);
  return taken;
}

// Not passed on: a kill loses nothing of what the kernel has, power loss is played from the record, and the tests save
// thousands of times.
DIKKAT_SEAM int fsync(int descriptor) {
  if (seam::fails(seam::Call::fsync)) return static_cast<int>(seam::refused());
  seam::note_sync(descriptor);
  return 0;
}

DIKKAT_SEAM int rename(const char* from, const char* to) noexcept {
  if (seam::fails(seam::Call::rename)) return static_cast<int>(seam::refused());
  const int result = static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (result == 0) seam::note(seam::Kind::rename, from, to);
  return result;
}

DIKKAT_SEAM int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (seam::fails(seam::Call::rename)) return static_cast<int>(seam::refused());
  const int result = static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  if (result == 0) seam::note((flags & RENAME_EXCHANGE) != 0 ? seam::Kind::exchange : seam::Kind::rename, from, to);
  return result;
}

DIKKAT_SEAM int mkdir(const char* path, mode_t mode) noexcept {
  if (seam::fails(seam::Call::mkdir)) return static_cast<int>(seam::refused());
  const int result = static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
  if (result == 0) seam::note(seam::Kind::make_folder, path);
  return result;
}

DIKKAT_SEAM int unlinkat(int folder, const char* name, int flags) noexcept {
  const std::string path = seam::recording == nullptr ? "" : seam::path_at(folder, name);
  const int result = static_cast<int>(syscall(SYS_unlinkat, folder, name, flags));
  if (result == 0) seam::note(seam::Kind::remove, path);
  return result;
}

DIKKAT_SEAM int unlink(const char* path) noexcept { return unlinkat(AT_FDCWD, path, 0); }
DIKKAT_SEAM int rmdir(const char* path) noexcept { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
