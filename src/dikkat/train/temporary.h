// Names for what is being made and is not there yet: NAME.tmp-PID. Whoever finds one whose process has ended removes it.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "dikkat/base/error.h"

namespace dikkat::train {

// `final_path`.tmp-PID, free to be created. What lies there at the end of its life is removed, so nothing does after a
// success, which renames it.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::filesystem::path& final_path);
  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Runs `make`; an error that names the temporary path, or something in it, then names `final_path` instead, which people
// know.
template <class Make>
void named_as(const std::filesystem::path& final_path, const TemporaryPath& temporary, Make&& make);

// Error{io} when it cannot be made, also when it is there.
void make_folder(const std::filesystem::path& folder);

// Renames to a temporary name first, so that a crash leaves no half of it under its own name.
void remove_at_once(const std::filesystem::path& folder);

// Removes *.tmp-PID in `folder` whose process is gone, or has our own number. With `name`, only name.tmp-PID.
void remove_leftovers(const std::filesystem::path& folder, const std::string& name = {});

template <class Make>
void named_as(const std::filesystem::path& final_path, const TemporaryPath& temporary, Make&& make) {
  try {
    make();
  } catch (const Error& error) {
    ErrorPlace place = error.place();
    const std::string hidden = temporary.path().string();
    if (!place.file.starts_with(hidden)) throw;
    place.file.replace(0, hidden.size(), final_path.string());
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

}  // namespace dikkat::train
