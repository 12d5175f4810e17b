// RUN: everything a run is, in one folder that can be copied, looked into and resumed.
//
//   run.json         what was asked for: model, settings, conduct, sources, program; guarded by a checksum of its own
//   tokenizer.json   how text becomes numbers, byte for byte what its fingerprint is of; for series: series.json
//   text-0.txt ...   copies of texts that came through standard input
//   log.jsonl        one line a step (run_log.h)
//   step-N/          checkpoints, and the pointers `latest` and `best` (checkpoint.h)
//   lock             held by whoever trains
//
// A crash while it is made leaves no RUN, only RUN.tmp-PID, which the next one to make it removes.
// The formats are documented in docs/formats/run.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/models/config.h"
#include "dikkat/train/checkpoint.h"
#include "dikkat/train/estimate.h"
#include "dikkat/train/settings.h"

namespace dikkat::train {

inline constexpr std::uint64_t kRunVersion = 2;

struct DataSource {
  std::string path;  // as it was named; "-" for standard input
  std::uint64_t bytes = 0;
  std::string copy;  // file in RUN that holds it; empty when the original is read again

  friend bool operator==(const DataSource&, const DataSource&) = default;
};

struct RunRecord {
  std::string program;  // version that made the run
  models::Config model;
  Settings settings;
  Conduct conduct;
  std::string coding_fingerprint;
  std::vector<DataSource> sources;
  std::string data_fingerprint;
};

// For a folder that is to be made.
struct NewRun {
  RunRecord record;
  std::string coding_json;
  std::vector<std::pair<std::string, std::string_view>> copies;  // name in RUN ("text-0.txt"), content
};

enum class Access : std::uint8_t { read, write };

// Error{usage} when something of the name of a run to be made is there, saying what it is.
void require_absent(const std::filesystem::path& run);

class RunFolder {
 public:
  // Makes the folder whole, with `first` as its first checkpoint (after Checkpoints::probe), and the folders above it
  // where they are missing; locks it. It gets its name last: killed at any instant there is no such folder, or one that
  // can be trained on. Error{usage} when something of that name is there.
  [[nodiscard]] static RunFolder create(const std::filesystem::path& run, const NewRun& content,
                                        const Checkpoint& first);
  // Error{io}: nothing there. Error{usage}: not a folder. Error{malformed}: not a run, half a run, or damaged.
  // Error{incompatible}: another version's. `write` locks it (Error{locked}) and removes what a crash left behind.
  [[nodiscard]] static RunFolder open(const std::filesystem::path& run, Access access);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const RunRecord& record() const { return record_; }
  // tokenizer.json or series.json.
  [[nodiscard]] const std::string& coding_json() const { return coding_json_; }
  [[nodiscard]] std::filesystem::path coding_path() const;
  // Where the data is to be read: the originals, or their copies in RUN.
  [[nodiscard]] std::vector<std::filesystem::path> data_paths() const;
  [[nodiscard]] Checkpoints checkpoints() const { return {path_, record_.conduct.keep}; }

  // Replaces run.json (after an override); needs Access::write.
  void rewrite(const RunRecord& record);

 private:
  RunFolder(std::filesystem::path path, RunRecord record, std::string coding_json, std::unique_ptr<FileLock> lock);

  std::filesystem::path path_;
  RunRecord record_;
  std::string coding_json_;
  std::unique_ptr<FileLock> lock_;
};

// Error{incompatible} naming model and settings that differ between the run and what is asked now; conduct may differ.
void require_same_settings(const RunRecord& record, const RunSpec& asked, const std::filesystem::path& run);

// What stopped a step, for RUN/nan-report.json.
struct NonfiniteReport {
  std::uint64_t step = 0;
  std::string quantity;                // "loss", "gradient norm" or "weights"
  std::string tensor;                  // the first parameter whose gradient or value is not finite; may be empty
  std::vector<std::uint64_t> samples;  // first token of each sample of the batch, in the training part
};
void write_nonfinite_report(const std::filesystem::path& run, const NonfiniteReport& report);

}  // namespace dikkat::train
