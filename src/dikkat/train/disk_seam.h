// Lets tests of this folder make the n-th system call fail, or write down what a program asked of the disk. The calls
// are replaced at link time in the test program alone (disk_seam_test.cpp), where fsync costs nothing; elsewhere
// nothing changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dikkat::train::testing {

enum class Call : std::uint8_t { open, write, fsync, rename, mkdir };
enum class Lasting : std::uint8_t { once, from_then_on };

struct Fault {
  Call call = Call::write;
  int at = 1;    // the n-th of this call fails
  int code = 0;  // errno; 0 for write: half of the bytes are taken
  Lasting lasting = Lasting::once;
};

// While it lives, calls of this thread fail as told (writes to stdout and stderr aside).
class FaultyDisk {
 public:
  explicit FaultyDisk(const Fault& fault);
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  // Whether the n-th call was reached.
  [[nodiscard]] bool hit() const;
};

struct DiskEvent {
  enum class Kind : std::uint8_t { create, write, sync_file, sync_folder, make_folder, rename, exchange, remove };
  Kind kind = Kind::create;
  std::string path;
  std::string to;        // rename, exchange
  std::size_t file = 0;  // which of the files created: create, write, sync_file
  std::string bytes;     // write
};

// While it lives, what succeeds is written down.
class RecordedDisk {
 public:
  RecordedDisk();
  ~RecordedDisk();
  RecordedDisk(const RecordedDisk&) = delete;
  RecordedDisk& operator=(const RecordedDisk&) = delete;

  [[nodiscard]] const std::vector<DiskEvent>& events() const;
};

}  // namespace dikkat::train::testing
