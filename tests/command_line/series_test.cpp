// Series in, class or number out, as users run it: train, resume, eval, predict, and what is refused.
#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "dikkat/base/json.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Waves that rise or fall, 40 series of 9 steps, sorted by label as archives sort them.
std::string waves() {
  std::string csv = "kind,t1,t2,t3,t4,t5,t6,t7,t8,t9\n";
  for (int s = 0; s < 40; ++s) {
    const bool rises = s >= 20;
    csv += rises ? "rises" : "falls, \"slowly\"";
    if (!rises) csv.replace(csv.size() - 15, 15, "\"falls, \"\"slowly\"\"\"");
    for (int t = 0; t < 9; ++t) {
      const double value = (rises ? 0.1 : -0.1) * t + 0.3 * std::sin(0.7 * s + t);
      csv += "," + std::to_string(value);
    }
    csv += "\n";
  }
  return csv;
}

class SeriesProgramTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("waves.csv", waves());
  }
  [[nodiscard]] Json json_of(const std::string& command) const {
    const Ran ran = shell(command);
    EXPECT_EQ(ran.code, 0) << command << "\n" << ran.err;
    return parse_json(ran.out, "output");
  }
  [[nodiscard]] std::string hash_of(const std::string& run) const {
    const Json json = json_of("$D info " + run + " --json");
    return JsonAt(json, "info")["weights_sha256"].string();
  }
};

constexpr const char* kTrain =
    "$D train waves.csv --task classify --label kind --validation-share 0.1 --width 8 --heads 2 --layers 1 "
    "--warmup 0 ";

TEST_F(SeriesProgramTest, LearnsToTellTwoClassesApart) {
  const Ran trained = shell(std::string(kTrain) + "--steps 200 --out run");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("accuracy"));
  const Json said = json_of("$D eval run waves.csv --split all --json");
  const JsonAt eval(said, "eval");
  EXPECT_GE(eval["accuracy"].real(), 0.95);
  EXPECT_EQ(eval["series"].count(), 40U);
  EXPECT_EQ(eval["most_frequent"]["share"].real(), 0.5);
  EXPECT_EQ(eval["labels"].items()[0].string(), "falls, \"slowly\"");
  // The same file is known: without a name, and by its name with a part asked for.
  const Json own = json_of("$D eval run --json");
  EXPECT_EQ(JsonAt(own, "eval")["split"].string(), "validation");
  EXPECT_EQ(JsonAt(own, "eval")["series"].count(), 4U);  // a tenth of each label's twenty
  const Json part = json_of("$D eval run waves.csv --split train --json");
  EXPECT_EQ(JsonAt(part, "eval")["series"].count(), 36U);
}

TEST_F(SeriesProgramTest, IsTheSameOnAnyThreadsStraightOrResumed) {
  ASSERT_EQ(shell(std::string(kTrain) + "--steps 30 --dropout 0.2 --threads 1 --out straight").code, 0);
  ASSERT_EQ(shell(std::string(kTrain) + "--steps 30 --dropout 0.2 --threads 3 --eval-every 7 --out threads").code, 0);
  EXPECT_EQ(hash_of("straight"), hash_of("threads"));
  // Stopped after 30 of 60 steps is not the same run (the schedule is another); stop a run of 30 at its checkpoint.
  ASSERT_EQ(shell("cp -r straight parts && rm -r parts/step-30 parts/latest").code, 0);
  const Ran resumed = shell("$D train --out parts --resume --threads 2");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(hash_of("parts"), hash_of("straight"));
}

TEST_F(SeriesProgramTest, PredictsCsvWithAProbabilityForEachLabel) {
  ASSERT_EQ(shell(std::string(kTrain) + "--steps 100 --out run").code, 0);
  const Ran said = shell("$D predict run waves.csv");
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out,
              StartsWith("series,prediction,\"probability of falls, \"\"slowly\"\"\",\"probability of rises\"\n"));
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 41);
  ASSERT_EQ(shell("$D predict run waves.csv --out said.csv").code, 0);
  EXPECT_EQ(read("said.csv"), said.out);
  EXPECT_EQ(shell("$D predict run waves.csv --out said.csv").code, 2);  // nothing is overwritten
  // Without labels, the same is said.
  ASSERT_EQ(shell("tail -n +2 waves.csv | sed 's/^\"[^0-9-]*\",//; s/^rises,//' >bare.csv").code, 0);
  const Ran bare = shell("$D predict run bare.csv --label none");
  ASSERT_EQ(bare.code, 0) << bare.err;
  const auto without_names = [](std::string csv) {
    std::string out;
    for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1) {
      const std::size_t comma = csv.find(',', at);
      out += csv.substr(comma, csv.find('\n', at) - comma);
    }
    return out;
  };
  EXPECT_EQ(without_names(bare.out), without_names(said.out));
}

