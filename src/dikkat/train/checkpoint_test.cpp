#include "dikkat/train/checkpoint.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <random>
#include <thread>

#include "dikkat/base/hash.h"
#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint_testing.h"
#include "dikkat/train/temporary.h"

namespace dikkat::train {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using testing::checkpoint_of;
using testing::content_of;
using ::testing::ElementsAre;
using testing::expect_equal;
using testing::flip;
using ::testing::HasSubstr;
using testing::names_in;
using testing::overwrite;

void save_steps(Checkpoints& checkpoints, const std::vector<std::uint64_t>& steps) {
  for (const std::uint64_t step : steps) checkpoints.save(checkpoint_of(step), Rank::ordinary);
}

TEST(Checkpoint, ComesBackToTheBit) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  const Checkpoint saved = checkpoint_of(7);
  checkpoints.save(saved, Rank::ordinary);
  const LoadedCheckpoint loaded = Checkpoints(run.path(), 2).load();
  expect_equal(loaded.checkpoint, saved);
  EXPECT_TRUE(loaded.warnings.empty());
  EXPECT_THAT(names_in(run.path()), ElementsAre("latest", "step-7"));
  EXPECT_THAT(names_in(run / "step-7"),
              ElementsAre("MANIFEST", "optimizer.safetensors", "state.json", "weights.safetensors"));
  EXPECT_EQ(content_of(run / "latest"), "step-7\n");
}

TEST(Checkpoint, MomentsThatAreLeftOutAreStillVerified) {
  const TemporaryFolder folder;
  write_checkpoint_folder(folder / "c", checkpoint_of(3));
  const Checkpoint back = read_checkpoint_folder(folder / "c", Moments::left_out);
  expect_equal(back.weights, checkpoint_of(3).weights);
  EXPECT_TRUE(back.optimizer.empty());
  flip(folder / "c" / "optimizer.safetensors", 1000);
  EXPECT_EQ(error_of([&] { static_cast<void>(read_checkpoint_folder(folder / "c", Moments::left_out)); }).kind(),
            ErrorKind::malformed);
}

TEST(Checkpoint, StateWithoutEvaluationComesBack) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  Checkpoint saved = checkpoint_of(0);
  saved.state.best_validation_loss_nats = std::nullopt;
  saved.optimizer.clear();
  checkpoints.save(saved, Rank::ordinary);
  expect_equal(checkpoints.load().checkpoint, saved);
}

TEST(Checkpoint, SameContentGivesTheSameBytes) {
  const TemporaryFolder one;
  const TemporaryFolder two;
  write_checkpoint_folder(one / "c", checkpoint_of(3));
  write_checkpoint_folder(two / "c", checkpoint_of(3));
  for (const std::string& name : names_in(one / "c")) {
    EXPECT_EQ(content_of(one / "c" / name), content_of(two / "c" / name)) << name;
  }
}

TEST(Checkpoint, WeightsThatAreNotFiniteAreNotSaved) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {1});
  Checkpoint bad = checkpoint_of(2);
  bad.weights[1].value.fill(std::numeric_limits<double>::quiet_NaN());
  const Error error = error_of([&] { checkpoints.save(bad, Rank::ordinary); });
  EXPECT_EQ(error.kind(), ErrorKind::numeric);
  EXPECT_EQ(error.place().key, "out.bias");
  EXPECT_EQ(checkpoints.load().checkpoint.state.step, 1U);
}

TEST(CheckpointRotation, KeepsTheNewestAndTheBest) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {5});
  checkpoints.save(checkpoint_of(10), Rank::best);
  save_steps(checkpoints, {15, 20, 25, 100});
  EXPECT_THAT(checkpoints.steps(), ElementsAre(10, 25, 100));
  checkpoints.save(checkpoint_of(105), Rank::best);
  EXPECT_THAT(checkpoints.steps(), ElementsAre(100, 105));
  save_steps(checkpoints, {110});
  EXPECT_THAT(checkpoints.steps(), ElementsAre(105, 110));
  EXPECT_THAT(names_in(run.path()), ElementsAre("best", "latest", "step-105", "step-110"));
}

TEST(CheckpointRotation, NeverKeepsFewerThanTwo) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 0);
  save_steps(checkpoints, {1, 2, 3});
  EXPECT_THAT(checkpoints.steps(), ElementsAre(2, 3));
}

