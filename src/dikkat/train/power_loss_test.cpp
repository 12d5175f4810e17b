// Power fails at every instant of saving. What was asked of the disk is recorded, then played up to each event onto a
// disk that loses as much as POSIX lets it:
//   data    bytes of a file not yet fsynced are gone, or half of them, or zeros
//   names   either every change of a folder has reached the disk, or only those whose folder was fsynced afterwards
#include <gmock/gmock.h>

#include <map>
#include <memory>

#include "dikkat/base/hash.h"
#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint.h"
#include "dikkat/train/checkpoint_testing.h"
#include "dikkat/train/disk_seam.h"
#include "dikkat/train/run_folder.h"
#include "dikkat/train/temporary.h"

namespace dikkat::train {
namespace {

namespace fs = std::filesystem;
using dikkat::testing::TemporaryFolder;
using testing::checkpoint_of;
using testing::DiskEvent;
using testing::expect_equal;
using testing::RecordedDisk;
using Kind = DiskEvent::Kind;

enum class Data : std::uint8_t { gone, half, zeros };
enum class Names : std::uint8_t { all, synced_only };

// What the disk holds after the power came back.
class PlayedDisk {
 public:
  PlayedDisk(const std::vector<DiskEvent>& events, std::size_t count, Data data, Names names) {
    for (std::size_t i = 0; i < count; ++i) {
      const DiskEvent& event = events[i];
      if (event.kind == Kind::write) written_[event.file] += event.bytes;
      if (event.kind == Kind::sync_file) synced_[event.file] = written_[event.file].size();
      if (names == Names::all || reached_disk(events, i, count)) apply(event);
    }
    for (auto& [file, bytes] : written_) lose(bytes, synced_[file], data);
  }

  // Puts it under `folder`, in place of `root`.
  void lay_out(const fs::path& root, const fs::path& folder) const {
    for (const auto& [path, entry] : entries_) {  // a folder sorts before what is in it
      const fs::path to = folder / fs::path(path).lexically_relative(root);
      if (!fs::exists(to.parent_path())) continue;  // nor is what is in a folder that is not there
      if (!entry) {
        fs::create_directory(to);
      } else {
        const auto bytes = written_.find(*entry);
        testing::overwrite(to, bytes == written_.end() ? "" : bytes->second);
      }
    }
  }

 private:
  static std::string parent(const std::string& path) { return fs::path(path).parent_path().string(); }

  static bool reached_disk(const std::vector<DiskEvent>& events, std::size_t at, std::size_t count) {
    for (std::size_t later = at + 1; later < count; ++later) {
      if (events[later].kind == Kind::sync_folder && events[later].path == parent(events[at].path)) return true;
    }
    return false;
  }

  static void lose(std::string& bytes, std::size_t synced, Data data) {
    const std::size_t unsynced = bytes.size() - synced;
    if (data == Data::gone) bytes.resize(synced);
    if (data == Data::half) bytes.resize(synced + unsynced / 2);
    if (data == Data::zeros) bytes.replace(synced, unsynced, unsynced, '\0');
  }

  void apply(const DiskEvent& event) {
    switch (event.kind) {
      case Kind::create: entries_.try_emplace(event.path, event.file); break;  // an existing one is only opened
      case Kind::make_folder: entries_[event.path] = std::nullopt; break;
      case Kind::rename: move(event.path, event.to); break;
      case Kind::exchange:
        move(event.to, event.to + ".exchanged");
        move(event.path, event.to);
        move(event.to + ".exchanged", event.path);
        break;
      case Kind::remove: entries_.erase(event.path); break;
      case Kind::write:
      case Kind::sync_file:
      case Kind::sync_folder: break;
    }
  }

  void move(const std::string& from, const std::string& to) {
    std::map<std::string, std::optional<std::size_t>> moved;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (entry->first == from || entry->first.starts_with(from + "/")) {
        moved[to + entry->first.substr(from.size())] = entry->second;
        entry = entries_.erase(entry);
      } else {
        ++entry;
      }
    }
    for (auto& [path, entry] : moved) entries_[path] = entry;
  }

