// NumPy's .npz: a zip of .npy files, stored uncompressed, written as it comes: no array needs to be in memory whole.
//
// The file takes its name only when it is whole (see FileReplacement). Entries have no time of their own, so equal
// input gives equal bytes. Entries or offsets beyond 4 GiB are written as ZIP64. Source: PKWARE's APPNOTE.TXT, by way
// of minizip.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "dikkat/formats/npy.h"

namespace dikkat::formats {

// Error{io} when the file cannot be written; nothing is left of what was not finished.
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path);
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  // An array in pieces: begin, then exactly its bytes, row by row and little-endian, then end. Error{internal} for a
  // name used twice or empty, and for other than so many bytes.
  void begin(std::string_view name, const NpyHeader& header);
  void write(std::span<const std::byte> bytes);
  void end();

  void add(std::string_view name, const Tensor& tensor);
  template <class T>
  void add(std::string_view name, NpyNumber number, std::span<const T> values) {
    begin(name, {.number = number, .shape = {values.size()}});
    write(std::as_bytes(values));
    end();
  }
  void add_texts(std::string_view name, std::span<const std::string> texts);

  void finish();

 private:
  struct Zip;
  std::unique_ptr<Zip> zip_;
};

}  // namespace dikkat::formats