TEST(CheckpointRotation, DamagedOnesDoNotCount) {
  const TemporaryFolder run;
  {
    Checkpoints checkpoints(run.path(), 3);
    save_steps(checkpoints, {1, 2, 3});
  }
  flip(run / "step-3" / "weights.safetensors", 999);
  flip(run / "step-1" / "state.json", 5);
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {4});
  EXPECT_THAT(checkpoints.steps(), ElementsAre(2, 3, 4));  // 2 and 4 verify
  save_steps(checkpoints, {5});
  EXPECT_THAT(checkpoints.steps(), ElementsAre(4, 5));
}

TEST(CheckpointChoice, ReadsWords) {
  EXPECT_EQ(checkpoint_choice_from("latest").kind, CheckpointChoice::Kind::latest);
  EXPECT_EQ(checkpoint_choice_from("best").kind, CheckpointChoice::Kind::best);
  EXPECT_EQ(checkpoint_choice_from("120").step, 120U);
  for (const char* text : {"", "-1", "010", "1.0", "newest", "../step-1"}) {
    EXPECT_EQ(error_of([&] { static_cast<void>(checkpoint_choice_from(text)); }).kind(), ErrorKind::usage) << text;
  }
}

TEST(CheckpointChoice, LoadsBestAndStep) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  Checkpoint unmeasured = checkpoint_of(1);
  unmeasured.state.best_validation_loss_nats.reset();
  checkpoints.save(unmeasured, Rank::ordinary);
  const Error no_best = error_of([&] { static_cast<void>(checkpoints.load(checkpoint_choice_from("best"))); });
  EXPECT_EQ(no_best.kind(), ErrorKind::io);
  checkpoints.save(checkpoint_of(2), Rank::best);
  save_steps(checkpoints, {3});
  EXPECT_EQ(checkpoints.load(checkpoint_choice_from("best")).checkpoint.state.step, 2U);
  EXPECT_EQ(checkpoints.load(checkpoint_choice_from("3")).checkpoint.state.step, 3U);
  const Error missing = error_of([&] { static_cast<void>(checkpoints.load(checkpoint_choice_from("9"))); });
  EXPECT_EQ(missing.kind(), ErrorKind::io);
  EXPECT_THAT(missing.place().hint, HasSubstr("--checkpoint 2 or 3"));
  flip(run / "step-3" / "weights.safetensors", 800);
  EXPECT_EQ(error_of([&] { static_cast<void>(checkpoints.load(checkpoint_choice_from("3"))); }).kind(),
            ErrorKind::malformed);
}

TEST(CheckpointLoad, NoneAtAllIsIo) {
  const TemporaryFolder run;
  EXPECT_EQ(error_of([&] { static_cast<void>(Checkpoints(run.path(), 2).load()); }).kind(), ErrorKind::io);
}

TEST(CheckpointLoad, TakesThePreviousWhenTheNewestIsDamaged) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {9, 10});
  flip(run / "step-10" / "weights.safetensors", 801);
  const LoadedCheckpoint loaded = checkpoints.load();
  expect_equal(loaded.checkpoint, checkpoint_of(9));
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_THAT(loaded.warnings[0], HasSubstr("skipped step-10: content differs from its checksum"));
  EXPECT_THAT(loaded.warnings[0], HasSubstr("weights.safetensors"));

  flip(run / "step-9" / "state.json", 0);
  const Error none = error_of([&] { static_cast<void>(checkpoints.load()); });
  EXPECT_EQ(none.kind(), ErrorKind::malformed);
  EXPECT_THAT(none.message(), HasSubstr("none of 2 checkpoints verifies: step-10: content differs"));
  EXPECT_THAT(none.message(), HasSubstr("; step-9: "));
  EXPECT_THAT(none.place().hint, HasSubstr("from a copy"));
}

TEST(CheckpointLoad, TheBestIsFoundWithoutItsPointer) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  Checkpoint first = checkpoint_of(1);
  first.state.best_validation_loss_nats = 2.0;
  first.state.best_step = 1;
  checkpoints.save(first, Rank::best);
  Checkpoint second = checkpoint_of(2);
  second.state.best_validation_loss_nats = 2.0;
  second.state.best_step = 1;
  checkpoints.save(second, Rank::ordinary);
  std::filesystem::remove(run / "best");
  EXPECT_EQ(checkpoints.load(checkpoint_choice_from("best")).checkpoint.state.step, 1U);
  std::filesystem::remove_all(run / "step-1");
  const Error gone = error_of([&] { static_cast<void>(checkpoints.load(checkpoint_choice_from("best"))); });
  EXPECT_EQ(gone.kind(), ErrorKind::io);
  EXPECT_EQ(gone.place().hint, "use --checkpoint 2");
}

