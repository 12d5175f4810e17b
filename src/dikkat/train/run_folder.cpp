#include "dikkat/train/run_folder.h"

#include <fcntl.h>
#include <stdio.h>  // renameat2 is Linux's

#include <cerrno>
#include <system_error>

#include "dikkat/base/error.h"
#include "dikkat/base/hash.h"
#include "dikkat/base/json.h"
#include "dikkat/train/run_record.h"
#include "dikkat/train/temporary.h"

namespace dikkat::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecord = "run.json";
constexpr const char* kLock = "lock";
constexpr const char* kReport = "nan-report.json";
constexpr std::size_t kMostRecordBytes = std::size_t{16} << 20U;
constexpr std::size_t kMostCodingBytes = std::size_t{256} << 20U;

const char* coding_name(const RunRecord& record) {
  return record.model.task == models::Task::next_token ? "tokenizer.json" : "series.json";
}

// Without a slash at the end, so that names can be built on it.
fs::path plain(const fs::path& run) {
  fs::path path = run.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void write_file(const fs::path& path, std::string_view content) {
  FileWriter writer(path);
  writer.write(content);
  writer.finish();
}

std::string what_stands_at(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return "there is a file of that name already";
  return fs::is_empty(path, ignored) ? "there is an empty folder of that name already"
                                     : "there is a folder of that name already, and it is no run";
}

[[noreturn]] void refuse_existing(const fs::path& run) {
  std::error_code ignored;
  if (fs::exists(run / kRecord, ignored)) {
    throw Error(ErrorKind::usage, "the run is there already",
                {.file = run.string(), .hint = "go on with it by --resume, or choose another --out"});
  }
  throw Error(ErrorKind::usage, what_stands_at(run), {.file = run.string(), .hint = "choose another --out"});
}

bool is_there(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::symlink_status(path, code);
  if (fs::status_known(status)) return fs::exists(status);
  throw Error(ErrorKind::io, "cannot look at the path: " + code.message(),
              {.file = path.string(), .hint = "check the path and its permissions, or choose another --out"});
}

void rename_new(const fs::path& temporary, const fs::path& run) {
  int failed = ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, run.c_str(), RENAME_NOREPLACE);
  // A file system that does not know the flag; the check before has to do.
  if (failed != 0 && (errno == EINVAL || errno == ENOSYS)) failed = ::rename(temporary.c_str(), run.c_str());
  if (failed == 0) return;
  if (errno == EEXIST || errno == ENOTEMPTY) refuse_existing(run);
  throw Error(ErrorKind::io, "cannot put the run in its place: " + std::generic_category().message(errno),
              {.file = run.string()});
}

void check_is_run(const fs::path& run) {
  std::error_code code;
  const fs::file_status status = fs::status(run, code);
  if (status.type() == fs::file_type::not_found) {
    throw Error(ErrorKind::io, "there is no such run", {.file = run.string(), .hint = "check the path"});
  }
  if (code) {
    throw Error(ErrorKind::io, "cannot look at the run: " + code.message(),
                {.file = run.string(), .hint = "check the path and its permissions"});
  }
  if (!fs::is_directory(status)) {
    throw Error(ErrorKind::usage, "a run is a folder, this is not",
                {.file = run.string(), .hint = "name the folder of a training"});
  }
  if (!fs::exists(run / kRecord, code)) {
    if (code) {
      throw Error(ErrorKind::io, "cannot look into the run: " + code.message(),
                  {.file = run.string(), .hint = "check the permissions of the folder"});
    }
    throw Error(ErrorKind::malformed, "not a run: no run.json",
                {.file = run.string(), .hint = "name the folder of a training"});
  }
}

std::string read_coding(const fs::path& run, const RunRecord& record) {
  const fs::path path = run / coding_name(record);
  if (std::error_code code; !fs::exists(path, code)) {
    throw Error(
        ErrorKind::malformed, std::string("half a run: no ") + coding_name(record),
        {.file = run.string(),
         .hint = std::string("restore ") + coding_name(record) + " from a copy, or train anew with another --out"});
  }
  std::string coding = read_small_file(path, kMostCodingBytes);
  if (xxh3_128_hex(coding) != record.coding_fingerprint) {
    throw Error(ErrorKind::malformed, "content differs from its fingerprint in run.json",
                {.file = path.string(), .hint = "it was damaged or edited; restore it from a copy"});
  }
  return coding;
}

