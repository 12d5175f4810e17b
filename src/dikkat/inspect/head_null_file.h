// A null of untrained models on disk, so that the next question about the same shape and text costs nothing.
//
//   "dikkat head null 1\n" | one line of JSON {"key", "draws", "layers", "heads", "columns", "xxh3_128"} "\n"
//   | values (N, L, H, S), 32-bit floats, little-endian
// xxh3_128 is that of the values. The key says of what: two nulls with the same key are the same to the bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "dikkat/inspect/head_null.h"

namespace dikkat::inspect {

// 32 hex digits: XXH3-128 over the law of the scores, the model's configuration (shape and initialisation), its number,
// the windows, the number of draws and their seed.
[[nodiscard]] std::string null_key(const models::Config& config, DType dtype, const HeadWindows& windows,
                                   const NullOptions& options);

struct StoredNull {
  std::optional<HeadNull> null = {};
  std::string damage = {};  // why there is none although there is a file; empty when there is no file
};
// `shape`: draws, layers, heads and columns that are expected. Whatever is not exactly what was written is damage.
[[nodiscard]] StoredNull read_null(const std::filesystem::path& path, const std::string& key, const HeadNull& shape);
// Whole or not at all; makes the folder where it is missing. Error{io}.
void write_null(const std::filesystem::path& path, const std::string& key, const HeadNull& null);

}  // namespace dikkat::inspect