TEST(CheckpointLoad, ADamagedOneThatWasAskedForNamesThoseThatVerify) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 3);
  save_steps(checkpoints, {1, 2, 3});
  flip(run / "step-1" / "weights.safetensors", 800);
  flip(run / "step-3" / "weights.safetensors", 800);
  const Error error =
      error_of([&] { static_cast<void>(Checkpoints(run.path(), 3).load(checkpoint_choice_from("3"))); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_THAT(error.message(), HasSubstr("the checkpoint of step 3 is damaged: "));
  EXPECT_EQ(error.place().hint, "use --checkpoint 2");
}

TEST(CheckpointLoad, HalfFoldersAreSkippedByName) {
  for (const char* victim : {"MANIFEST", "optimizer.safetensors", "state.json", "weights.safetensors"}) {
    const TemporaryFolder run;
    Checkpoints checkpoints(run.path(), 2);
    save_steps(checkpoints, {1, 2});
    std::filesystem::remove(run / "step-2" / victim);
    const LoadedCheckpoint loaded = checkpoints.load();
    EXPECT_EQ(loaded.checkpoint.state.step, 1U);
    ASSERT_EQ(loaded.warnings.size(), 1U);
    EXPECT_THAT(loaded.warnings[0], HasSubstr(victim));
  }
}

TEST(CheckpointLoad, TruncationAtEveryByteIsDetected) {
  const TemporaryFolder folder;
  write_checkpoint_folder(folder / "c", checkpoint_of(1));
  for (const std::string& name : names_in(folder / "c")) {
    const std::string whole = content_of(folder / "c" / name);
    for (std::size_t length = whole.size(); length-- > 0;) {
      std::filesystem::resize_file(folder / "c" / name, length);
      EXPECT_EQ(error_of([&] { static_cast<void>(read_checkpoint_folder(folder / "c")); }).kind(), ErrorKind::malformed)
          << name << " " << length;
    }
    overwrite(folder / "c" / name, whole);
  }
  EXPECT_NO_THROW(static_cast<void>(read_checkpoint_folder(folder / "c")));
}

TEST(CheckpointLoad, AThousandFlippedBitsAreDetected) {
  const TemporaryFolder folder;
  write_checkpoint_folder(folder / "c", checkpoint_of(1));
  std::vector<std::pair<std::filesystem::path, std::size_t>> bits;  // every bit there is
  for (const std::string& name : names_in(folder / "c")) {
    const auto path = folder / "c" / name;
    for (std::size_t bit = 0; bit < 8 * std::filesystem::file_size(path); ++bit) bits.emplace_back(path, bit);
  }
  std::mt19937 random(1);
  std::shuffle(bits.begin(), bits.end(), random);
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto& [path, bit] = bits[i];
    flip(path, bit);
    EXPECT_EQ(error_of([&] { static_cast<void>(read_checkpoint_folder(folder / "c")); }).kind(), ErrorKind::malformed)
        << path << " bit " << bit;
    flip(path, bit);
  }
  EXPECT_NO_THROW(static_cast<void>(read_checkpoint_folder(folder / "c")));
}

TEST(CheckpointLoad, OneThatMayNotBeReadIsNotPassedOver) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {1, 2});
  std::filesystem::permissions(run / "step-2" / "weights.safetensors", std::filesystem::perms::none);
  EXPECT_EQ(error_of([&] { static_cast<void>(checkpoints.load()); }).kind(), ErrorKind::io);
}

// A flipped version digit is damage; a manifest of another version that is sound in itself is not.
TEST(CheckpointLoad, AnotherVersionIsIncompatibleAndNotSkipped) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {1, 2});
  const auto manifest = run / "step-2" / "MANIFEST";
  std::string text = content_of(manifest);
  text.replace(text.find("checkpoint 2"), 12, "checkpoint 3");
  overwrite(manifest, text);
  EXPECT_EQ(checkpoints.load().checkpoint.state.step, 1U);
  const std::string part = text.substr(0, text.size() - 37);
  overwrite(manifest, part + xxh3_128_hex(part) + " end\n");
  const Error error = error_of([&] { static_cast<void>(checkpoints.load()); });
  EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  EXPECT_THAT(error.message(), HasSubstr("version 3"));
}

