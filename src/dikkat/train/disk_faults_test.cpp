// The disk is full, or fails, at every call there is in saving a checkpoint and in making a run.
#include <gmock/gmock.h>

#include <cerrno>

#include "dikkat/base/hash.h"
#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint.h"
#include "dikkat/train/checkpoint_testing.h"
#include "dikkat/train/disk_seam.h"
#include "dikkat/train/run_folder.h"
#include "dikkat/train/run_log.h"
#include "dikkat/train/temporary.h"

namespace dikkat::train {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using testing::Call;
using testing::checkpoint_of;
using testing::content_of;
using testing::expect_equal;
using testing::Fault;
using testing::FaultyDisk;
using testing::Lasting;
using testing::names_in;

struct FaultCase {
  Call call;
  int code;
  Lasting lasting;
};

std::vector<FaultCase> fault_cases() {
  std::vector<FaultCase> cases;
  for (const Lasting lasting : {Lasting::once, Lasting::from_then_on}) {
    for (const int code : {ENOSPC, EDQUOT, EIO, EFBIG}) cases.push_back({Call::write, code, lasting});
    for (const int code : {EIO, ENOSPC}) cases.push_back({Call::fsync, code, lasting});
    for (const int code : {ENOSPC, EMFILE}) cases.push_back({Call::open, code, lasting});
    cases.push_back({Call::rename, ENOSPC, lasting});
    cases.push_back({Call::mkdir, ENOSPC, lasting});
  }
  return cases;
}

enum class Result : std::uint8_t { not_reached, done, failed };

// Runs `action` with the n-th call failing; a failure must be an I/O error that names a file.
template <class Action>
Result with_fault(const FaultCase& c, int n, Action&& action) {
  const FaultyDisk disk({.call = c.call, .at = n, .code = c.code, .lasting = c.lasting});
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    EXPECT_FALSE(error.place().file.empty());
    return Result::failed;
  }
  return disk.hit() ? Result::done : Result::not_reached;
}

TEST(DiskFaults, EveryFailingCallOfASaveLeavesTheEarlierCheckpoint) {
  std::size_t failures = 0;
  for (const FaultCase& c : fault_cases()) {
    for (int n = 1;; ++n) {
      SCOPED_TRACE(std::string("call ") + std::to_string(static_cast<int>(c.call)) + " errno " +
                   std::to_string(c.code) + " at " + std::to_string(n));
      const TemporaryFolder run;
      Checkpoints(run.path(), 2).save(checkpoint_of(10), Rank::best);
      Checkpoints checkpoints(run.path(), 2);
      const Result result = with_fault(c, n, [&] { checkpoints.save(checkpoint_of(20), Rank::best); });
      const LoadedCheckpoint loaded = Checkpoints(run.path(), 2).load();
      EXPECT_TRUE(loaded.warnings.empty()) << loaded.warnings.front();
      const std::uint64_t step = loaded.checkpoint.state.step;
      EXPECT_TRUE(step == 20 || (step == 10 && result == Result::failed));
      expect_equal(loaded.checkpoint, checkpoint_of(step));
      remove_leftovers_within(run.path());
      for (const std::string& name : names_in(run.path())) {
        EXPECT_THAT(name, ::testing::AnyOf("step-10", "step-20", "latest", "best"));
      }
      failures += result == Result::failed ? 1 : 0;
      if (result == Result::not_reached) break;
      ASSERT_LT(n, 100);
    }
  }
  EXPECT_GT(failures, 150U);
}

TEST(DiskFaults, InterruptedAndShortWritesAreCarriedThrough) {
  for (const Fault& fault : {Fault{.call = Call::write, .code = EINTR}, Fault{.call = Call::write, .code = 0},
                             Fault{.call = Call::write, .code = 0, .lasting = Lasting::from_then_on}}) {
    const TemporaryFolder run;
    for (int n = 1; n <= 10; ++n) {  // as many as there are in a save
      Fault at_n = fault;
      at_n.at = n;
      Checkpoints checkpoints(run.path(), 2);
      {
        const FaultyDisk disk(at_n);
        checkpoints.save(checkpoint_of(static_cast<std::uint64_t>(n)), Rank::ordinary);
        EXPECT_TRUE(disk.hit());
      }
      expect_equal(checkpoints.load().checkpoint, checkpoint_of(static_cast<std::uint64_t>(n)));
    }
  }
}

