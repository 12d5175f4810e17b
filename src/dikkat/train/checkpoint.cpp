#include "dikkat/train/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>  // renameat2 is Linux's
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/base/size_text.h"
#include "dikkat/formats/safetensors.h"
#include "dikkat/train/checkpoint_state.h"
#include "dikkat/train/manifest.h"
#include "dikkat/train/temporary.h"

namespace dikkat::train {
namespace {

namespace fs = std::filesystem;

// A checkpoint one may not read is no damage to fall back from: an older one would answer in its name.
bool is_denied(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) return false;
  if (::access(folder.c_str(), R_OK | X_OK) != 0) return errno == EACCES;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, code)) {
    if (::access(file.path().c_str(), R_OK) != 0 && errno == EACCES) return true;
  }
  return false;
}

constexpr const char* kLatest = "latest";
constexpr const char* kBest = "best";
constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kState = "state.json";
constexpr std::string_view kStepPrefix = "step-";
constexpr std::size_t kMostPointerBytes = 64;
constexpr const char* kNothingElse = "restore a checkpoint from a copy, or train anew with another --out";

const std::vector<std::string>& file_names() {
  static const std::vector<std::string> names{kOptimizer, kState, kWeights};
  return names;
}

std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  return count_from(name.substr(kStepPrefix.size()));
}

std::string step_name(std::uint64_t step) { return std::string(kStepPrefix) + std::to_string(step); }

std::uint64_t bytes_in(const std::vector<NamedTensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.value.bytes();
  return bytes;
}

FileSum write_tensors(const fs::path& folder, const char* name, const std::vector<NamedTensor>& tensors) {
  SummedFile file(folder, name);
  formats::write_safetensors(tensors, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  return file.finish();
}

std::vector<NamedTensor> read_tensors(std::map<std::string, MappedFile>& files, const fs::path& folder,
                                      const char* name) {
  return formats::SafetensorsFile(std::move(files.at(name)), (folder / name).string()).read_all();
}

void check_room(const fs::path& run, std::uint64_t one_bytes, std::uint64_t count) {
  const std::uintmax_t free = free_bytes(run);
  if (free / count >= one_bytes) return;
  throw Error(
      ErrorKind::io,
      "checkpoints need " + std::to_string(count) + " x " + size_text(one_bytes) + ", " + size_text(free) + " are free",
      {.file = run.string(), .hint = "free space or choose another disk"});
}

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(fs::symlink_status(path, code));
}

// A file takes the place of anything but a folder. What is in it may be dear to somebody.
void set_folder_aside(const fs::path& path) {
  std::error_code code;
  if (fs::symlink_status(path, code).type() != fs::file_type::directory) return;
  if (fs::remove(path, code)) return;  // it was empty
  const fs::path aside = path.string() + ".set-aside";
  if (is_there(aside)) {
    code = std::make_error_code(std::errc::file_exists);
  } else {
    fs::rename(path, aside, code);
  }
  if (!code) return;
  throw Error(ErrorKind::io, "a folder has the name of a pointer, and cannot be renamed: " + code.message(),
              {.file = path.string(), .hint = "move it away"});
}

// Puts `temporary` in the place of `folder`; what stood there before is then called `temporary`, or gone.
void put_in_place(const fs::path& temporary, const fs::path& folder) {
  if (::rename(temporary.c_str(), folder.c_str()) == 0) return;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) {
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) return;
  }
  throw Error(ErrorKind::io, "cannot put the checkpoint in its place: " + std::generic_category().message(errno),
              {.file = folder.string(), .hint = "check the permissions of the run's folder and the space on the disk"});
}

}  // namespace

CheckpointChoice checkpoint_choice_from(std::string_view text) {
  if (text == kLatest) return {.kind = CheckpointChoice::Kind::latest};
  if (text == kBest) return {.kind = CheckpointChoice::Kind::best};
  if (const auto step = count_from(text)) return {.kind = CheckpointChoice::Kind::step, .step = *step};
  throw Error(ErrorKind::usage, "'" + label_of(text) + "' is no checkpoint",
              {.key = "--checkpoint", .hint = "give latest, best or the number of a step"});
}

void write_checkpoint_folder(const fs::path& folder, const Checkpoint& checkpoint) {
  make_folder(folder);
  std::vector<FileSum> sums;
  sums.push_back(write_tensors(folder, kWeights, checkpoint.weights));
  sums.push_back(write_tensors(folder, kOptimizer, checkpoint.optimizer));
  SummedFile state(folder, kState);
  const std::string text = state_text(checkpoint.state);
  state.write(std::as_bytes(std::span(text)));
  sums.push_back(state.finish());
  write_manifest(folder, std::move(sums));
  sync_folder(folder);
}

