#include "dikkat/train/trainer.h"

#include <gmock/gmock.h>

#include <csignal>

#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint_testing.h"

namespace dikkat::train {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using testing::content_of;
using ::testing::HasSubstr;
using testing::overwrite;

// A text of some 2,000 characters with something to learn.
std::string sample_text() {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "drop by drop a lake, " + std::to_string(i * i % 97) + "\n";
  return text;
}

RunSpec small_spec() {
  RunSpec spec;
  spec.model = {.context = 8, .width = 16, .layers = 1, .heads = 2, .dropout = 0.1};
  spec.settings = {.steps = 20, .batch = 4, .learning_rate = 0.01, .warmup = 3};
  spec.conduct = {.eval_every = 5, .save_every = 7, .hash_every = 0};
  return spec;
}

// The log without evaluations and without what is a matter of time.
std::string step_lines(const std::filesystem::path& run) {
  std::istringstream lines(content_of(run / "log.jsonl"));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"event\"") != std::string::npos) continue;
    const std::size_t begin = line.find(",\"tokens_per_s\":");
    kept += line.substr(0, begin) + line.substr(line.find_first_of(",}", begin + 1)) + "\n";
  }
  return kept;
}

// Asks for a stop as soon as a step is done.
class StopAfter final : public Observer {
 public:
  StopAfter(std::uint64_t step, StopRequest& stop) : step_(step), stop_(stop) {}
  void on_step(const StepReport& report) override {
    if (report.step == step_) stop_.signal = SIGTERM;
  }

 private:
  std::uint64_t step_;
  StopRequest& stop_;
};

class TrainerTest : public ::testing::Test {
 protected:
  TrainerTest() { overwrite(folder_ / "text.txt", sample_text()); }

  Outcome begin(const char* name, const RunSpec& spec, unsigned threads = 1) {
    Observer nobody;
    return train_with({.run = folder_ / name, .spec = spec, .files = {folder_ / "text.txt"}}, threads, never_, nobody);
  }
  Outcome go_on(const char* name, const RunSpec& spec, unsigned threads = 1) {
    Observer nobody;
    return train_with({.run = folder_ / name, .spec = spec, .files = {}, .resume = true}, threads, never_, nobody);
  }
  Outcome train_with(const TrainRequest& request, unsigned threads, const StopRequest& stop, Observer& observer) {
    Pool pool(threads);
    return train(request, {pool}, stop, observer);
  }

  TemporaryFolder folder_;
  StopRequest never_;
};

// Stopped after any step, with an evaluation or a checkpoint due or not, and gone on with by other threads.
TEST_F(TrainerTest, StoppedAnywhereAndResumedItEndsAtTheSameBits) {
  const RunSpec spec = small_spec();
  const Outcome straight = begin("straight", spec);
  ASSERT_EQ(straight.step, 20U);
  for (std::uint64_t at = 1; at < 20; ++at) {
    const std::string name = "stopped-" + std::to_string(at);
    StopRequest stop;
    StopAfter observer(at, stop);
    const Outcome first =
        train_with({.run = folder_ / name, .spec = spec, .files = {folder_ / "text.txt"}}, 2, stop, observer);
    EXPECT_EQ(first.ending, Ending::interrupted);
    EXPECT_EQ(first.signal, SIGTERM);
    EXPECT_EQ(first.step, at);
    const Outcome second = go_on(name.c_str(), spec, 1 + static_cast<unsigned>(at % 3));
    EXPECT_EQ(second.ending, Ending::finished);
    EXPECT_EQ(second.weights_sha256, straight.weights_sha256) << "stopped after " << at;
    EXPECT_EQ(second.validation_loss_nats, straight.validation_loss_nats) << "stopped after " << at;
    EXPECT_EQ(step_lines(folder_ / name), step_lines(folder_ / "straight")) << "stopped after " << at;
  }
}

TEST_F(TrainerTest, AFinishedRunHasNothingLeftToDo) {
  const RunSpec spec = small_spec();
  const Outcome first = begin("run", spec);
  const std::string log = content_of(folder_ / "run" / "log.jsonl");
  const Outcome second = go_on("run", spec);
  EXPECT_EQ(second.weights_sha256, first.weights_sha256);
  EXPECT_EQ(content_of(folder_ / "run" / "log.jsonl"), log);
}