TEST(DiskFaults, ProbeFindsAFullDiskAndLeavesNothing) {
  for (int n = 1;; ++n) {
    const TemporaryFolder run;
    const Checkpoints checkpoints(run.path(), 2);
    const Result result =
        with_fault({Call::write, ENOSPC, Lasting::from_then_on}, n, [&] { checkpoints.probe(checkpoint_of(0)); });
    EXPECT_TRUE(names_in(run.path()).empty());
    if (result == Result::not_reached) break;
    EXPECT_EQ(result, Result::failed);
    ASSERT_LT(n, 100);
  }
}

TEST(DiskFaults, ARunIsMadeWholeOrNotAtAll) {
  const std::string tokenizer = R"({"kind":"byte"})";
  const NewRun content{.record = {.program = "0.1.0",
                                  .model = {},
                                  .settings = {},
                                  .conduct = {},
                                  .coding_fingerprint = xxh3_128_hex(std::string_view(tokenizer)),
                                  .sources = {},
                                  .data_fingerprint = ""},
                       .coding_json = tokenizer,
                       .copies = {{"text-0.txt", "abc"}}};
  for (const FaultCase& c : fault_cases()) {
    for (int n = 1;; ++n) {
      const TemporaryFolder folder;
      const Result result =
          with_fault(c, n, [&] { static_cast<void>(RunFolder::create(folder / "run", content, checkpoint_of(0))); });
      remove_leftovers_beside(folder / "run");
      if (std::filesystem::exists(folder / "run")) {
        EXPECT_NO_THROW(static_cast<void>(RunFolder::open(folder / "run", Access::write)));
        EXPECT_EQ(content_of(folder / "run" / "text-0.txt"), "abc");
        EXPECT_NO_THROW(static_cast<void>(Checkpoints(folder / "run", 2).load()));
      } else {
        EXPECT_TRUE(names_in(folder.path()).empty());
        EXPECT_EQ(result, Result::failed);
      }
      if (result == Result::not_reached) break;
      ASSERT_LT(n, 200);
    }
  }
}

TEST(DiskFaults, ALogLineIsWholeOrNotThere) {
  const TemporaryFolder run;
  RunLog log(run.path(), models::Task::next_token);
  log.step({.step = 1});
  const std::string before = content_of(run / "log.jsonl");
  for (const int code : {ENOSPC, EIO, 0}) {  // 0: half of the line
    const FaultyDisk disk({.call = Call::write, .at = 1, .code = code});
    EXPECT_EQ(error_of([&] { log.step({.step = 2}); }).kind(), ErrorKind::io);
    EXPECT_EQ(content_of(run / "log.jsonl"), before);
  }
  {
    const FaultyDisk disk({.call = Call::write, .at = 1, .code = EINTR});
    log.step({.step = 2});
    EXPECT_TRUE(disk.hit());
  }
  const FaultyDisk disk({.call = Call::fsync, .at = 1, .code = EIO});
  EXPECT_EQ(error_of([&] { log.sync(); }).kind(), ErrorKind::io);
}

TEST(DiskFaults, CuttingTheLogFailsWithoutLosingIt) {
  for (int n = 1; n < 3; ++n) {
    const TemporaryFolder run;
    testing::overwrite(run / "log.jsonl", "{\"step\":1}\n{\"step\":2}\n");
    const Result result =
        with_fault({Call::fsync, EIO, Lasting::once}, n, [&] { static_cast<void>(cut_log_to(run.path(), 1)); });
    EXPECT_EQ(result, Result::failed);
    EXPECT_THAT(content_of(run / "log.jsonl"), ::testing::StartsWith("{\"step\":1}\n"));
    EXPECT_THAT(names_in(run.path()), ::testing::ElementsAre("log.jsonl"));
  }
}

}  // namespace
}  // namespace dikkat::train