Checkpoint read_checkpoint_folder(const fs::path& folder, Moments moments) {
  auto files = open_verified(folder, file_names());
  Checkpoint checkpoint;
  checkpoint.state = state_from(files.at(kState).text(), (folder / kState).string());
  checkpoint.weights = read_tensors(files, folder, kWeights);
  if (moments == Moments::kept) checkpoint.optimizer = read_tensors(files, folder, kOptimizer);
  return checkpoint;
}

Checkpoints::Checkpoints(fs::path run, std::size_t keep) : run_(std::move(run)), keep_(std::max(keep, kLeastKept)) {}

fs::path Checkpoints::folder(std::uint64_t step) const { return run_ / step_name(step); }

std::vector<std::uint64_t> Checkpoints::steps() const {
  std::vector<std::uint64_t> found;
  std::error_code code;
  for (fs::directory_iterator entry(run_, code), end; !code && entry != end; entry.increment(code)) {
    if (const auto step = step_of(entry->path().filename().string())) found.push_back(*step);
  }
  if (code) {
    throw Error(ErrorKind::io, "cannot list the folder: " + code.message(),
                {.file = run_.string(), .hint = "check the permissions of the folder"});
  }
  std::sort(found.begin(), found.end());
  return found;
}

void Checkpoints::probe(const Checkpoint& checkpoint) const {
  // At its fullest: the kept ones, the best, and the one being written.
  const std::uint64_t most = keep_ + 2;
  const std::uint64_t missing = most - std::min<std::uint64_t>(steps().size(), most - 1);
  check_room(run_, bytes_in(checkpoint.weights) + bytes_in(checkpoint.optimizer), missing);

  const TemporaryPath temporary(run_ / "probe");
  std::uint64_t bytes = 0;
  named_as(folder(checkpoint.state.step), temporary, [&] {
    write_checkpoint_folder(temporary.path(), checkpoint);
    for (const auto& [name, file] : open_verified(temporary.path(), file_names())) bytes += file.bytes().size();
  });
  check_room(run_, bytes, missing - 1);
}

void Checkpoints::save(const Checkpoint& checkpoint, Rank rank) {
  const std::uint64_t step = checkpoint.state.step;
  if (const auto tensor = formats::first_nonfinite(checkpoint.weights)) {
    throw Error(ErrorKind::numeric, "weights are not finite; they are not saved",
                {.key = *tensor, .hint = "lower the learning rate, or clip gradients"});
  }
  {
    const TemporaryPath temporary(folder(step));
    named_as(folder(step), temporary, [&] {
      write_checkpoint_folder(temporary.path(), checkpoint);
      static_cast<void>(open_verified(temporary.path(), file_names()));
    });
    put_in_place(temporary.path(), folder(step));
    sync_folder(run_);
  }
  verified_.insert(step);
  point(kLatest, step);
  if (rank == Rank::best) point(kBest, step);
  rotate();
}

void Checkpoints::point(const char* pointer, std::uint64_t step) const {
  set_folder_aside(run_ / pointer);
  replace_file(run_ / pointer, step_name(step) + "\n");
}

