#include "dikkat/train/run_folder.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dikkat/base/hash.h"
#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint_testing.h"
#include "dikkat/train/run_record.h"

namespace dikkat::train {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using testing::checkpoint_of;
using testing::content_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::names_in;
using testing::overwrite;

constexpr const char* kTokenizer = R"({"kind":"byte"})";

NewRun new_run() {
  NewRun run{.record = {.program = "0.1.0",
                        .model = {},
                        .settings = {},
                        .conduct = {},
                        .coding_fingerprint = xxh3_128_hex(std::string_view(kTokenizer)),
                        .sources = {{.path = "ş.txt", .bytes = 12, .copy = ""},
                                    {.path = "-", .bytes = 3, .copy = "text-0.txt"}},
                        .data_fingerprint = std::string(32, 'b')},
             .coding_json = kTokenizer,
             .copies = {{"text-0.txt", "abc"}}};
  run.record.model.vocabulary = 256;
  run.record.settings.seed = ~std::uint64_t{0};
  run.record.conduct.keep = 4;
  return run;
}

Error opening(const std::filesystem::path& run) {
  return error_of([&] { static_cast<void>(RunFolder::open(run, Access::read)); });
}

// What another process gets when it opens the run for writing: an exit code.
int child_opens(const std::filesystem::path& run) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      static_cast<void>(RunFolder::open(run, Access::write));
    } catch (const Error& error) {
      _exit(exit_code(error.kind()));
    }
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

TEST(RunFolder, ComesBackAsItWasMade) {
  const TemporaryFolder folder;
  static_cast<void>(RunFolder::create(folder / "run", new_run(), checkpoint_of(0)));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("run"));
  EXPECT_THAT(names_in(folder / "run"),
              ElementsAre("latest", "lock", "run.json", "step-0", "text-0.txt", "tokenizer.json"));
  const RunFolder run = RunFolder::open(folder / "run", Access::read);
  const RunRecord expected = new_run().record;
  EXPECT_EQ(run.record().model, expected.model);
  EXPECT_EQ(run.record().settings, expected.settings);
  EXPECT_EQ(run.record().conduct.keep, 4U);
  EXPECT_EQ(run.record().sources, expected.sources);
  EXPECT_EQ(run.record().coding_fingerprint, expected.coding_fingerprint);
  EXPECT_EQ(run.record().data_fingerprint, expected.data_fingerprint);
  EXPECT_EQ(run.coding_json(), kTokenizer);
  EXPECT_THAT(run.data_paths(), ElementsAre("ş.txt", folder / "run" / "text-0.txt"));
  EXPECT_EQ(content_of(folder / "run" / "text-0.txt"), "abc");
}

TEST(RunFolder, ASlashAtTheEndMeansTheSame) {
  const TemporaryFolder folder;
  static_cast<void>(RunFolder::create(folder / "run/", new_run(), checkpoint_of(0)));
  EXPECT_EQ(RunFolder::open(folder / "run/", Access::write).path(), folder / "run");
}

TEST(RunFolder, IsNotMadeOverAnything) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder");
  overwrite(folder / "file", "x");
  std::filesystem::create_symlink("nowhere", folder / "link");
  for (const char* name : {"folder", "file", "link"}) {
    const Error error =
        error_of([&] { static_cast<void>(RunFolder::create(folder / name, new_run(), checkpoint_of(0))); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << name;
    EXPECT_EQ(error.place().hint, "choose another --out") << "it is no run to go on with";
  }
  EXPECT_THAT(names_in(folder.path()), ElementsAre("file", "folder", "link"));
  EXPECT_EQ(
      error_of([&] { static_cast<void>(RunFolder::create(folder / "file/run", new_run(), checkpoint_of(0))); }).kind(),
      ErrorKind::io);
}

TEST(RunFolder, APathThatCannotBeLookedAtIsAnInputOutputError) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("loop", folder / "loop");
  for (const std::string& name : {std::string(300, 'n'), std::string(300, 'n') + "/run", std::string("loop/run")}) {
    EXPECT_EQ(error_of([&] { require_absent(folder / name); }).kind(), ErrorKind::io) << name;
    EXPECT_EQ(
        error_of([&] { static_cast<void>(RunFolder::create(folder / name, new_run(), checkpoint_of(0))); }).kind(),
        ErrorKind::io);
    EXPECT_EQ(opening(folder / name).kind(), ErrorKind::io) << name;
  }
}

