#include "dikkat/inspect/head_null_file.h"

#include <bit>
#include <cstring>
#include <system_error>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/hash.h"
#include "dikkat/base/json.h"

namespace dikkat::inspect {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little);

std::size_t count_of(const HeadNull& null) { return null.draws * null.layers * null.heads * null.columns; }

std::string head_of_file(const std::string& key, const HeadNull& shape, std::string_view values) {
  const Json json = Json::object()
                        .set("key", key)
                        .set("draws", shape.draws)
                        .set("layers", shape.layers)
                        .set("heads", shape.heads)
                        .set("columns", shape.columns)
                        .set("xxh3_128", xxh3_128_hex(values));
  return "dikkat head null 1\n" + text_of(json) + "\n";
}

// The length of the head does not hang on the values.
StoredNull taken_from(const std::string& content, const std::string& key, const HeadNull& shape) {
  const std::size_t bytes = count_of(shape) * sizeof(float);
  const std::size_t begin = head_of_file(key, shape, "").size();
  if (content.size() != begin + bytes) {
    return {.damage = "it has " + std::to_string(content.size()) + " bytes, not " + std::to_string(begin + bytes)};
  }
  const std::string_view values = std::string_view(content).substr(begin);
  if (content.compare(0, begin, head_of_file(key, shape, values)) != 0) return {.damage = "its checksum is another"};
  HeadNull null = shape;
  null.values.resize(count_of(shape));
  std::memcpy(null.values.data(), values.data(), bytes);
  return {.null = std::move(null)};
}

}  // namespace

std::string null_key(const models::Config& config, DType dtype, const HeadWindows& windows,
                     const NullOptions& options) {
  return xxh3_128_hex("head scores " + std::to_string(kHeadScoresLaw) + "\n" + text_of(to_json(config)) + "\n" +
                      std::to_string(bytes_of(dtype)) + " " + windows.fingerprint() + " " +
                      std::to_string(options.draws) + " " + std::to_string(options.seed));
}

StoredNull read_null(const fs::path& path, const std::string& key, const HeadNull& shape) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  constexpr std::size_t kMostHead = 1024;
  try {
    return taken_from(read_small_file(path, kMostHead + count_of(shape) * sizeof(float)), key, shape);
  } catch (const Error& error) {
    return {.damage = error.message()};
  }
}

void write_null(const fs::path& path, const std::string& key, const HeadNull& null) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) {
    throw Error(ErrorKind::io, "cannot make the folder: " + failed.message(), {.file = path.parent_path().string()});
  }
  std::string values(count_of(null) * sizeof(float), '\0');
  std::memcpy(values.data(), null.values.data(), values.size());
  replace_file(path, head_of_file(key, null, values) + values);
}

}  // namespace dikkat::inspect
