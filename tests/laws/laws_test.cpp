// The law of bits on the whole program: the finished weights and every line of the log are the same for any number of
// threads, evaluation schedule, interruption, and body of the kernels.
//
// DIKKAT_FULL=1 runs the counts of a release (200 kills, 400 steps of shakespeare-cpu); without it a tenth.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "../support/program.h"
#include "dikkat/base/json.h"

namespace dikkat {
namespace {

using testing::content_of;
using testing::Finished;
using testing::Running;
using testing::TemporaryFolder;

const char* const kText = DIKKAT_SOURCE_DIR "/data/atasozleri.txt";

bool full() { return std::getenv("DIKKAT_FULL") != nullptr; }
// A sanitizer's run (which draws fewer random cases too) is some ten times slower.
bool slow() { return std::getenv("DIKKAT_RANDOM_CASES") != nullptr; }
std::size_t count(std::size_t few, std::size_t many) { return slow() ? (few + 3) / 4 : (full() ? many : few); }
std::string steps(std::size_t few, std::size_t many) { return std::to_string(count(few, many)); }

std::string hash_in(const Finished& finished) {
  const Json json = parse_json(finished.out, "output");
  return JsonAt(json, "output")["weights_sha256"].string();
}

// The log's step lines without the one thing that is a matter of time.
std::string step_lines(const std::filesystem::path& run) {
  std::istringstream lines(content_of(run / "log.jsonl"));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"event\"") != std::string::npos) continue;
    const std::size_t begin = line.find(",\"tokens_per_s\":");
    const std::size_t end = line.find_first_of(",}", begin + 1);
    kept += line.substr(0, begin) + line.substr(end) + "\n";
  }
  return kept;
}

class Laws : public ::testing::Test {
 protected:
  // Trains in the test's folder; the last words win over the first.
  Finished train(const std::string& name, std::vector<std::string> words) {
    std::vector<std::string> all = {"train", kText, "--out", (folder_ / name).string(), "--json"};
    all.insert(all.end(), words.begin(), words.end());
    return testing::run(all);
  }
  Finished resume(const std::string& name, std::vector<std::string> words = {}) {
    std::vector<std::string> all = {"train", "--out", (folder_ / name).string(), "--resume", "--json"};
    all.insert(all.end(), words.begin(), words.end());
    return testing::run(all);
  }

  TemporaryFolder folder_;
};

TEST_F(Laws, AnyNumberOfThreadsTrainsTheSameWeights) {
  const std::string n = steps(30, 400);
  const Finished one = train("one", {"--preset", "shakespeare-cpu", "--steps", n, "--warmup", "5", "--threads", "1"});
  ASSERT_EQ(one.code, 0) << one.err;
  for (const char* threads : {"2", "3", "8"}) {
    const Finished some =
        train(threads, {"--preset", "shakespeare-cpu", "--steps", n, "--warmup", "5", "--threads", threads});
    ASSERT_EQ(some.code, 0) << some.err;
    EXPECT_EQ(hash_in(some), hash_in(one)) << threads << " threads";
    EXPECT_EQ(step_lines(folder_ / threads), step_lines(folder_ / "one")) << threads << " threads";
  }
}

TEST_F(Laws, EvaluatingOftenOrNeverTrainsTheSameWeights) {
  const std::vector<std::string> base = {"--preset", "kucuk", "--dropout", "0.1", "--steps", steps(150, 1000)};
  const auto with = [&](const char* every) {
    std::vector<std::string> words = base;
    words.insert(words.end(), {"--eval-every", every});
    return words;
  };
  const Finished never = train("never", with("0"));
  ASSERT_EQ(never.code, 0) << never.err;
  for (const char* every : {"7", "100"}) {
    const Finished often = train(every, with(every));
    ASSERT_EQ(often.code, 0) << often.err;
    EXPECT_EQ(hash_in(often), hash_in(never)) << "every " << every;
    EXPECT_EQ(step_lines(folder_ / every), step_lines(folder_ / "never")) << "every " << every;
  }
}

