#include "dikkat/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "dikkat/base/testing.h"

namespace {

// What the next calls of write and fsync in this program do; the calls themselves are replaced below.
struct Faults {
  std::size_t most_bytes = ~std::size_t{0};  // a write takes no more
  int interruptions = 0;                     // this many calls end with EINTR first
  int write_fails_at = 0;                    // the n-th write from now fails with write_error; 0: none
  int write_error = ENOSPC;
  int fsync_error = 0;
};
Faults faults;

bool interrupted() {
  if (faults.interruptions == 0) return false;
  --faults.interruptions;
  errno = EINTR;
  return true;
}

}  // namespace

// The linker takes these instead of the C library's, so the code under test is the shipped one.
extern "C" ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (interrupted()) return -1;
  if (faults.write_fails_at > 0 && --faults.write_fails_at == 0) {
    errno = faults.write_error;
    return -1;
  }
  return syscall(SYS_write, descriptor, bytes, std::min(count, faults.most_bytes));
}

extern "C" int fsync(int descriptor) {
  if (interrupted()) return -1;
  if (faults.fsync_error != 0) {
    errno = faults.fsync_error;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace dikkat {
namespace {

namespace fs = std::filesystem;
using dikkat::testing::content_of;
using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using ::testing::HasSubstr;

class FaultsUntilHere {
 public:
  explicit FaultsUntilHere(Faults wanted) { faults = wanted; }
  ~FaultsUntilHere() { faults = {}; }
};

void put(const fs::path& path, std::string_view content) { std::ofstream(path, std::ios::binary) << content; }

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Runs `body` in a process of its own; its result is the exit code, 99 if it threw anything but Error.
int exit_code_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (const Error& error) {
      code = exit_code(error.kind());
    } catch (...) {
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

constexpr uid_t kNobody = 65534;
void become_ordinary() {
  if (geteuid() == 0 && (setegid(kNobody) != 0 || seteuid(kNobody) != 0)) _exit(98);
}

TEST(MappedFile, HoldsTheFilesBytes) {
  const TemporaryFolder folder;
  const std::string content("bir\0iki\r\n", 9);
  put(folder / "text", content);
  const MappedFile file(folder / "text");
  EXPECT_EQ(file.text(), content);
  EXPECT_EQ(file.bytes().size(), 9U);
}

TEST(MappedFile, AnEmptyFileIsAnEmptySpan) {
  const TemporaryFolder folder;
  put(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(MappedFile, MovesItsMapping) {
  const TemporaryFolder folder;
  put(folder / "a", "first");
  put(folder / "b", "second");
  MappedFile file(folder / "a");
  MappedFile moved(std::move(file));
  EXPECT_EQ(moved.text(), "first");
  moved = MappedFile(folder / "b");
  EXPECT_EQ(moved.text(), "second");
}

TEST(MappedFile, RefusesWhatIsNotThere) {
  const TemporaryFolder folder;
  const Error error = error_of([&] { MappedFile(folder / "missing"); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.place().file, (folder / "missing").string());
  EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  EXPECT_EQ(error.place().hint, "check the path");
}

TEST(MappedFile, RefusesWhatIsNotARegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::vector<std::pair<fs::path, std::string>> cases{
      {folder.path(), "a folder"}, {"/dev/zero", "a device"}, {"/dev/null", "a device"}, {folder / "pipe", "a pipe"}};
  for (const auto& [path, kind] : cases) {
    const Error error = error_of([&] { MappedFile{path}; });
    EXPECT_EQ(error.kind(), ErrorKind::malformed) << path;
    EXPECT_EQ(error.message(), kind + " is not a regular file");
    EXPECT_EQ(error.place().file, path.string());
    EXPECT_EQ(error_of([&] { (void)read_small_file(path, 10); }).kind(), ErrorKind::malformed) << path;
  }
}

TEST(MappedFile, RefusesAnUnreadableFile) {
  const TemporaryFolder folder;
  put(folder / "secret", "x");
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder / "secret", fs::perms::none);
  const fs::path path = folder / "secret";
  EXPECT_EQ(exit_code_of_child([&] {
              become_ordinary();
              MappedFile{path};
              return 0;
            }),
            exit_code(ErrorKind::io));
}

TEST(ReadSmallFile, ReadsUpToTheLimitAndNoFurther) {
  const TemporaryFolder folder;
  put(folder / "five", "12345");
  EXPECT_EQ(read_small_file(folder / "five", 6), "12345");
  EXPECT_EQ(read_small_file(folder / "five", 5), "12345");
  const Error error = error_of([&] { (void)read_small_file(folder / "five", 4); });
  EXPECT_EQ(error.kind(), ErrorKind::limit);
  EXPECT_EQ(error.message(), "larger than 4 bytes, the most that is read here");
}

TEST(ReadSmallFile, ReadsFilesWhoseSizeIsNotKnownBeforehand) {
  EXPECT_THAT(read_small_file("/proc/self/status", 1 << 20), HasSubstr("Pid:"));
  EXPECT_EQ(error_of([] { (void)read_small_file("/proc/self/status", 10); }).kind(), ErrorKind::limit);
}

// Replaces standard input by `source` in a child and returns the child's verdict.
int with_standard_input(int source, const std::function<int()>& body) {
  return exit_code_of_child([&] {
    if (source >= 0 ? dup2(source, STDIN_FILENO) < 0 : close(STDIN_FILENO) != 0) return 98;
    return body();
  });
}

TEST(StandardInput, IsReadToItsEndAlsoFromAPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    const std::string half(40000, 'a');
    const bool fine = ::write(ends[1], half.data(), half.size()) == 40000 && usleep(20000) == 0 &&
                      ::write(ends[1], half.data(), half.size()) == 40000;
    _exit(fine ? 0 : 1);
  }
  close(ends[1]);
  ASSERT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);  // so that waiting is needed
  EXPECT_EQ(with_standard_input(ends[0], [] { return read_standard_input(80000) == std::string(80000, 'a') ? 0 : 1; }),
            0);
  close(ends[0]);
  int status = 1;
  waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(StandardInput, HasALimitAndMayBeClosedOrAFolder) {
  const TemporaryFolder folder;
  const int endless = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const int directory = open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  const auto read_it = [] { return static_cast<int>(read_standard_input(3 << 20).size()); };
  EXPECT_EQ(with_standard_input(endless, read_it), exit_code(ErrorKind::limit));
  EXPECT_EQ(with_standard_input(directory, read_it), exit_code(ErrorKind::io));
  EXPECT_EQ(with_standard_input(-1, read_it), exit_code(ErrorKind::io));
  close(endless);
  close(directory);
}

TEST(FileWriter, WritesInPiecesAndKeepsWhatIsFinished) {
  const TemporaryFolder folder;
  {
    FileWriter writer(folder / "out");
    writer.write("bir ");
    writer.write("");
    writer.write(std::as_bytes(std::span("iki", 3)));
    writer.finish();
  }
  EXPECT_EQ(content_of(folder / "out"), "bir iki");
}

TEST(FileWriter, SurvivesShortWritesAndInterruptions) {
  const TemporaryFolder folder;
  const FaultsUntilHere fault({.most_bytes = 3, .interruptions = 2});
  FileWriter writer(folder / "out");
  writer.write("0123456789");
  faults.interruptions = 2;
  writer.finish();
  EXPECT_EQ(content_of(folder / "out"), "0123456789");
}

TEST(FileWriter, LeavesNothingUnfinishedBehind) {
  const TemporaryFolder folder;
  { FileWriter(folder / "out").write("half"); }
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(FileWriter, RefusesAnExistingTargetAndDoesNotTouchIt) {
  const TemporaryFolder folder;
  put(folder / "out", "old");
  fs::create_symlink("elsewhere", folder / "link");
  const Error error = error_of([&] { FileWriter{folder / "out"}; });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_THAT(error.what(), HasSubstr("cannot create: File exists"));
  EXPECT_EQ(content_of(folder / "out"), "old");
  EXPECT_EQ(error_of([&] { FileWriter{folder / "link"}; }).kind(), ErrorKind::io);
  EXPECT_FALSE(fs::exists(folder / "elsewhere"));
  EXPECT_EQ(error_of([&] { FileWriter{folder / "no" / "out"}; }).place().hint, "check the path");
}

TEST(FileWriter, RefusesAFolderThatCannotBeWritten) {
  const TemporaryFolder folder;
  fs::permissions(folder.path(),
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const fs::path path = folder / "out";
  EXPECT_EQ(exit_code_of_child([&] {
              become_ordinary();
              FileWriter{path};
              return 0;
            }),
            exit_code(ErrorKind::io));
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(FileWriter, ADiskFullAtAnyWriteIsNamedAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::vector<std::string> pieces{"abc", "defgh", "ij"};
  for (int nth = 1; nth <= 3; ++nth) {
    const FaultsUntilHere fault({.write_fails_at = nth});
    const Error error = error_of([&] {
      FileWriter writer(folder / "out");
      for (const std::string& piece : pieces) writer.write(piece);
      writer.finish();
    });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), HasSubstr("No space left on device")) << nth;
    EXPECT_EQ(error.place().hint, "free space or choose another disk");
    EXPECT_EQ(files_in(folder.path()), 0U) << nth;
  }
}

TEST(FileWriter, NamesTheBytesThatDidNotFit) {
  const TemporaryFolder folder;
  const FaultsUntilHere fault({.write_fails_at = 2});
  FileWriter writer(folder / "out");
  writer.write("abc");
  EXPECT_EQ(error_of([&] { writer.write("defgh"); }).message(),
            "cannot write 5 bytes after the first 3: No space left on device");
}

TEST(FileWriter, ReportsAFailureThatOnlyTheSyncSees) {
  const TemporaryFolder folder;
  const FaultsUntilHere fault({.fsync_error = EIO});
  const Error error = error_of([&] {
    FileWriter writer(folder / "out");
    writer.write("abc");
    writer.finish();
  });
  EXPECT_EQ(error.message(), "cannot bring 3 bytes to the disk: Input/output error");
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(FileWriter, StopsAtTheLimitOnFileSizes) {
  const TemporaryFolder folder;
  const fs::path path = folder / "out";
  EXPECT_EQ(exit_code_of_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 98;
              FileWriter writer(path);
              writer.write(std::string(4096, 'x'));  // fits
              writer.write("y");
              return 0;
            }),
            exit_code(ErrorKind::io));
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(FileWriter, PutsOtherBytesInThePlaceOfWrittenOnes) {
  const TemporaryFolder folder;
  FileWriter writer(folder / "log");
  writer.write("0123456789");
  writer.rewrite(2, std::as_bytes(std::span(std::string_view("ABC"))));
  writer.write("next");
  writer.finish();
  EXPECT_EQ(content_of(folder / "log"), "01ABC56789next");
}

TEST(FileReplacement, TakesItsNameOnlyWhenItIsWhole) {
  const TemporaryFolder folder;
  put(folder / "state", "old");
  FileReplacement file(folder / "state");
  file.write("one, ");
  file.write("two");
  EXPECT_EQ(content_of(folder / "state"), "old");
  file.rewrite(0, std::as_bytes(std::span(std::string_view("ONE"))));
  file.finish();
  EXPECT_EQ(content_of(folder / "state"), "ONE, two");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(FileReplacement, LeavesNothingOfWhatIsNotFinished) {
  const TemporaryFolder folder;
  put(folder / "state", "old");
  { FileReplacement(folder / "state").write("half"); }
  EXPECT_EQ(content_of(folder / "state"), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
  const Error nowhere = error_of([&] { FileReplacement(folder / "no" / "state"); });
  EXPECT_EQ(nowhere.kind(), ErrorKind::io);
  EXPECT_EQ(nowhere.place().file, (folder / "no" / "state").string());
}

TEST(ReplaceFile, CreatesAndReplaces) {
  const TemporaryFolder folder;
  replace_file(folder / "state", "one");
  EXPECT_EQ(content_of(folder / "state"), "one");
  replace_file(folder / "state", "two, longer");
  EXPECT_EQ(content_of(folder / "state"), "two, longer");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(ReplaceFile, KeepsTheOldFileWhenAnythingFails) {
  const TemporaryFolder folder;
  put(folder / "state", "old");
  for (const Faults& fault : {Faults{.write_fails_at = 1}, Faults{.fsync_error = EIO}}) {
    const FaultsUntilHere during(fault);
    EXPECT_EQ(error_of([&] { replace_file(folder / "state", "new"); }).kind(), ErrorKind::io);
    EXPECT_EQ(content_of(folder / "state"), "old");
    EXPECT_EQ(files_in(folder.path()), 1U);
  }
}

TEST(ReplaceFile, ClearsWhatADeadProcessOfTheSameNumberLeft) {
  const TemporaryFolder folder;
  put(folder.path() / ("state.tmp-" + std::to_string(getpid())), "leftover");
  replace_file(folder / "state", "new");
  EXPECT_EQ(content_of(folder / "state"), "new");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(ReplaceFile, RefusesToReplaceAFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "state");
  EXPECT_THAT(error_of([&] { replace_file(folder / "state", "new"); }).what(), HasSubstr("cannot replace"));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(SyncFolder, RefusesWhatIsNoFolder) {
  const TemporaryFolder folder;
  put(folder / "file", "x");
  EXPECT_NO_THROW(sync_folder(folder.path()));
  EXPECT_EQ(error_of([&] { sync_folder(folder / "file"); }).kind(), ErrorKind::io);
  const FaultsUntilHere fault({.fsync_error = EIO});
  EXPECT_EQ(error_of([&] { sync_folder(folder.path()); }).kind(), ErrorKind::io);
}

TEST(FreeBytes, AreSomeWhereWeCanWrite) {
  const TemporaryFolder folder;
  EXPECT_GT(free_bytes(folder.path()), 0U);
  EXPECT_EQ(error_of([&] { (void)free_bytes(folder / "missing"); }).kind(), ErrorKind::io);
}

TEST(FileLock, IsHeldByOneProcessAtATime) {
  const TemporaryFolder folder;
  const fs::path path = folder / "lock";
  const auto take = [&] {
    const FileLock lock(path, "the run");
    return 0;
  };
  {
    const FileLock lock(path, "the run");
    EXPECT_EQ(exit_code_of_child(take), exit_code(ErrorKind::locked));
    EXPECT_EQ(error_of(take).message(), "the run is in use by another process");
  }
  EXPECT_EQ(exit_code_of_child(take), 0);
}

TEST(FileLock, IsFreeAgainWhenItsHolderIsKilled) {
  const TemporaryFolder folder;
  const fs::path path = folder / "lock";
  EXPECT_EQ(exit_code_of_child([&]() -> int {
              const FileLock lock(path, "the run");
              raise(SIGKILL);
              return 0;
            }),
            128 + SIGKILL);
  EXPECT_NO_THROW(FileLock(path, "the run"));
}

TEST(FileLock, RefusesAPlaceThatCannotHoldOne) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { FileLock(folder.path(), "x"); }).kind(), ErrorKind::io);
  EXPECT_EQ(error_of([&] { FileLock(folder / "no" / "lock", "x"); }).kind(), ErrorKind::io);
}

}  // namespace
}  // namespace dikkat
