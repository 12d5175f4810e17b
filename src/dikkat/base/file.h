// Files: read by mapping, replaced whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dikkat {

// A regular file, read-only in memory. Error{io} naming file and errno when it cannot be opened, Error{malformed} when
// it is a directory or device. Empty files map to an empty span. The size is that at opening; a file that shrinks
// later is not protected against (the callers copy what they keep).
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Lets go of the memory of bytes [0, end) that have been read; they are read again from the file if they are touched.
  void let_go(std::size_t end) const;
  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Small files (settings, manifests) whole in memory; Error{limit} above `largest`.
[[nodiscard]] std::string read_small_file(const std::filesystem::path& path, std::size_t largest);
// All of standard input (descriptor 0) until its end; Error{limit} above `largest`.
[[nodiscard]] std::string read_standard_input(std::size_t largest);

// Writes a file durably: every write checked, EINTR retried, fsync, close checked. Error{io} names file, errno and the
// bytes that were to be written. The file must not exist. Unbuffered: write in large pieces.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& path);
  ~FileWriter();  // closes; an unfinished file is removed
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // Puts other bytes in the place of those written before at [offset, offset + bytes.size()).
  void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
  // fsync and close; the file stays.
  void finish();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::size_t written_ = 0;
  bool finished_ = false;
};

// Replaces `path` piece by piece, so that a crash at any instant leaves the old file or the new one: a temporary file
// in the same folder, fsync, rename, fsync of the folder. What is not finished leaves nothing. Two threads may not
// replace the same file at once.
class FileReplacement {
 public:
  explicit FileReplacement(std::filesystem::path path);

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
  void finish();

 private:
  template <class Action>
  void under_own_name(Action&& action);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::unique_ptr<FileWriter> writer_;
};
// The same with all of it at once.
void replace_file(const std::filesystem::path& path, std::string_view content);
void sync_folder(const std::filesystem::path& folder);

// Free bytes for an ordinary user on the file system that holds `path` (an existing file or folder).
[[nodiscard]] std::uintmax_t free_bytes(const std::filesystem::path& path);

// An exclusive advisory lock (flock) for as long as it lives. Error{locked} when another process holds it.
class FileLock {
 public:
  // `path` is created when missing; `what` names the locked thing in the error.
  FileLock(const std::filesystem::path& path, std::string_view what);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace dikkat