TEST(CheckpointLoad, RenamedFolderIsRefused) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {1});
  std::filesystem::rename(run / "step-1", run / "step-5");
  EXPECT_THAT(error_of([&] { static_cast<void>(checkpoints.load()); }).message(), HasSubstr("checkpoint is of step 1"));
}

TEST(CheckpointLoad, PointersMayLagOrPointNowhere) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {1, 2});
  overwrite(run / "latest", "step-1\n");
  EXPECT_EQ(checkpoints.load().checkpoint.state.step, 2U);
  EXPECT_TRUE(checkpoints.load().warnings.empty());
  overwrite(run / "latest", "step-40\n");
  const LoadedCheckpoint loaded = checkpoints.load();
  EXPECT_EQ(loaded.checkpoint.state.step, 2U);
  EXPECT_THAT(loaded.warnings, ElementsAre("'latest' points to step-40, which is missing; taking step-2"));
  for (const char* text : {"", "\n", "step-2", "../step-2\n", "step--1\n"}) {
    overwrite(run / "latest", text);
    EXPECT_EQ(checkpoints.load().checkpoint.state.step, 2U);
  }
  std::filesystem::remove(run / "latest");
  EXPECT_EQ(checkpoints.load().checkpoint.state.step, 2U);

  checkpoints.restore_pointers(checkpoints.load().checkpoint.state);
  EXPECT_EQ(content_of(run / "latest"), "step-2\n");
  EXPECT_EQ(content_of(run / "best"), "step-2\n");
}

TEST(CheckpointLoad, BrokenPointersAndFoldersNeverBlock) {
  namespace fs = std::filesystem;
  using Break = void (*)(const fs::path&);
  const std::vector<Break> breaks{
      [](const fs::path& path) { overwrite(path, std::string(100, '\0')); },
      [](const fs::path& path) { fs::create_directory(path); },
      [](const fs::path& path) { fs::create_directories(path / "inner"); },
      [](const fs::path& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); },
      [](const fs::path& path) { fs::create_symlink(path.filename(), path); },
  };
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    SCOPED_TRACE(i);
    const TemporaryFolder run;
    Checkpoints checkpoints(run.path(), 2);
    save_steps(checkpoints, {1, 2});
    for (const char* name : {"latest", "best"}) {
      fs::remove(run / name);
      breaks[i](run / name);
    }
    const LoadedCheckpoint latest = checkpoints.load();
    EXPECT_EQ(latest.checkpoint.state.step, 2U);
    EXPECT_THAT(latest.warnings, ElementsAre("'latest' does not name a checkpoint; taking step-2"));
    const LoadedCheckpoint best = checkpoints.load(checkpoint_choice_from("best"));
    EXPECT_EQ(best.checkpoint.state.step, 2U);
    EXPECT_THAT(best.warnings, ElementsAre("'best' does not name a checkpoint; taking step-2"));
    checkpoints.restore_pointers(latest.checkpoint.state);
    EXPECT_EQ(content_of(run / "latest"), "step-2\n");
    EXPECT_EQ(content_of(run / "best"), "step-2\n");
    EXPECT_EQ(fs::exists(run / "latest.set-aside"), i == 2) << "what is in a folder is kept";

    breaks[i](run / "step-3");
    const LoadedCheckpoint older = checkpoints.load();
    EXPECT_EQ(older.checkpoint.state.step, 2U);
    EXPECT_THAT(older.warnings, ElementsAre(HasSubstr("skipped step-3")));
    EXPECT_THAT(
        error_of([&] { static_cast<void>(checkpoints.load({.kind = CheckpointChoice::Kind::step, .step = 3})); })
            .place()
            .hint,
        HasSubstr("2"));
    save_steps(checkpoints, {3});
    EXPECT_EQ(checkpoints.load().checkpoint.state.step, 3U);
  }
}

TEST(CheckpointLoad, OtherNamesAreNoCheckpoints) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {3});
  for (const char* name : {"step-010", "step-", "step-4x", "step-9.tmp-1", "steps"}) {
    std::filesystem::create_directory(run / name);
  }
  EXPECT_THAT(checkpoints.steps(), ElementsAre(3));
}

