#include "dikkat/train/manifest.h"

#include <algorithm>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"

namespace dikkat::train {
namespace {

constexpr std::string_view kTitle = "dikkat checkpoint ";
constexpr std::string_view kEnd = " end\n";
constexpr std::size_t kHashDigits = 32;
constexpr std::size_t kMostManifestBytes = std::size_t{1} << 16U;

[[noreturn]] void refuse(const std::filesystem::path& file, std::string rule) {
  throw Error(ErrorKind::malformed, std::move(rule), {.file = file.string()});
}

std::string manifest_text(const std::vector<FileSum>& files) {
  std::string text = std::string(kTitle) + std::to_string(kCheckpointVersion) + "\n";
  for (const FileSum& file : files) text += file.xxh3 + " " + std::to_string(file.bytes) + " " + file.name + "\n";
  return text + xxh3_128_hex(text) + std::string(kEnd);
}

// The lines above the last one, whose hash they must have.
std::string_view guarded_part(std::string_view text, const std::filesystem::path& file) {
  const std::size_t tail = kHashDigits + kEnd.size();
  if (text.size() < tail || !text.ends_with(kEnd)) refuse(file, "manifest is cut short");
  const std::string_view part = text.substr(0, text.size() - tail);
  if (text.substr(part.size(), kHashDigits) != xxh3_128_hex(part)) refuse(file, "manifest is damaged");
  return part;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void check_version(std::string_view line, const std::filesystem::path& file) {
  const auto version = line.starts_with(kTitle) ? count_from(line.substr(kTitle.size())) : std::nullopt;
  if (!version) refuse(file, "not a checkpoint's manifest");
  if (*version != kCheckpointVersion) {
    throw Error(ErrorKind::incompatible,
                "checkpoint of format version " + std::to_string(*version) + "; this program reads version " +
                    std::to_string(kCheckpointVersion),
                {.file = file.string(), .hint = "use the version of dikkat that wrote it"});
  }
}

std::vector<FileSum> parse_manifest(std::string_view text, const std::filesystem::path& file) {
  std::string_view rest = guarded_part(text, file);
  check_version(next_line(rest), file);
  std::vector<FileSum> files;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    const std::size_t blank = line.find(' ', kHashDigits + 1);
    const auto bytes = blank == std::string_view::npos
                           ? std::nullopt
                           : count_from(line.substr(kHashDigits + 1, blank - kHashDigits - 1));
    if (!bytes) refuse(file, "manifest has a line that is no file");
    files.push_back({std::string(line.substr(blank + 1)), *bytes, std::string(line.substr(0, kHashDigits))});
  }
  if (manifest_text(files) != text) refuse(file, "manifest is not in its one spelling");
  return files;
}

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

MappedFile map_verified(const std::filesystem::path& path, const FileSum& sum) {
  if (!std::filesystem::exists(path)) refuse(path, "file of the checkpoint is missing");
  MappedFile mapped(path);
  if (mapped.bytes().size() != sum.bytes) {
    refuse(path, std::to_string(mapped.bytes().size()) + " bytes instead of " + std::to_string(sum.bytes));
  }
  // Piece by piece, so that a check during training does not hold the whole file beside the model.
  Xxh3Stream hash;
  const std::span<const std::byte> bytes = mapped.bytes();
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    const std::size_t end = std::min(begin + kPieceBytes, bytes.size());
    hash.update(bytes.subspan(begin, end - begin));
    mapped.let_go(end);
  }
  if (hash.hex() != sum.xxh3) refuse(path, "content differs from its checksum");
  return mapped;
}

}  // namespace

void SummedFile::write(std::span<const std::byte> bytes) {
  writer_.write(bytes);
  hash_.update(bytes);
  bytes_ += bytes.size();
}

FileSum SummedFile::finish() {
  writer_.finish();
  return {name_, bytes_, hash_.hex()};
}

void write_manifest(const std::filesystem::path& folder, std::vector<FileSum> files) {
  std::sort(files.begin(), files.end(), [](const FileSum& a, const FileSum& b) { return a.name < b.name; });
  FileWriter writer(folder / kManifestName);
  writer.write(manifest_text(files));
  writer.finish();
}

std::map<std::string, MappedFile> open_verified(const std::filesystem::path& folder,
                                                const std::vector<std::string>& expected) {
  const std::filesystem::path path = folder / kManifestName;
  if (!std::filesystem::exists(path)) refuse(folder, "no MANIFEST: not a whole checkpoint");
  const std::vector<FileSum> files = parse_manifest(read_small_file(path, kMostManifestBytes), path);
  std::vector<std::string> names;
  for (const FileSum& file : files) names.push_back(file.name);
  if (names != expected) refuse(path, "manifest lists other files than a checkpoint has");

  std::map<std::string, MappedFile> mapped;
  for (const FileSum& file : files) mapped.emplace(file.name, map_verified(folder / file.name, file));
  return mapped;
}

}  // namespace dikkat::train
