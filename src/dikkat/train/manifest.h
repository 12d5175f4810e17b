// MANIFEST: what a checkpoint folder must hold, to the byte. Text, in its one possible spelling:
//
//   dikkat checkpoint 1
//   <32 hex digits of XXH3-128> <bytes> <name>     one line a file, by name
//   <32 hex digits of the lines above> end
//
// The last line guards the version: a flipped bit is damage, another version is not. Later versions keep both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/base/hash.h"

namespace dikkat::train {

inline constexpr const char* kManifestName = "MANIFEST";
inline constexpr std::uint64_t kCheckpointVersion = 2;

struct FileSum {
  std::string name;
  std::uint64_t bytes = 0;
  std::string xxh3;
};

// Writes a durable file and sums it up on the way.
class SummedFile {
 public:
  SummedFile(const std::filesystem::path& folder, std::string name) : name_(std::move(name)), writer_(folder / name_) {}
  void write(std::span<const std::byte> bytes);
  [[nodiscard]] FileSum finish();

 private:
  std::string name_;
  FileWriter writer_;
  Xxh3Stream hash_;
  std::uint64_t bytes_ = 0;
};

void write_manifest(const std::filesystem::path& folder, std::vector<FileSum> files);

// The files of a folder, mapped, each of the size and hash its manifest states; exactly the `expected` names.
// Error{malformed} naming the file that is missing or damaged; Error{incompatible} for a sound manifest of another
// version; Error{io} when a file is there but cannot be read.
[[nodiscard]] std::map<std::string, MappedFile> open_verified(const std::filesystem::path& folder,
                                                              const std::vector<std::string>& expected);

}  // namespace dikkat::train
