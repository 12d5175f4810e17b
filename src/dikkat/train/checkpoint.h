// Checkpoints: folders RUN/step-N/ that are whole or not there, and the way back from them.
//
//   weights.safetensors  optimizer.safetensors  state.json  MANIFEST (sizes and XXH3-128 of the three, see manifest.h)
//
// Saving: write RUN/step-N.tmp-PID/, every file fsynced; MANIFEST; fsync the folder; read all of it back and verify;
// rename to step-N; fsync RUN; replace the pointers `latest` and `best`; only then rotate. Killed at any instant, RUN
// holds the checkpoints it held before, or those and the new one.
// Loading: the newest folder that verifies; what was skipped, and why, is returned as warnings. Modification times and
// the `latest` pointer play no part in the choice: a pointer may lag behind by a crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/formats/named_tensor.h"
#include "dikkat/models/config.h"
#include "dikkat/train/settings.h"

namespace dikkat::train {

using formats::NamedTensor;

// All that training needs besides tensors. Randomness and the place in the data are functions of the step alone.
struct CheckpointState {
  std::uint64_t step = 0;  // updates done
  models::Config model;
  Settings settings;
  std::string coding_fingerprint;
  std::string data_fingerprint;
  std::optional<double> best_validation_loss_nats;
  std::uint64_t best_step = 0;
  std::uint64_t evaluations_since_best = 0;
  std::uint64_t evaluated_step = 0;  // of the last evaluation, so that one cut short is made when the run goes on
  std::optional<double> validation_loss_nats;  // of that evaluation
  std::uint64_t skipped_nonfinite = 0;
  std::vector<double> loss_tail;  // of the last steps, newest last, finite ones only

  friend bool operator==(const CheckpointState&, const CheckpointState&) = default;
};

struct Checkpoint {
  CheckpointState state;
  std::vector<NamedTensor> weights;
  std::vector<NamedTensor> optimizer;
};

// Which checkpoint a command asks for: "latest", "best" or a step.
struct CheckpointChoice {
  enum class Kind : std::uint8_t { latest, best, step };
  Kind kind = Kind::latest;
  std::uint64_t step = 0;
};
// Error{usage} for anything else.
[[nodiscard]] CheckpointChoice checkpoint_choice_from(std::string_view text);

struct LoadedCheckpoint {
  Checkpoint checkpoint;              // tensors in byte-wise order of their names
  std::vector<std::string> warnings;  // one line each
};

enum class Rank : std::uint8_t { ordinary, best };

// The optimiser's moments take twice the memory of the weights, and only training needs them. Left out they are
// verified but not read.
enum class Moments : std::uint8_t { kept, left_out };

// The checkpoints of one run. Those who save hold the run's lock (run_folder.h); reading needs none.
class Checkpoints {
 public:
  static constexpr std::size_t kLeastKept = 2;

  // keep: the newest verified checkpoints to keep besides the best one; at least kLeastKept.
  Checkpoints(std::filesystem::path run, std::size_t keep);

  // Steps of the folders that are there, ascending; not verified.
  [[nodiscard]] std::vector<std::uint64_t> steps() const;

  // Before training: that a checkpoint of this size can be written and read back here (it is, and is deleted again),
  // and that there is room for all that will lie here together. Error{io} naming the bytes needed and free.
  void probe(const Checkpoint& checkpoint) const;

  // Error{numeric} naming the tensor when a weight is not finite; Error{io} when it cannot be written, with the earlier
  // checkpoints as they were. A folder of the same step is exchanged for the new one.
  void save(const Checkpoint& checkpoint, Rank rank);

  // latest: none there is Error{io}; none that verifies is Error{malformed}, naming the newest's fault. best, step:
  // that one or an Error; which was the best, the newest that verifies knows where the pointer is missing. Another
  // format version is Error{incompatible}; it is never skipped.
  [[nodiscard]] LoadedCheckpoint load(const CheckpointChoice& choice = {}, Moments moments = Moments::kept);

  // Makes the pointers agree with the state training goes on from (after a crash between renaming and pointing, or
  // when the newest checkpoint was damaged).
  void restore_pointers(const CheckpointState& state) const;

 private:
  [[nodiscard]] std::filesystem::path folder(std::uint64_t step) const;
  [[nodiscard]] std::optional<std::uint64_t> pointed(const char* pointer) const;
  // What is wrong with the pointer, now that the checkpoint `taken` was; one line or none.
  [[nodiscard]] std::vector<std::string> warnings_about(const char* pointer, std::uint64_t taken) const;
  void point(const char* pointer, std::uint64_t step) const;
  [[nodiscard]] LoadedCheckpoint load_newest(Moments moments);
  [[nodiscard]] std::uint64_t best_step();
  [[nodiscard]] std::string others_than(std::uint64_t step);
  [[nodiscard]] Checkpoint load_step(std::uint64_t step, Moments moments);
  [[nodiscard]] bool verifies(std::uint64_t step);
  void rotate();

  std::filesystem::path run_;
  std::size_t keep_;
  std::set<std::uint64_t> verified_;  // by this object, so that rotation doesn't read them again
};

// A checkpoint folder by itself, without run or pointers: for import, and for the functions above.
void write_checkpoint_folder(const std::filesystem::path& folder, const Checkpoint& checkpoint);
[[nodiscard]] Checkpoint read_checkpoint_folder(const std::filesystem::path& folder, Moments moments = Moments::kept);

}  // namespace dikkat::train