void make_parents(const fs::path& parent) {
  std::error_code fault;
  fs::create_directories(parent, fault);
  if (std::error_code code; fs::is_directory(parent, code)) return;
  throw Error(ErrorKind::io, "the folder for the run cannot be made: " + fault.message(),
              {.file = parent.string(), .hint = "choose an --out in a folder you may write to"});
}

}  // namespace

RunFolder::RunFolder(fs::path path, RunRecord record, std::string coding_json, std::unique_ptr<FileLock> lock)
    : path_(std::move(path)),
      record_(std::move(record)),
      coding_json_(std::move(coding_json)),
      lock_(std::move(lock)) {}

void require_absent(const fs::path& run) {
  const fs::path path = plain(run);
  if (is_there(path)) refuse_existing(path);
}

RunFolder RunFolder::create(const fs::path& run, const NewRun& content, const Checkpoint& first) {
  const fs::path path = plain(run);
  require_absent(path);
  const fs::path parent = parent_of(path);
  make_parents(parent);
  remove_leftovers_beside(path);

  const TemporaryPath temporary(path);
  std::unique_ptr<FileLock> lock;
  named_as(path, temporary, [&] {
    make_folder(temporary.path());
    mark(temporary);
    write_file(temporary.path() / kRecord, record_text(content.record));
    write_file(temporary.path() / coding_name(content.record), content.coding_json);
    for (const auto& [name, text] : content.copies) write_file(temporary.path() / name, text);
    lock = std::make_unique<FileLock>(temporary.path() / kLock, "run " + path.string());
    Checkpoints checkpoints(temporary.path(), content.record.conduct.keep);
    checkpoints.probe(first);
    checkpoints.save(first, Rank::ordinary);
    sync_folder(temporary.path());
  });
  rename_new(temporary.path(), path);
  sync_folder(parent);
  unmark(path);
  return {path, content.record, content.coding_json, std::move(lock)};
}

RunFolder RunFolder::open(const fs::path& run, Access access) {
  const fs::path path = plain(run);
  check_is_run(path);
  std::unique_ptr<FileLock> lock;
  if (access == Access::write) {
    lock = std::make_unique<FileLock>(path / kLock, "run " + path.string());
    remove_leftovers_within(path);
  }
  RunRecord record = record_from(read_small_file(path / kRecord, kMostRecordBytes), (path / kRecord).string());
  std::string coding = read_coding(path, record);
  return {path, std::move(record), std::move(coding), std::move(lock)};
}

fs::path RunFolder::coding_path() const { return path_ / coding_name(record_); }

std::vector<fs::path> RunFolder::data_paths() const {
  std::vector<fs::path> paths;
  for (const DataSource& source : record_.sources) {
    paths.push_back(source.copy.empty() ? fs::path(source.path) : path_ / source.copy);
  }
  return paths;
}

void RunFolder::rewrite(const RunRecord& record) {
  if (lock_ == nullptr) throw Error(ErrorKind::internal, "a run opened for reading is not rewritten");
  replace_file(path_ / kRecord, record_text(record));
  record_ = record;
}

void require_same_settings(const RunRecord& record, const RunSpec& asked, const fs::path& run) {
  std::string list;
  const auto compare = [&](const auto& then, const auto& now) {
    for (const auto& [name, was, is] : differences(then, now)) {
      list += (list.empty() ? "" : ", ") + name + " (" + was + " then, " + is + " now)";
    }
  };
  compare(record.model, asked.model);
  compare(record.settings, asked.settings);
  if (list.empty()) return;
  throw Error(ErrorKind::incompatible, "the run was begun with other settings: " + list,
              {.file = run.string(), .hint = "leave them out to go on as before, or add --override to change them"});
}

void write_nonfinite_report(const fs::path& run, const NonfiniteReport& report) {
  Json samples = Json::array();
  for (const std::uint64_t sample : report.samples) samples.push(sample);
  Json json = Json::object();
  json.set("step", report.step).set("quantity", report.quantity);
  json.set("tensor", report.tensor.empty() ? Json() : Json(report.tensor));
  json.set("samples", std::move(samples));
  replace_file(run / kReport, text_of(json, JsonLayout::indented));
}

}  // namespace dikkat::train