TEST(RunFolder, FoldersAboveItAreMade) {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "runs/first", new_run(), checkpoint_of(0));
  EXPECT_EQ(RunFolder::open(folder / "runs/first", Access::read).record().model.width, run.record().model.width);
}

TEST(RunFolder, WhatACrashLeftWhileMakingItIsRemoved) {
  const TemporaryFolder folder;
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
  std::filesystem::create_directory(folder / ("run.tmp-" + std::to_string(dead)));
  std::filesystem::create_directory(folder / ("other.tmp-" + std::to_string(dead)));
  static_cast<void>(RunFolder::create(folder / "run", new_run(), checkpoint_of(0)));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("other.tmp-" + std::to_string(dead), "run"));
}

TEST(RunFolder, FoldersOfOthersThatLookLikeLeftoversStay) {
  const TemporaryFolder folder;
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
  const std::string copied = "run.tmp-" + std::to_string(dead);
  static_cast<void>(RunFolder::create(folder / copied, new_run(), checkpoint_of(0)));
  std::filesystem::create_directory(folder / "run.tmp-20261130");
  overwrite(folder / "run.tmp-20261130" / "notes.txt", "x");
  static_cast<void>(RunFolder::create(folder / "run", new_run(), checkpoint_of(0)));
  EXPECT_THAT(names_in(folder.path()), ::testing::UnorderedElementsAre("run", copied, "run.tmp-20261130"));
  // Marked with its own name it is a leftover; with another one it was copied from one.
  overwrite(folder / copied / ".dikkat-temporary", "run.tmp-1\n");
  static_cast<void>(RunFolder::create(folder / "other", new_run(), checkpoint_of(0)));
  std::filesystem::remove_all(folder / "run");
  static_cast<void>(RunFolder::create(folder / "run", new_run(), checkpoint_of(0)));
  EXPECT_TRUE(std::filesystem::exists(folder / copied));
  overwrite(folder / copied / ".dikkat-temporary", copied + "\n");
  std::filesystem::remove_all(folder / "run");
  static_cast<void>(RunFolder::create(folder / "run", new_run(), checkpoint_of(0)));
  EXPECT_FALSE(std::filesystem::exists(folder / copied));
}

TEST(RunFolder, OneWriterAtATime) {
  const TemporaryFolder folder;
  {
    const RunFolder made = RunFolder::create(folder / "run", new_run(), checkpoint_of(0));
    EXPECT_EQ(child_opens(folder / "run"), exit_code(ErrorKind::locked));
    EXPECT_NO_THROW(static_cast<void>(RunFolder::open(folder / "run", Access::read)));
  }
  EXPECT_EQ(child_opens(folder / "run"), 0);
  const RunFolder opened = RunFolder::open(folder / "run", Access::write);
  EXPECT_EQ(child_opens(folder / "run"), exit_code(ErrorKind::locked));
}

TEST(RunFolder, RefusesWhatIsNoRunByItsKind) {
  const TemporaryFolder folder;
  EXPECT_EQ(opening(folder / "missing").kind(), ErrorKind::io);
  overwrite(folder / "file", "x");
  EXPECT_EQ(opening(folder / "file").kind(), ErrorKind::usage);
  std::filesystem::create_directory(folder / "empty");
  EXPECT_THAT(opening(folder / "empty").message(), HasSubstr("not a run"));
  EXPECT_EQ(opening(folder / "empty").kind(), ErrorKind::malformed);

  static_cast<void>(RunFolder::create(folder / "half", new_run(), checkpoint_of(0)));
  std::filesystem::remove(folder / "half" / "tokenizer.json");
  EXPECT_EQ(opening(folder / "half").kind(), ErrorKind::malformed);
  EXPECT_THAT(opening(folder / "half").message(), HasSubstr("half a run"));

  std::filesystem::create_directory(folder / "foreign");
  for (const char* text : {"", "{}", "[]", "1", "{\"format\":\"other\"}", "{\"format\":1}", "not JSON"}) {
    overwrite(folder / "foreign" / "run.json", text);
    overwrite(folder / "foreign" / "tokenizer.json", "x");
    EXPECT_EQ(opening(folder / "foreign").kind(), ErrorKind::malformed) << text;
  }
}

