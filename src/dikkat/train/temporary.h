// Names for what is being made and is not there yet: NAME.tmp-PID. Whoever finds one whose process has ended removes
// it, if it is surely ours: people may call their own folders so.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "dikkat/base/error.h"

namespace dikkat::train {

// `final_path`.tmp-PID, free to be created: a leftover there is removed, anything else is Error{io}. What lies there at
// the end of its life is removed, so nothing does after a success, which renames it.
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

// Runs `make`; an error that names the temporary path, or something in it, then names `final_path` instead, which
// people know.
template <class Make>
void named_as(const std::filesystem::path& final_path, const TemporaryPath& temporary, Make&& make);

// Error{io} when it cannot be made, also when it is there.
void make_folder(const std::filesystem::path& folder);

// A mark in a folder that has just been made at the temporary name RUN.tmp-PID, telling that name: what proves later
// that the folder is ours. On the disk before anything else in the folder.
void mark(const TemporaryPath& temporary);
// Takes the mark from the folder, under its own name by now. A mark that stays says nothing about another name.
void unmark(const std::filesystem::path& folder);

// Renames to a temporary name first, so that a crash leaves no half of it under its own name.
void remove_at_once(const std::filesystem::path& folder);

// What ended processes (or an earlier one of our number) left of making `run` beside it: folders run.tmp-PID that hold
// the mark and belong to our user, or that are empty or have nothing but a mark.
void remove_leftovers_beside(const std::filesystem::path& run);
// The same within `run`: files and checkpoint folders of the names that are made there, the latter with nothing in them
// but a checkpoint's files; and the mark of the run itself.
void remove_leftovers_within(const std::filesystem::path& run);

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