TEST_F(Laws, PlainKernelsTrainTheSameWeights) {
  const std::string n = steps(3, 20);
  const std::vector<std::string> base = {"--preset", "shakespeare-cpu", "--steps", n, "--warmup",
                                         "1",        "--eval-every",    "0"};
  const auto with = [&](const char* bodies) {
    std::vector<std::string> words = base;
    words.insert(words.end(), {"--kernels", bodies});
    return words;
  };
  const Finished fast = train("fast", with("fast"));
  ASSERT_EQ(fast.code, 0) << fast.err;
  for (const char* bodies : {"reference", "check"}) {
    const Finished plain = train(bodies, with(bodies));
    ASSERT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(hash_in(plain), hash_in(fast)) << bodies;
    EXPECT_EQ(step_lines(folder_ / bodies), step_lines(folder_ / "fast")) << bodies;
  }
}

TEST_F(Laws, StoppedThreeTimesAndResumedTrainsTheSameWeights) {
  const std::vector<std::string> settings = {"--preset", "shakespeare-cpu", "--steps", steps(40, 400), "--warmup",
                                             "10",       "--dropout",       "0.1",     "--eval-every", "10"};
  const Finished straight = train("straight", settings);
  ASSERT_EQ(straight.code, 0) << straight.err;

  std::mt19937 draw(20261130);
  std::vector<std::string> words = {"train",  kText,       "--out", (folder_ / "stopped").string(),
                                    "--json", "--threads", "2"};
  words.insert(words.end(), settings.begin(), settings.end());
  int stops = 0;
  Finished last;
  for (int round = 0; round < 4; ++round) {
    Running process(words);
    if (round < 3) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200 + draw() % 500));
      process.send(SIGTERM);
    }
    last = process.wait();
    if (last.code == 143) ++stops;
    if (!std::filesystem::exists(folder_ / "stopped")) continue;  // stopped before there was a run
    words = {"train",  "--out",     (folder_ / "stopped").string(), "--resume",
             "--json", "--threads", std::to_string(1 + round)};
  }
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_GE(stops, 1);
  EXPECT_EQ(hash_in(last), hash_in(straight));
  EXPECT_EQ(step_lines(folder_ / "stopped"), step_lines(folder_ / "straight"));
}

TEST_F(Laws, KilledAtAnyInstantItResumesToTheSameWeights) {
  const std::vector<std::string> settings = {"--preset",     "kucuk", "--steps",      "300",
                                             "--save-every", "5",     "--eval-every", "50"};
  const auto begin = std::chrono::steady_clock::now();
  const Finished straight = train("straight", settings);
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  ASSERT_EQ(straight.code, 0) << straight.err;
  const std::string truth = hash_in(straight);

  std::mt19937 draw(5);
  int killed = 0;
  for (std::size_t round = 0; round < count(20, 200); ++round) {
    const std::string name = "run-" + std::to_string(round);
    std::vector<std::string> words = {"train", kText, "--out", (folder_ / name).string(), "--json"};
    words.insert(words.end(), settings.begin(), settings.end());
    {
      Running process(words);
      std::this_thread::sleep_for(whole * (draw() % 1000) / 1000);
      process.send(SIGKILL);
      if (process.wait().code == 128 + SIGKILL) ++killed;
    }
    const bool begun = std::filesystem::exists(folder_ / name);
    // Killed before its first checkpoint there is a run without one, or none at all: it begins anew.
    Finished finished = begun ? resume(name) : train(name, settings);
    if (begun && finished.code == 4) {
      std::filesystem::remove_all(folder_ / name);
      finished = train(name, settings);
    }
    ASSERT_EQ(finished.code, 0) << "round " << round << ": " << finished.err;
    EXPECT_EQ(hash_in(finished), truth) << "round " << round;
    std::filesystem::remove_all(folder_ / name);
  }
  EXPECT_GT(killed, 0);
}

}  // namespace
}  // namespace dikkat