TEST_F(SeriesProgramTest, LearnsANumber) {
  std::string csv = "y,a,b,c\n";
  for (int s = 0; s < 60; ++s) {
    const double a = std::sin(1.0 * s);
    const double b = std::cos(2.0 * s);
    const double c = std::sin(3.0 * s + 1);
    csv += std::to_string(100 + 10 * (a + b + c)) + "," + std::to_string(a) + "," + std::to_string(b) + "," +
           std::to_string(c) + "\n";
  }
  write("sums.csv", csv);
  const Ran trained = shell("$D train sums.csv --task regress --width 16 --steps 300 --out run");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json said = json_of("$D eval run sums.csv --json");
  const JsonAt eval(said, "eval");
  EXPECT_LT(eval["root_mean_square_error"].real(), 0.5 * eval["error_of_the_mean"].real());
  EXPECT_GT(eval["r2"].real(), 0.75);
  const Ran predicted = shell("$D predict run sums.csv");
  EXPECT_THAT(predicted.out, StartsWith("series,prediction\n"));
  EXPECT_THAT(read("run/log.jsonl"), HasSubstr("\"squared_error\":"));
}

TEST_F(SeriesProgramTest, InfoTellsOfSeries) {
  ASSERT_EQ(shell(std::string(kTrain) + "--steps 2 --out run").code, 0);
  const Ran text = shell("$D info run");
  EXPECT_THAT(text.out, HasSubstr("1 channel, at most 9 steps; 2 classes: falls, "));
  const Json json = json_of("$D info run --json");
  EXPECT_EQ(JsonAt(json, "info")["series"]["longest"].count(), 9U);
}

struct Refusal {
  std::string name;
  std::string command;
  int code;
  std::string says;
};

class SeriesRefusalTest : public SeriesProgramTest, public ::testing::WithParamInterface<Refusal> {};

TEST_P(SeriesRefusalTest, SaysWhatAndWhatToDo) {
  ASSERT_EQ(shell(std::string(kTrain) + "--steps 2 --out run").code, 0);
  ASSERT_EQ(shell("$D train text.txt --steps 2 --width 8 --layers 1 --context 8 --warmup 0 --out text-run").code, 0);
  const Ran ran = shell(GetParam().command);
  EXPECT_EQ(ran.code, GetParam().code) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Series, SeriesRefusalTest,
    ::testing::Values(
        Refusal{"GenerateFromSeries", "$D generate run", 2, "this run learned series"},
        Refusal{"PredictFromText", "$D predict text-run waves.csv", 2, "this run learned a text"},
        Refusal{"SamplesOfSeries", "$D train waves.csv --task classify --sample-every 5 --out r", 2, "sample-every"},
        Refusal{"TwoTables", "$D train waves.csv waves.csv --task classify --out r", 2, "from one file, not from 2"},
        Refusal{"ContextTooShort", "$D train waves.csv --task classify --context 4 --out r", 3,
                "the longest series has 9 steps, the context is 4"},
        Refusal{"NoSuchLabelColumn", "$D train waves.csv --task classify --label kinds --out r", 2, "kind"},
        Refusal{"LabelsThatAreNoNumbers", "$D train waves.csv --task regress --out r", 3, "number"},
        Refusal{"OneClassOnly", "head -n 15 waves.csv >one.csv; $D train one.csv --task classify --out r", 3, "class"},
        Refusal{"NotANumber",
                "sed 's/^rises,0/rises,NaN/; s/^rises,-/rises,x/' waves.csv >nan.csv; "
                "$D train nan.csv --task classify --out r",
                3, "nan.csv"},
        Refusal{"LongerSeriesToPredict",
                "printf '1,2,3,4,5,6,7,8,9,10\\n' >long.csv; "
                "$D predict run long.csv --label none",
                7, "10 steps"},
        Refusal{"LabelTheModelDoesNotKnow", "sed 's/^rises/stands/' waves.csv >new.csv; $D eval run new.csv", 7,
                "stands"},
        Refusal{"PartsOfAnotherFile",
                "cp waves.csv o.csv; echo 'rises,1,2,3,4,5,6,7,8,9' >>o.csv; "
                "$D eval run o.csv --split train",
                2, "--split"},
        Refusal{"ResumedWithAnotherTask", "$D train --out run --resume --task regress --override", 7, "task"},
        Refusal{"ResumedWithChangedSeries", "sed -i 's/,0\\.1/,0.2/' waves.csv; $D train --out run --resume", 7,
                "the data is not what the run was begun with"},
        Refusal{"NoValidationPart",
                "$D train waves.csv --task classify --validation-share 0 --steps 2 --out r >/dev/null; "
                "$D eval r --split validation",
                2, "without a validation part"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dikkat::testing