TEST(CheckpointSave, ReplacesADamagedOneOfTheSameStep) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  save_steps(checkpoints, {1, 2});
  flip(run / "step-2" / "weights.safetensors", 801);
  save_steps(checkpoints, {2});
  EXPECT_TRUE(checkpoints.load().warnings.empty());
  EXPECT_THAT(names_in(run.path()), ElementsAre("latest", "step-1", "step-2"));
}

TEST(CheckpointProbe, WritesReadsAndDeletesAWholeOne) {
  const TemporaryFolder run;
  const Checkpoints checkpoints(run.path(), 2);
  checkpoints.probe(checkpoint_of(0));
  EXPECT_TRUE(names_in(run.path()).empty());
}

TEST(CheckpointProbe, NamesTheBytesNeededAndFree) {
  const TemporaryFolder run;
  const Checkpoints checkpoints(run.path(), std::numeric_limits<std::size_t>::max() / 2);
  const Error error = error_of([&] { checkpoints.probe(checkpoint_of(0)); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_THAT(error.message(), HasSubstr("are free"));
  EXPECT_TRUE(names_in(run.path()).empty());
}

TEST(CheckpointLeftovers, OfDeadProcessesAreRemoved) {
  const TemporaryFolder run;
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
  const auto name = [](const char* stem, pid_t process) {
    return stem + std::string(".tmp-") + std::to_string(process);
  };
  std::filesystem::create_directory(run.path() / name("step-4", dead));
  overwrite(run.path() / name("step-4", dead) / "weights.safetensors", "x");
  std::filesystem::create_directory(run.path() / name("probe", dead));
  overwrite(run.path() / name("latest", dead), "x");
  overwrite(run.path() / name("latest", getpid()), "x");
  overwrite(run.path() / name("latest", getppid()), "x");  // alive
  overwrite(run / "notes.tmp-x", "x");
  remove_leftovers_within(run.path());
  EXPECT_THAT(names_in(run.path()), ::testing::UnorderedElementsAre(name("latest", getppid()), "notes.tmp-x"));
}

TEST(CheckpointLeftovers, WhatIsNotSurelyOursStays) {
  const TemporaryFolder run;
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
  const std::string number = ".tmp-" + std::to_string(dead);
  std::filesystem::create_directories(run.path() / ("step-4" + number) / "inner");
  std::filesystem::create_directory(run.path() / ("step-5" + number));
  overwrite(run.path() / ("step-5" + number) / "notes.txt", "x");
  std::filesystem::create_directory(run.path() / ("mine" + number));
  std::filesystem::create_symlink("elsewhere", run.path() / ("latest" + number));
  overwrite(run.path() / ("notes" + number), "x");
  overwrite(run / "latest.tmp-20261130", "x");
  const auto before = names_in(run.path());
  remove_leftovers_within(run.path());
  EXPECT_EQ(names_in(run.path()), before);
}

// SIGKILL at random instants of saving, a hundred times: there is always a whole newest checkpoint.
TEST(CheckpointCrash, AHundredKillsLeaveAWholeCheckpoint) {
  const TemporaryFolder run;
  Checkpoints checkpoints(run.path(), 2);
  checkpoints.save(checkpoint_of(1), Rank::best);
  std::mt19937 random(7);
  std::uint64_t step = 1;
  std::size_t leftovers = 0;
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Checkpoints mine(run.path(), 2);
      for (std::uint64_t s = step + 1;; ++s) mine.save(checkpoint_of(s), s % 3 == 0 ? Rank::best : Rank::ordinary);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 15000));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";

    for (const std::string& name : names_in(run.path())) leftovers += name.find(".tmp-") != std::string::npos ? 1 : 0;
    remove_leftovers_within(run.path());
    const LoadedCheckpoint loaded = Checkpoints(run.path(), 2).load();
    EXPECT_TRUE(loaded.warnings.empty()) << loaded.warnings.front();
    ASSERT_GE(loaded.checkpoint.state.step, step);
    step = loaded.checkpoint.state.step;
    expect_equal(loaded.checkpoint, checkpoint_of(step));
    EXPECT_NO_THROW(static_cast<void>(Checkpoints(run.path(), 2).load(checkpoint_choice_from("best"))));
  }
  EXPECT_GT(step, 1U);
  EXPECT_GT(leftovers, 0U);  // or the kills hit nothing
  checkpoints.save(checkpoint_of(step + 1), Rank::ordinary);
  EXPECT_LE(names_in(run.path()).size(), 5U);  // two pointers, two kept, the best
}

}  // namespace
}  // namespace dikkat::train