TEST(RunRecord, EveryFlippedBitIsDetectedOrChangesNothing) {
  const std::string whole = record_text(new_run().record);
  std::size_t harmless = 0;  // one blank for another, 1E-05 for 1e-05
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(static_cast<unsigned char>(damaged[bit / 8]) ^ (1U << (bit % 8)));
    try {
      EXPECT_EQ(record_text(record_from(damaged, "run.json")), whole) << "bit " << bit;
      ++harmless;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed) << "bit " << bit;
    }
  }
  EXPECT_LT(harmless, whole.size() / 8);
}

TEST(RunFolder, AChangedTokenizerIsDetected) {
  const TemporaryFolder folder;
  static_cast<void>(RunFolder::create(folder / "run", new_run(), checkpoint_of(0)));
  overwrite(folder / "run" / "tokenizer.json", R"({"kind":"char"})");
  EXPECT_EQ(opening(folder / "run").kind(), ErrorKind::malformed);
  EXPECT_THAT(opening(folder / "run").message(), HasSubstr("fingerprint"));
}

TEST(RunFolder, AnotherVersionIsIncompatible) {
  const TemporaryFolder folder;
  static_cast<void>(RunFolder::create(folder / "run", new_run(), checkpoint_of(0)));
  // The line the checksum is of, and the sum, as `xxhsum -H2` gives it.
  const std::string object = R"({"format":"dikkat run","version":99,"anything":[1.5]})";
  overwrite(folder / "run" / "run.json",
            object.substr(0, object.size() - 1) + ",\"xxh3_128\":\"" + xxh3_128_hex(object) + "\"}");
  EXPECT_EQ(opening(folder / "run").kind(), ErrorKind::incompatible);
}

TEST(RunFolder, RewritingKeepsARunThatOpens) {
  const TemporaryFolder folder;
  RunFolder run = RunFolder::create(folder / "run", new_run(), checkpoint_of(0));
  RunRecord record = run.record();
  record.settings.steps = 12345;
  run.rewrite(record);
  EXPECT_EQ(RunFolder::open(folder / "run", Access::read).record().settings.steps, 12345U);
  RunFolder reader = RunFolder::open(folder / "run", Access::read);
  EXPECT_EQ(error_of([&] { reader.rewrite(record); }).kind(), ErrorKind::internal);
}

TEST(RunFolder, PathsThatAreNotUtf8MakeASoundRecord) {
  const TemporaryFolder folder;
  NewRun content = new_run();
  content.record.sources[0].path = "a\xFF.txt";
  static_cast<void>(RunFolder::create(folder / "run", content, checkpoint_of(0)));
  EXPECT_EQ(RunFolder::open(folder / "run", Access::read).record().sources[0].path, "a\xEF\xBF\xBD.txt");
}

TEST(RunFolder, ACopyIsAFileNameNeverAPath) {
  const TemporaryFolder folder;
  for (const char* name : {"../x", "/etc/passwd", "..", "a/b"}) {
    NewRun content = new_run();
    content.copies.clear();
    content.record.sources[1].copy = name;
    const auto path = folder / "run";
    static_cast<void>(RunFolder::create(path, content, checkpoint_of(0)));
    EXPECT_EQ(opening(path).kind(), ErrorKind::malformed) << name;
    std::filesystem::remove_all(path);
  }
}

TEST(NonfiniteReport, NamesStepTensorAndSamples) {
  const TemporaryFolder run;
  write_nonfinite_report(run.path(), {.step = 7, .quantity = "loss", .tensor = "blocks.0.w", .samples = {0, 64}});
  EXPECT_EQ(content_of(run / "nan-report.json"),
            "{\n  \"step\": 7,\n  \"quantity\": \"loss\",\n  \"tensor\": \"blocks.0.w\",\n  \"samples\": [0, 64]\n}\n");
  write_nonfinite_report(run.path(), {.step = 8, .quantity = "gradient norm", .tensor = "", .samples = {}});
  EXPECT_THAT(content_of(run / "nan-report.json"), HasSubstr("\"tensor\": null"));
}

}  // namespace
}  // namespace dikkat::train
