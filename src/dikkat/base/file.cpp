#include "dikkat/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadStep = std::size_t{1} << 20U;

std::string remedy_for(int code) {
  switch (code) {
    case ENOENT: return "check the path";
    case EACCES:
    case EPERM: return "check the permissions of the file and its folders";
    case ENOSPC:
    case EDQUOT: return "free space or choose another disk";
    case EFBIG: return "raise the limit on file sizes (ulimit -f)";
    case EROFS: return "choose a folder that can be written";
    case EEXIST: return "remove it or choose another name";
    case EMFILE:
    case ENFILE: return "raise the limit on open files (ulimit -n)";
    default: return "";
  }
}

[[noreturn]] void fail(const std::string& what, const std::string& file, int code = errno) {
  throw Error(ErrorKind::io, what + ": " + std::generic_category().message(code),
              {.file = file, .hint = remedy_for(code)});
}

// Repeats a system call that a signal interrupted.
template <class Call>
auto uninterrupted(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Closes when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  [[nodiscard]] int number() const { return number_; }
  // The caller closes it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

struct OpenFile {
  Descriptor descriptor;
  std::size_t size;
};

// O_NONBLOCK: a pipe without a writer would otherwise hold us before we could see that it is one.
OpenFile open_regular(const fs::path& path) {
  const int number = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
  if (number < 0) fail("cannot open for reading", path.string());
  Descriptor descriptor(number);
  struct stat status {};
  if (::fstat(number, &status) != 0) fail("cannot examine", path.string());
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::malformed, fmt::format("{} is not a regular file", kind_of(status.st_mode)),
                {.file = path.string(), .hint = "name a file, or pipe the content in as '-' where that is allowed"});
  }
  return {std::move(descriptor), static_cast<std::size_t>(status.st_size)};
}

[[noreturn]] void refuse_size(const std::string& file, std::size_t largest) {
  throw Error(ErrorKind::limit, fmt::format("larger than {} bytes, the most that is read here", largest),
              {.file = file, .hint = "check that it is the file you meant"});
}

// One byte more than allowed is asked for, to tell "exactly the limit" from "more".
std::string read_all(int descriptor, std::size_t largest, const std::string& file) {
  std::string text;
  for (;;) {
    const std::size_t had = text.size();
    const std::size_t room = largest - had;
    text.resize(had + std::min(room, kReadStep - 1) + 1);
    const ssize_t got = uninterrupted([&] { return ::read(descriptor, text.data() + had, text.size() - had); });
    if (got < 0 && errno == EAGAIN) {
      pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
      ::poll(&waiting, 1, -1);
      text.resize(had);
      continue;
    }
    if (got < 0) fail("cannot read", file);
    text.resize(had + static_cast<std::size_t>(got));
    if (got == 0) return text;
    if (text.size() > largest) refuse_size(file, largest);
  }
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

MappedFile::MappedFile(const fs::path& path) {
  const OpenFile file = open_regular(path);
  if (file.size == 0) return;
  void* address = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor.number(), 0);
  if (address == MAP_FAILED) fail(fmt::format("cannot map {} bytes", file.size), path.string());
  data_ = static_cast<const std::byte*>(address);
  size_ = file.size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::let_go(std::size_t end) const {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (end >= page) madvise(const_cast<std::byte*>(data_), end / page * page, MADV_DONTNEED);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string read_small_file(const fs::path& path, std::size_t largest) {
  const OpenFile file = open_regular(path);
  if (file.size > largest) refuse_size(path.string(), largest);
  return read_all(file.descriptor.number(), largest, path.string());
}

std::string read_standard_input(std::size_t largest) { return read_all(STDIN_FILENO, largest, "standard input"); }

FileWriter::FileWriter(const fs::path& path) : path_(path) {
  constexpr mode_t kMode = 0666;  // narrowed by the umask
  descriptor_ =
      uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode); });
  if (descriptor_ < 0) fail("cannot create", path.string());
}

FileWriter::~FileWriter() {
  if (finished_) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  ::unlink(path_.c_str());
}

void FileWriter::write(std::span<const std::byte> bytes) {
  const std::size_t wanted = bytes.size();
  while (!bytes.empty()) {
    const ssize_t put = uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (put <= 0) {
      fail(fmt::format("cannot write {} bytes after the first {}", wanted, written_), path_.string(),
           put == 0 ? ENOSPC : errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  written_ += wanted;
}

void FileWriter::rewrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        uninterrupted([&] { return ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (put <= 0) {
      fail(fmt::format("cannot write {} bytes at {}", bytes.size(), offset), path_.string(), put == 0 ? ENOSPC : errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void FileWriter::finish() {
  // A failed fsync is never repeated: the kernel may have dropped the pages and would then report success.
  if (uninterrupted([&] { return ::fsync(descriptor_); }) != 0) {
    fail(fmt::format("cannot bring {} bytes to the disk", written_), path_.string());
  }
  // Linux has closed the descriptor even when a signal interrupts.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail("cannot close", path_.string());
  finished_ = true;
}

// People know the file by its own name.
template <class Action>
void FileReplacement::under_own_name(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    throw Error(error.kind(), error.message(), {.file = path_.string(), .hint = error.place().hint});
  }
}

FileReplacement::FileReplacement(fs::path path)
    : path_(std::move(path)), temporary_(path_.string() + fmt::format(".tmp-{}", ::getpid())) {
  ::unlink(temporary_.c_str());  // of a dead process that had our number
  under_own_name([&] { writer_ = std::make_unique<FileWriter>(temporary_); });
}

void FileReplacement::write(std::span<const std::byte> bytes) {
  under_own_name([&] { writer_->write(bytes); });
}

void FileReplacement::rewrite(std::uint64_t offset, std::span<const std::byte> bytes) {
  under_own_name([&] { writer_->rewrite(offset, bytes); });
}

void FileReplacement::finish() {
  under_own_name([&] { writer_->finish(); });
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary_.c_str());
    fail("cannot replace", path_.string(), code);
  }
  sync_folder(folder_of(path_));
}

void replace_file(const fs::path& path, std::string_view content) {
  FileReplacement file(path);
  file.write(content);
  file.finish();
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(
      uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (descriptor.number() < 0) fail("cannot open the folder", folder.string());
  // EINVAL: a file system that keeps its folders in order by itself.
  if (uninterrupted([&] { return ::fsync(descriptor.number()); }) != 0 && errno != EINVAL) {
    fail("cannot bring the folder to the disk", folder.string());
  }
}

std::uintmax_t free_bytes(const fs::path& path) {
  std::error_code code;
  const fs::space_info space = fs::space(path, code);
  if (code) fail("cannot ask for the free space", path.string(), code.value());
  return space.available;
}

FileLock::FileLock(const fs::path& path, std::string_view what) {
  constexpr mode_t kMode = 0666;
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  Descriptor descriptor(uninterrupted([&] { return ::open(path.c_str(), kFlags, kMode); }));
  if (descriptor.number() < 0) fail("cannot open the lock", path.string());
  if (uninterrupted([&] { return ::flock(descriptor.number(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) fail("cannot lock", path.string());
    throw Error(ErrorKind::locked, fmt::format("{} is in use by another process", what),
                {.file = path.string(), .hint = "wait until it has ended, or stop it"});
  }
  descriptor_ = descriptor.release();
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace dikkat