  std::map<std::string, std::optional<std::size_t>> entries_;  // path: file, or a folder
  std::map<std::size_t, std::string> written_;
  std::map<std::size_t, std::size_t> synced_;
};

struct Saved {
  std::uint64_t step;
  std::size_t events;  // recorded when the save had returned
};

template <class Check>
void at_every_instant(const std::vector<DiskEvent>& events, const fs::path& root, Check&& check) {
  for (const Names names : {Names::all, Names::synced_only}) {
    for (const Data data : {Data::gone, Data::half, Data::zeros}) {
      if (names == Names::synced_only && data != Data::gone) continue;
      for (std::size_t count = 0; count <= events.size(); ++count) {
        SCOPED_TRACE("after event " + std::to_string(count) + " of " + std::to_string(events.size()) + ", data " +
                     std::to_string(static_cast<int>(data)) + ", names " + std::to_string(static_cast<int>(names)));
        const TemporaryFolder disk;
        PlayedDisk(events, count, data, names).lay_out(root, disk.path());
        check(count, disk.path());
      }
    }
  }
}

TEST(PowerLoss, AtEveryInstantOfSavingAFinishedSaveIsThere) {
  const TemporaryFolder run;
  std::vector<Saved> saved{{.step = 0, .events = 0}};
  std::vector<DiskEvent> events;
  {
    const RecordedDisk disk;
    Checkpoints checkpoints(run.path(), 2);
    for (const std::uint64_t step : {1U, 2U, 3U, 4U, 4U}) {  // 1 and 2 are rotated away, 4 is exchanged for itself
      checkpoints.save(checkpoint_of(step), step == 3 ? Rank::best : Rank::ordinary);
      saved.push_back({.step = step, .events = disk.events().size()});
    }
    events = disk.events();
  }
  ASSERT_GT(events.size(), 120U);
  at_every_instant(events, run.path(), [&](std::size_t count, const fs::path& disk) {
    std::uint64_t finished = 0;
    for (const Saved& save : saved) finished = save.events <= count ? save.step : finished;
    remove_leftovers_within(disk);
    Checkpoints checkpoints(disk, 2);
    if (finished == 0 && checkpoints.steps().empty()) return;
    const LoadedCheckpoint loaded = checkpoints.load();
    EXPECT_TRUE(loaded.warnings.empty()) << loaded.warnings.front();
    ASSERT_GE(loaded.checkpoint.state.step, finished);
    expect_equal(loaded.checkpoint, checkpoint_of(loaded.checkpoint.state.step));
    for (const std::uint64_t step : checkpoints.steps()) {  // none is half there under its own name
      EXPECT_NO_THROW(static_cast<void>(read_checkpoint_folder(disk / ("step-" + std::to_string(step)))));
    }
    if (finished >= 3) {
      EXPECT_EQ(checkpoints.load(checkpoint_choice_from("best")).checkpoint.state.step, 3U);
    }
  });
}

TEST(PowerLoss, AtEveryInstantOfMakingARunItIsWholeOrNotThere) {
  const std::string tokenizer = R"({"kind":"byte"})";
  const TemporaryFolder folder;
  std::vector<DiskEvent> events;
  {
    const RecordedDisk disk;
    static_cast<void>(RunFolder::create(folder / "run",
                                        {.record = {.program = "0.1.0",
                                                    .model = {},
                                                    .settings = {},
                                                    .conduct = {},
                                                    .coding_fingerprint = xxh3_128_hex(tokenizer),
                                                    .sources = {},
                                                    .data_fingerprint = ""},
                                         .coding_json = tokenizer,
                                         .copies = {{"text-0.txt", "abc"}}},
                                        testing::checkpoint_of(0)));
    events = disk.events();
  }
  ASSERT_GT(events.size(), 12U);
  std::size_t whole = 0;
  at_every_instant(events, folder.path(), [&](std::size_t count, const fs::path& disk) {
    remove_leftovers_beside(disk / "run");
    if (fs::exists(disk / "run")) {
      EXPECT_NO_THROW(static_cast<void>(RunFolder::open(disk / "run", Access::write)));
      EXPECT_EQ(testing::content_of(disk / "run" / "text-0.txt"), "abc");
      EXPECT_NO_THROW(static_cast<void>(Checkpoints(disk / "run", 2).load()));
      ++whole;
    } else {
      EXPECT_LT(count, events.size());
      EXPECT_TRUE(testing::names_in(disk).empty());
    }
  });
  EXPECT_GE(whole, 6U);
}

}  // namespace
}  // namespace dikkat::train
