// safetensors: a JSON header that names tensors, then their bytes.
//
//   u64 little-endian N | N bytes of JSON {"name": {"dtype": "F32", "shape": [2,3], "data_offsets": [begin, end]}, ...}
//   | data; offsets count from the data's first byte.
//
// Source: the format's README in the safetensors repository. Files from outside are hostile, and so are our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/formats/named_tensor.h"
#include "dikkat/tensor/shape.h"

namespace dikkat::formats {

// Wider dtypes first, then by name; header padded with blanks to a multiple of 8, "__metadata__": {"format": "pt"}. So
// the data is aligned and equal input gives equal bytes. Error{internal} for a name that is empty, doubled, not UTF-8
// or
// "__metadata__".
void write_safetensors(std::span<const NamedTensor> tensors, const Sink& sink);

struct StoredTensor {
  std::string name;
  std::string_view dtype;  // the format's name: "BOOL", "BF16", "F32", ...
  std::size_t bits = 0;    // of one element
  Shape shape;
  std::uint64_t begin = 0;  // bytes [begin, end) of the data
  std::uint64_t end = 0;
};

inline constexpr std::size_t kMostHeaderBytes = 100'000'000;
inline constexpr std::size_t kMostTensors = std::size_t{1} << 18U;
inline constexpr std::uint64_t kMostInteger = (std::uint64_t{1} << 48U) - 1;

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in byte-wise order of their names
  std::uint64_t data_begin = 0;       // byte in the file
};

// Reads and proves the header of a whole file in memory, and nothing of the data. Error{malformed} with byte or tensor:
// header beyond the limit or the file; not strict JSON (see base/json.h); unknown key or dtype; more than 6 dimensions;
// an integer written otherwise or beyond 48 bits; a size that overflows, is no whole number of bytes, or is not
// end - begin; data with gaps, overlaps, or bytes that belong to nothing.
[[nodiscard]] SafetensorsHeader read_safetensors_header(std::span<const std::byte> file_bytes, const std::string& file);

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path) : SafetensorsFile(MappedFile(path), path.string()) {}
  // `file` is named in errors.
  SafetensorsFile(MappedFile mapped, std::string file);

  [[nodiscard]] const std::vector<StoredTensor>& tensors() const { return header_.tensors; }
  // Error{incompatible} when there is none of that name, or its dtype is not F32 or F64.
  [[nodiscard]] Tensor read(std::string_view name) const;
  // All of them, in byte-wise order of their names.
  [[nodiscard]] std::vector<NamedTensor> read_all() const;

 private:
  [[nodiscard]] Tensor read(const StoredTensor& stored) const;

  MappedFile mapped_;
  std::string file_;
  SafetensorsHeader header_;
};

}  // namespace dikkat::formats
