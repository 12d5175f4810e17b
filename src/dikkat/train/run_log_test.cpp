#include "dikkat/train/run_log.h"

#include <gmock/gmock.h>

#include <limits>

#include "dikkat/base/json.h"
#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint_testing.h"

namespace dikkat::train {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using testing::content_of;
using testing::names_in;
using testing::overwrite;

TEST(RunLog, WritesOneLineAStep) {
  const TemporaryFolder run;
  const std::string hash(64, 'f');
  {
    RunLog log(run.path(), models::Task::next_token);
    log.step(
        {.step = 1, .loss_nats = 0.1 + 0.2, .gradient_norm = 1.5, .learning_rate = 1e-5, .tokens_per_s = 71234.56});
    log.step({.step = 2,
              .loss_nats = 1,
              .gradient_norm = 0,
              .learning_rate = 0.001,
              .tokens_per_s = 1,
              .weights_sha256 = hash});
    log.evaluation({.step = 2, .result = {.loss_nats = 2.5, .targets = 111540}, .best = true});
    log.sync();
  }
  EXPECT_EQ(content_of(run / "log.jsonl"),
            "{\"step\":1,\"loss_nats\":0.30000000000000004,\"gradient_norm\":1.5,\"learning_rate\":1e-05,"
            "\"tokens_per_s\":71234.6}\n"
            "{\"step\":2,\"loss_nats\":1,\"gradient_norm\":0,\"learning_rate\":0.001,\"tokens_per_s\":1.0,"
            "\"weights_sha256\":\"" +
                hash +
                "\"}\n"
                "{\"event\":\"eval\",\"step\":2,\"loss_nats\":2.5,\"tokens\":111540,\"best\":true}\n");
}

TEST(RunLog, EveryLineIsStrictJson) {
  const TemporaryFolder run;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  RunLog log(run.path(), models::Task::next_token);
  log.step({.step = std::numeric_limits<std::uint64_t>::max(),
            .loss_nats = kNan,
            .gradient_norm = -kInfinity,
            .learning_rate = -2.2250738585072014e-308,
            .tokens_per_s = kInfinity,
            .weights_sha256 = std::string(64, 'f')},
           StepFate::skipped);
  const std::string line = content_of(run / "log.jsonl");
  const Json json = parse_json(line, "log");
  const JsonAt root(json, "log");
  EXPECT_EQ(root["step"].count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(root["loss_nats"].string(), "nan");
  EXPECT_EQ(root["gradient_norm"].string(), "-inf");
  EXPECT_EQ(root["learning_rate"].real(), -2.2250738585072014e-308);
  EXPECT_EQ(root["tokens_per_s"].string(), "inf");
  EXPECT_TRUE(root["skipped"].boolean());
}

TEST(RunLog, AppendsToWhatIsThere) {
  const TemporaryFolder run;
  RunLog(run.path(), models::Task::next_token).step({.step = 1});
  RunLog(run.path(), models::Task::next_token).step({.step = 2});
  const std::string text = content_of(run / "log.jsonl");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(RunLog, FullDiskIsAnError) {
  const TemporaryFolder run;
  std::filesystem::create_symlink("/dev/full", run / "log.jsonl");
  EXPECT_EQ(error_of([&] { RunLog log(run.path(), models::Task::next_token); }).kind(),
            ErrorKind::io);  // links are not followed
}

TEST(RunLogCut, TakesLaterStepsAndTornLines) {
  const TemporaryFolder run;
  const std::string kept = "{\"step\":1}\n{\"event\":\"eval\",\"step\":2}\n{\"step\":2}\n";
  overwrite(run / "log.jsonl", kept + "{\"event\":\"eval\",\"step\":3}\n{\"step\":3}\n{\"step\":4}\n{\"ste");
  EXPECT_EQ(cut_log_to(run.path(), 2), 4U);
  EXPECT_EQ(content_of(run / "log.jsonl"), kept);
  EXPECT_THAT(names_in(run.path()), ::testing::ElementsAre("log.jsonl"));
}

TEST(RunLogCut, ALastLineWithoutItsEndIsTorn) {
  const TemporaryFolder run;
  overwrite(run / "log.jsonl", "{\"step\":1}\n{\"step\":2}");
  EXPECT_EQ(cut_log_to(run.path(), 2), 1U);
  EXPECT_EQ(content_of(run / "log.jsonl"), "{\"step\":1}\n");
}

TEST(RunLogCut, DamagedLinesGoAndTheRestStays) {
  const TemporaryFolder run;
  overwrite(run / "log.jsonl", std::string("{\"step\":1}\n{\"step\":-1}\n\n\0\0\n[]\n{\"step\":2}\n", 41));
  EXPECT_EQ(cut_log_to(run.path(), 2), 4U);
  EXPECT_EQ(content_of(run / "log.jsonl"), "{\"step\":1}\n{\"step\":2}\n");
}

TEST(RunLogCut, LeavesAGoodLogAlone) {
  const TemporaryFolder run;
  EXPECT_EQ(cut_log_to(run.path(), 5), 0U);
  EXPECT_TRUE(names_in(run.path()).empty());
  overwrite(run / "log.jsonl", "{\"step\":1}\n{\"step\":5}\n");
  EXPECT_EQ(cut_log_to(run.path(), 5), 0U);
  EXPECT_EQ(content_of(run / "log.jsonl"), "{\"step\":1}\n{\"step\":5}\n");
}

TEST(RunLog, NamesWhatIsMeasuredOfSeries) {
  const TemporaryFolder run;
  {
    RunLog log(run.path(), models::Task::classify);
    log.evaluation({.step = 2, .result = {.loss_nats = 0.5, .targets = 72, .accuracy = 0.75}, .best = false});
  }
  EXPECT_EQ(content_of(run / "log.jsonl"),
            "{\"event\":\"eval\",\"step\":2,\"loss_nats\":0.5,\"series\":72,\"accuracy\":0.75,\"best\":false}\n");
  const TemporaryFolder other;
  {
    RunLog log(other.path(), models::Task::regress);
    log.evaluation({.step = 2, .result = {.loss_nats = 0.5, .targets = 72}, .best = true});
  }
  EXPECT_EQ(content_of(other / "log.jsonl"),
            "{\"event\":\"eval\",\"step\":2,\"squared_error\":0.5,\"series\":72,\"best\":true}\n");
}

}  // namespace
}  // namespace dikkat::train