// Whatever else stands there (a folder, a pipe, a loop of links) is no pointer: the checkpoints are found without.
std::optional<std::uint64_t> Checkpoints::pointed(const char* pointer) const {
  try {
    const std::string text = read_small_file(run_ / pointer, kMostPointerBytes);
    return text.ends_with('\n') ? step_of(std::string_view(text).substr(0, text.size() - 1)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> Checkpoints::warnings_about(const char* pointer, std::uint64_t taken) const {
  const auto step = pointed(pointer);
  if (step && is_there(folder(*step))) return {};
  if (step) {
    return {"'" + std::string(pointer) + "' points to " + step_name(*step) + ", which is missing; taking " +
            step_name(taken)};
  }
  if (!is_there(run_ / pointer)) return {};
  return {"'" + std::string(pointer) + "' does not name a checkpoint; taking " + step_name(taken)};
}

void Checkpoints::restore_pointers(const CheckpointState& state) const {
  if (pointed(kLatest) != state.step) point(kLatest, state.step);
  if (state.best_validation_loss_nats && pointed(kBest) != state.best_step && is_there(folder(state.best_step))) {
    point(kBest, state.best_step);
  }
}

bool Checkpoints::verifies(std::uint64_t step) {
  if (verified_.contains(step)) return true;
  try {
    static_cast<void>(open_verified(folder(step), file_names()));
  } catch (const Error&) {
    return false;
  } catch (const fs::filesystem_error&) {
    return false;
  }
  verified_.insert(step);
  return true;
}

// Deletes what is older than the newest `keep` that verify, except the best. A damaged one counts for nothing.
void Checkpoints::rotate() {
  const auto best = pointed(kBest);
  std::vector<std::uint64_t> present = steps();
  std::size_t kept = 0;
  for (auto step = present.rbegin(); step != present.rend(); ++step) {
    if (kept < keep_) {
      kept += verifies(*step) ? 1 : 0;
    } else if (best != *step) {
      verified_.erase(*step);
      remove_at_once(folder(*step));
    }
  }
}

LoadedCheckpoint Checkpoints::load(const CheckpointChoice& choice, Moments moments) {
  if (choice.kind == CheckpointChoice::Kind::latest) return load_newest(moments);
  const bool best = choice.kind == CheckpointChoice::Kind::best;
  const std::uint64_t step = best ? best_step() : choice.step;
  if (!is_there(folder(step))) {
    throw Error(ErrorKind::io, "there is no checkpoint of step " + std::to_string(step),
                {.file = run_.string(), .hint = others_than(step)});
  }
  try {
    Checkpoint checkpoint = load_step(step, moments);
    return {.checkpoint = std::move(checkpoint),
            .warnings = best ? warnings_about(kBest, step) : std::vector<std::string>{}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::malformed && error.kind() != ErrorKind::io) throw;
    ErrorPlace place = error.place();
    place.hint = others_than(step);
    throw Error(error.kind(), "the checkpoint of step " + std::to_string(step) + " is damaged: " + error.message(),
                std::move(place));
  }
}

// Where the pointer is missing, the newest checkpoint that verifies knows which was the best.
std::uint64_t Checkpoints::best_step() {
  if (const auto step = pointed(kBest)) return *step;
  const CheckpointState newest = load_newest(Moments::left_out).checkpoint.state;
  if (newest.best_validation_loss_nats) return newest.best_step;
  throw Error(ErrorKind::io, "there is no best checkpoint: nothing has been evaluated",
              {.file = run_.string(), .hint = "use --checkpoint latest"});
}

// The remedy when one checkpoint is of no use: those beside it that verify.
std::string Checkpoints::others_than(std::uint64_t step) {
  std::string list;
  for (const std::uint64_t other : steps()) {
    if (other != step && verifies(other)) list += (list.empty() ? "" : " or ") + std::to_string(other);
  }
  return list.empty() ? kNothingElse : "use --checkpoint " + list;
}

Checkpoint Checkpoints::load_step(std::uint64_t step, Moments moments) {
  Checkpoint checkpoint;
  try {
    checkpoint = read_checkpoint_folder(folder(step), moments);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorKind::io, "cannot be read: " + error.code().message(),
                {.file = folder(step).string(), .hint = "check the permissions of the folder"});
  }
  if (checkpoint.state.step != step) {
    throw Error(ErrorKind::malformed, "checkpoint is of step " + std::to_string(checkpoint.state.step),
                {.file = folder(step).string(), .hint = "give the folder back its name"});
  }
  verified_.insert(step);
  return checkpoint;
}

LoadedCheckpoint Checkpoints::load_newest(Moments moments) {
  LoadedCheckpoint loaded;
  const std::vector<std::uint64_t> present = steps();
  if (present.empty()) {
    throw Error(ErrorKind::io, "there is no checkpoint", {.file = run_.string(), .hint = kNothingElse});
  }
  std::string faults;
  for (auto step = present.rbegin(); step != present.rend(); ++step) {
    try {
      loaded.checkpoint = load_step(*step, moments);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::incompatible || is_denied(folder(*step))) throw;
      loaded.warnings.push_back("skipped " + step_name(*step) + ": " + error.what());
      faults += (faults.empty() ? "" : "; ") + step_name(*step) + ": " + error.what();
      continue;
    }
    for (std::string& warning : warnings_about(kLatest, *step)) loaded.warnings.push_back(std::move(warning));
    return loaded;
  }
  throw Error(ErrorKind::malformed,
              (present.size() == 1 ? "the only checkpoint does not verify: "
                                   : "none of " + std::to_string(present.size()) + " checkpoints verifies: ") +
                  faults,
              {.file = run_.string(), .hint = kNothingElse});
}

}  // namespace dikkat::train
