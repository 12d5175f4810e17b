// The bytes of a file of series while they are read: once, from the front, and let go of behind.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "dikkat/base/file.h"
#include "dikkat/base/hash.h"

namespace dikkat::data {

class SeriesSource {
 public:
  // "-" is standard input. Error{io}, Error{malformed} (also for UTF-16), Error{limit} as MappedFile and
  // read_standard_input.
  explicit SeriesSource(const std::filesystem::path& path);
  // Bytes that are in memory already; `name` is what errors call them.
  SeriesSource(std::string bytes, std::string name);

  // What errors call it.
  [[nodiscard]] const std::string& name() const { return name_; }
  // All of it after a byte order mark.
  [[nodiscard]] std::string_view text() const { return raw().substr(mark_); }
  // Says that text() has been read up to `at`.
  void read_to(std::size_t at);
  // XXH3-128 of all bytes.
  [[nodiscard]] std::string fingerprint();

 private:
  void begin();
  [[nodiscard]] std::string_view raw() const { return mapped_ ? mapped_->text() : std::string_view(read_); }

  std::string name_;
  std::optional<MappedFile> mapped_;
  std::string read_;
  std::size_t mark_ = 0;  // bytes of a byte order mark
  std::size_t hashed_ = 0;
  Xxh3Stream hash_;
};

}  // namespace dikkat::data
