// Names for what is being made and is not there yet: NAME.tmp-PID. Whoever finds one whose process has ended removes it.
#pragma once

#include <filesystem>
#include <string>

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

// Error{io} when it cannot be made, also when it is there.
void make_folder(const std::filesystem::path& folder);

// Renames to a temporary name first, so that a crash leaves no half of it under its own name.
void remove_at_once(const std::filesystem::path& folder);

// Removes *.tmp-PID in `folder` whose process is gone, or has our own number. With `name`, only name.tmp-PID.
void remove_leftovers(const std::filesystem::path& folder, const std::string& name = {});

}  // namespace dikkat::train