TEST_F(TrainerTest, StoppedEarlyItStaysStoppedUntilPatienceIsLonger) {
  RunSpec spec = small_spec();
  spec.settings.learning_rate = spec.settings.final_learning_rate = 3.0;  // far too high: it gets worse
  spec.settings.steps = 60;
  spec.conduct.patience = 2;
  const Outcome first = begin("run", spec);
  ASSERT_EQ(first.ending, Ending::early_stop);
  const Outcome again = go_on("run", spec);
  EXPECT_EQ(again.ending, Ending::early_stop);
  EXPECT_EQ(again.step, first.step);
  EXPECT_EQ(again.weights_sha256, first.weights_sha256);
  spec.conduct.patience = 0;
  EXPECT_EQ(go_on("run", spec).step, 60U);
}

TEST_F(TrainerTest, ANonfiniteStepStopsTheRunBeforeItsUpdate) {
  RunSpec spec = small_spec();
  spec.settings.learning_rate = 1e30;
  spec.settings.warmup = 0;
  const Error error = error_of([&] { (void)begin("run", spec); });
  EXPECT_EQ(error.kind(), ErrorKind::numeric);
  EXPECT_THAT(error.message(), HasSubstr("step 2"));
  EXPECT_THAT(error.message(), HasSubstr("the last good checkpoint is step 0"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run" / "nan-report.json"));
}

TEST_F(TrainerTest, PermittedNonfiniteStepsArePassedOver) {
  RunSpec spec = small_spec();
  spec.settings.learning_rate = 1e30;
  spec.settings.warmup = 0;
  spec.conduct.skip_nonfinite = 3;
  const Error error = error_of([&] { (void)begin("run", spec); });
  EXPECT_THAT(error.message(), HasSubstr("step 5"));  // 2, 3 and 4 were permitted
}

TEST_F(TrainerTest, ChangedSettingsAreRefusedByNameUnlessOverridden) {
  RunSpec spec = small_spec();
  (void)begin("run", spec);
  spec.settings.steps = 25;
  const Error error = error_of([&] { (void)go_on("run", spec); });
  EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  EXPECT_THAT(error.message(), HasSubstr("steps (20 then, 25 now)"));
  EXPECT_THAT(error.place().hint, HasSubstr("--override"));
  Observer nobody;
  const Outcome longer =
      train_with({.run = folder_ / "run", .spec = spec, .files = {}, .resume = true, .override_settings = true}, 1,
                 never_, nobody);
  EXPECT_EQ(longer.step, 25U);
}

TEST_F(TrainerTest, HowOftenToEvaluateAndSaveMayChange) {
  RunSpec spec = small_spec();
  const Outcome first = begin("run", spec);
  spec.conduct = {.eval_every = 0, .save_every = 1, .keep = 3};
  EXPECT_EQ(go_on("run", spec).weights_sha256, first.weights_sha256);
}

TEST_F(TrainerTest, AChangedTextIsRefused) {
  (void)begin("run", small_spec());
  overwrite(folder_ / "text.txt", sample_text() + "x");
  EXPECT_EQ(error_of([&] { (void)go_on("run", small_spec()); }).kind(), ErrorKind::incompatible);
}

TEST_F(TrainerTest, AMovedTextIsNamedOnceAndThenKnown) {
  (void)begin("run", small_spec());
  std::filesystem::rename(folder_ / "text.txt", folder_ / "moved.txt");
  const Error error = error_of([&] { (void)go_on("run", small_spec()); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_THAT(error.place().hint, HasSubstr("--resume"));
  Observer nobody;
  (void)train_with({.run = folder_ / "run", .spec = small_spec(), .files = {folder_ / "moved.txt"}, .resume = true}, 1,
                   never_, nobody);
  EXPECT_EQ(go_on("run", small_spec()).step, 20U);
}

TEST_F(TrainerTest, WhatCannotBeginLeavesNothingBehind) {
  RunSpec spec = small_spec();
  spec.model.context = 5000;
  EXPECT_EQ(error_of([&] { (void)begin("run", spec); }).kind(), ErrorKind::malformed);
  spec = small_spec();
  spec.model.heads = 3;
  EXPECT_EQ(error_of([&] { (void)begin("run", spec); }).kind(), ErrorKind::usage);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

}  // namespace
}  // namespace dikkat::train
