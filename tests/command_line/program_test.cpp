// What scripts and people rely on: spellings, exit codes, streams, signals.
#include "program.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "dikkat/base/json.h"

namespace dikkat::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSmall = " --preset kucuk --context 8 --width 8 --layers 1 --heads 2 ";

class Program : public ProgramTest {
 protected:
  Ran train(const std::string& more) const { return shell("$D train text.txt" + std::string(kSmall) + more); }
  // The one object on standard output.
  static Json object(const Ran& ran) {
    return parse_json(std::string_view(ran.out).substr(0, ran.out.find('\n')), "output");
  }
  static std::vector<std::string> keys(const Json& json) { return JsonAt(json, "output").keys(); }
  static std::string text(const Json& json, const char* key) { return JsonAt(json, "output")[key].string(); }
  std::string hash_of(const std::string& run) const {
    return text(object(shell("$D info " + run + " --json")), "weights_sha256");
  }
};

TEST_F(Program, TrainPrintsOneObjectForScripts) {
  const Ran ran = train("--out r --steps 4 --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "") << "silent where nobody watches";
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1);
  const Json json = object(ran);
  EXPECT_THAT(keys(json), ElementsAre("run", "step", "loss_nats", "validation_loss_nats", "best_validation_loss_nats",
                                      "best_step", "weights_sha256"));
  EXPECT_EQ(JsonAt(json, "")["step"].count(), 4U);
  EXPECT_EQ(text(json, "weights_sha256"), hash_of("r"));
}

TEST_F(Program, TrainTellsPeopleWhatToTypeNext) {
  const Ran ran = train("--out 'my run' --steps 4");
  EXPECT_THAT(ran.out, HasSubstr("dikkat generate 'my run' --tokens 300"));
  EXPECT_THAT(ran.out, HasSubstr("Trained 4 steps"));
  EXPECT_THAT(ran.out, HasSubstr("* training"));
}

TEST_F(Program, AnEvaluationThatNeverHappensIsNull) {
  const Ran ran = train("--out r --steps 4 --eval-every 0 --json");
  EXPECT_THAT(ran.out, HasSubstr("\"validation_loss_nats\":null"));
}

TEST_F(Program, AResumedRunNeedsNoTextAndEndsWhereTheStraightOneDoes) {
  ASSERT_EQ(train("--out straight --steps 6 --threads 1").code, 0);
  ASSERT_EQ(train("--out resumed --steps 3 --threads 2").code, 0);
  ASSERT_EQ(shell("$D train --out resumed --resume --steps 6 --override --eval-every 0 --threads 3").code, 0);
  EXPECT_EQ(hash_of("straight"), hash_of("resumed"));
  const Ran again = train("--out resumed --steps 6 --resume --threads 1");
  EXPECT_EQ(again.code, 0) << "the same command again, with --resume: " << again.err;
  EXPECT_THAT(again.out, HasSubstr("Nothing left to do"));
}

TEST_F(Program, KernelsAndThreadsLeaveNoTrace) {
  ASSERT_EQ(train("--out a --steps 3 --kernels reference --threads 1").code, 0);
  ASSERT_EQ(train("--out b --steps 3 --kernels check --threads 3").code, 0);
  EXPECT_EQ(hash_of("a"), hash_of("b"));
}

TEST_F(Program, StandardInputIsCopiedIntoTheRun) {
  ASSERT_EQ(shell("$D train - <text.txt --out r --steps 2" + std::string(kSmall)).code, 0);
  ASSERT_EQ(shell("rm text.txt; $D train --out r --resume --steps 4 --override").code, 0);
  EXPECT_EQ(shell("$D eval r").code, 0);
}

TEST_F(Program, DryRunPrintsThePlanAndWritesNothing) {
  const auto before = snapshot();
  const Ran people = train("--out r --dry-run");
  EXPECT_EQ(people.code, 0) << people.err;
  EXPECT_THAT(people.out, HasSubstr("Parameters:  1,277"));  // 21*8 + 8*8 + 8*24+8*8 + 8*32*2+40 + 3*16 + 8*21+21
  const Ran script = train("--out r --dry-run --json");
  EXPECT_EQ(JsonAt(object(script), "")["parameters"].count(), 1277U);
  EXPECT_EQ(train("--dry-run").code, 0) << "no --out is needed";
  EXPECT_THAT(people.out, HasSubstr("Text:        2,080 tokens, 21 distinct\n"));
  EXPECT_TRUE(before == snapshot());
}

TEST_F(Program, DryRunOfARunSaysWhereItStandsAndWhatIsLeft) {
  train_small("run");
  const auto before = snapshot();
  const Ran done = shell("$D train --out run --resume --dry-run");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("Text:        2,080 tokens, 21 distinct\n"));
  EXPECT_THAT(done.out, HasSubstr("Steps:       stands at 4 of 4. Nothing left to do\n"));
  const Ran more = shell("$D train --out run --resume --dry-run --steps 10 --override");
  EXPECT_THAT(more.out, HasSubstr("Steps:       stands at 4 of 10, 6 left, "));
  const Json json = object(shell("$D train --out run --resume --dry-run --steps 10 --override --json"));
  EXPECT_EQ(JsonAt(json, "")["step"].count(), 4U);
  EXPECT_EQ(JsonAt(json, "")["steps_left"].count(), 6U);
  EXPECT_TRUE(before == snapshot());
  const Ran moved = shell("mv text.txt elsewhere.txt; $D train --out run --resume --dry-run");
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_THAT(moved.out, HasSubstr("name it when you go on\n"));
  EXPECT_THAT(shell("$D train elsewhere.txt --out run --resume --dry-run").out, HasSubstr("2,080 tokens"));
}

TEST_F(Program, DryRunOfARunThatStoppedEarlySaysSo) {
  ASSERT_EQ(train("--out r --steps 100 --learning-rate 1e-30 --eval-every 1 --patience 2").code, 0);
  EXPECT_THAT(shell("$D train --out r --resume --dry-run").out, HasSubstr("Nothing left to do: it stopped early"));
}

TEST_F(Program, WhatItSaysToTypeCanBePasted) {
  ASSERT_EQ(shell("mkdir 'a b'; ln -s \"$D\" 'a b/it'\\''s dikkat'").code, 0);
  const Ran ran = shell("'a b/it'\\''s dikkat' train text.txt --out 'my run' --steps 4" + std::string(kSmall));
  const std::size_t write = ran.out.find("Write:");
  const std::size_t measure = ran.out.find("Measure:");
  ASSERT_NE(measure, std::string::npos) << ran.out;
  const std::string first = ran.out.substr(write + 6, measure - write - 6);
  EXPECT_EQ(shell(first).code, 0) << first;
  EXPECT_EQ(shell(ran.out.substr(measure + 8)).code, 0) << ran.out;
}

TEST_F(Program, EvalSaysWhatItMeasured) {
  train_small("run");
  const Json own = object(shell("$D eval run --json"));
  EXPECT_THAT(keys(own),
              ElementsAre("loss_nats", "tokens", "split", "bits_per_token", "perplexity", "step", "skipped"));
  const double loss = JsonAt(own, "")["loss_nats"].real();
  EXPECT_DOUBLE_EQ(JsonAt(own, "")["bits_per_token"].real(), loss / std::log(2.0));
  EXPECT_DOUBLE_EQ(JsonAt(own, "")["perplexity"].real(), std::exp(loss));
  EXPECT_EQ(JsonAt(own, "")["step"].count(), 4U);
  EXPECT_EQ(JsonAt(own, "")["skipped"].count(), 0U);
  EXPECT_EQ(text(own, "split"), "validation");
  const Ran copy = shell("cp text.txt copy.txt; $D eval run copy.txt --json");
  EXPECT_EQ(object(copy).find("tokens")->as<std::uint64_t>()[0], own.find("tokens")->as<std::uint64_t>()[0])
      << "the training text by another name";
  const std::size_t characters = 40 * (26 + 26);
  EXPECT_EQ(JsonAt(object(shell("$D eval run --split all --json")), "")["tokens"].count(), characters - 1);
  EXPECT_EQ(JsonAt(object(shell("$D eval run --split train --json")), "")["tokens"].count(), characters * 9 / 10 - 1);
  const Ran other = shell("printf 'damla damla' | $D eval run - --json");
  EXPECT_EQ(text(object(other), "split"), "all");
  EXPECT_EQ(JsonAt(object(other), "")["tokens"].count(), 10U);
}

TEST_F(Program, EvalOfATextThatHasChangedIsRefused) {
  train_small("run");
  const Ran ran = shell("echo 'MORE €' >>text.txt; $D eval run");
  EXPECT_EQ(ran.code, 7);
  EXPECT_THAT(ran.err, HasSubstr("the text has changed since the run was trained on it"))
      << "and not that it has unknown characters now";
  const Ran gone = shell("rm text.txt; $D eval run");
  EXPECT_EQ(gone.code, 4);
  EXPECT_THAT(gone.err, HasSubstr("name the file to measure on"));
}

TEST_F(Program, EvalLeavesOutWhatIsUnknownIfAsked) {
  train_small("run");
  write("strange.txt", "damla€ damla Q");
  const Ran ran = shell("$D eval run strange.txt --skip-unknown --json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "dikkat: left out 2 characters that the model has no token for\n");
  EXPECT_EQ(JsonAt(object(ran), "")["skipped"].count(), 2U);
  EXPECT_EQ(JsonAt(object(ran), "")["tokens"].count(), 11U);
  EXPECT_EQ(text(object(ran), "split"), "all");
}

TEST_F(Program, TheBestCheckpointIsFoundWithoutItsPointer) {
  train_small("run");
  const std::string best = shell("$D info run --json --checkpoint best").out;
  EXPECT_EQ(shell("rm run/best; $D info run --json --checkpoint best").out, best);
}

TEST_F(Program, GenerateWritesPromptAndContinuation) {
  train_small("run");
  const Ran people = shell("$D generate run --prompt dam --tokens 5 --seed 3");
  EXPECT_EQ(people.code, 0);
  EXPECT_TRUE(people.out.starts_with("dam")) << people.out;
  const Json json = object(shell("$D generate run --prompt dam --tokens 5 --seed 3 --json"));
  EXPECT_THAT(keys(json), ElementsAre("prompt", "completion", "tokens", "finish_reason", "skipped"));
  EXPECT_EQ("dam" + text(json, "completion") + "\n", people.out);
  EXPECT_EQ(JsonAt(json, "")["tokens"].count(), 5U);
  EXPECT_EQ(text(json, "finish_reason"), "length");
  EXPECT_EQ(shell("$D generate run --prompt dam --tokens 5 --seed 3 --no-cache --threads 3").out, people.out);
}

TEST_F(Program, GenerateCountsSkipsAndStops) {
  train_small("run");
  const Ran two = shell("$D generate run --prompt dam --tokens 5 --seed 3 --count 2 --json");
  EXPECT_EQ(std::count(two.out.begin(), two.out.end(), '\n'), 2);
  EXPECT_EQ(two.out.substr(two.out.find('\n') + 1),
            shell("$D generate run --prompt dam --tokens 5 --seed 4 --json").out);
  const Ran skipped = shell("$D generate run --prompt 'da€m' --tokens 1 --skip-unknown");
  EXPECT_EQ(skipped.code, 0);
  EXPECT_THAT(skipped.err, HasSubstr("'€' at line 1, column 3\n"));
  EXPECT_TRUE(skipped.out.starts_with("dam")) << "the prompt that the model saw: " << skipped.out;
  const Json left_out = object(shell("$D generate run --prompt 'da€m' --tokens 1 --skip-unknown --json"));
  EXPECT_EQ(text(left_out, "prompt"), "dam");
  EXPECT_EQ(text_of(*left_out.find("skipped")), R"([{"character":"€","line":1,"column":3}])");
  const Ran stopped = shell("$D generate run --prompt dam --tokens 500 --stop a --stop e --json");
  EXPECT_EQ(text(object(stopped), "finish_reason"), "stop");
  EXPECT_THAT(text(object(stopped), "completion"), Not(::testing::ContainsRegex("[ae]")));
  EXPECT_THAT(shell("$D generate run --prompt dam --tokens 20").err, HasSubstr("context of 8"))
      << "it slides, and says so";
}

TEST_F(Program, InfoNamesEverySetting) {
  train_small("run");
  const Json json = object(shell("$D info run --json"));
  EXPECT_EQ(JsonAt(json, "")["parameters"].count(), 1277U);
  EXPECT_EQ(JsonAt(json, "")["step"].count(), 4U);
  EXPECT_EQ(JsonAt(json, "")["configuration"]["model"]["width"].count(), 8U);
  EXPECT_EQ(JsonAt(json, "")["configuration"]["settings"]["steps"].count(), 4U);
  EXPECT_EQ(JsonAt(object(shell("$D info run --json --checkpoint 2")), "")["step"].count(), 2U);
  EXPECT_NE(text(object(shell("$D info run --json --checkpoint 2")), "weights_sha256"), text(json, "weights_sha256"));
}

TEST_F(Program, ADamagedNewestCheckpointGivesWayToTheOneBefore) {
  train_small("run");
  const Ran ran = shell("printf x >>run/step-4/weights.safetensors; $D info run --json");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(JsonAt(object(ran), "")["step"].count(), 2U);
  EXPECT_THAT(ran.err, HasSubstr("warning"));
  EXPECT_THAT(ran.err, HasSubstr("step-4"));
}

TEST_F(Program, ExportAndImportKeepTheHash) {
  train_small("run");
  ASSERT_EQ(shell("$D export run --format text --out w.txt").code, 0);
  const std::string lines = read("w.txt");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2 + 4 * 2 + 8 + 4) << "one layer of two heads";
  ASSERT_EQ(shell("$D import w.txt --format text --like run --out run2").code, 0);
  EXPECT_EQ(hash_of("run"), hash_of("run2"));
  EXPECT_EQ(shell("$D generate run2 --prompt dam --tokens 9").out,
            shell("$D generate run --prompt dam --tokens 9").out);
  EXPECT_EQ(shell("$D train --out run2 --resume").code, 0) << "it can be trained on";
}

TEST_F(Program, ConfigShowPrintsAFileThatMeansTheSame) {
  const std::string options = "--preset shakespeare --steps 77 --norm rms --clip 0.5";
  ASSERT_EQ(shell("$D config show " + options + " >mine.toml").code, 0);
  EXPECT_EQ(shell("$D config show --config mine.toml").out, read("mine.toml"));
  EXPECT_THAT(shell("$D config show --config mine.toml --steps 78 --origin").out, HasSubstr("steps = 78"));
  EXPECT_THAT(shell("$D config show --config mine.toml --origin").out, HasSubstr("# mine.toml:"));
  EXPECT_THAT(shell("$D config presets").out, HasSubstr("kucuk"));
}

TEST_F(Program, ErrorsAreObjectsForScripts) {
  const Ran ran = shell("$D train text.txt --out r --steps 1.0 --json");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "");
  const Json error = *object(ran).find("error");
  EXPECT_THAT(keys(error), ElementsAre("code", "kind", "message", "file", "offset", "key", "hint"));
  EXPECT_EQ(JsonAt(error, "")["code"].count(), 2U);
  EXPECT_EQ(text(error, "kind"), "usage");
  EXPECT_EQ(text(error, "key"), "steps");
  EXPECT_EQ(object(shell("$D trian --json")).find("error")->find("code")->as<std::uint64_t>()[0], 2U);
}

TEST_F(Program, ALossThatExplodesStopsTheRunAndKeepsTheLastGoodCheckpoint) {
  const Ran ran = train("--out r --steps 100 --learning-rate 1e30 --save-every 1");
  EXPECT_EQ(ran.code, 5);
  EXPECT_THAT(ran.err, HasSubstr("step "));
  EXPECT_THAT(ran.err, HasSubstr("learning rate"));
  EXPECT_EQ(shell("$D info r").code, 0);
  EXPECT_EQ(shell("test -s r/nan-report.json").code, 0);
}

TEST_F(Program, ASignalStopsItAfterADurableCheckpoint) {
  for (const auto& [name, code] : {std::pair{"TERM", 143}, std::pair{"INT", 130}, std::pair{"HUP", 143}}) {
    const std::string run = std::string("stopped-") + name;
    // As soon as the log has a line, training is under way.
    const Ran ran = shell("$D train text.txt" + std::string(kSmall) +
                          "--steps 4000000 --eval-every 0 --save-every 0 --out " + run + " & pid=$!; until test -s " +
                          run + "/log.jsonl; do sleep 0.01; done; kill -" + name + " $pid; wait $pid");
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_TRUE(ran.err.starts_with("dikkat: stopping after this step")) << "no empty line first: " << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("--resume"));
    EXPECT_GT(JsonAt(object(shell("$D info " + run + " --json")), "")["step"].count(), 0U);
  }
}

TEST_F(Program, ASignalWhileTheTextIsReadLeavesNothingAndSaysSo) {
  const auto stopped = [&](const std::string& options) {
    return shell("{ cat text.txt; sleep 1; } | $D train - --out r" + options +
                 " & pid=$!; sleep 0.5; kill -INT $pid; wait $pid");
  };
  const Ran said = stopped("");
  EXPECT_EQ(said.code, 130) << said.err;
  EXPECT_EQ(said.out, "Stopped while reading the data; nothing was written\n");
  const Ran json = stopped(" --json");
  EXPECT_EQ(json.code, 130) << json.err;
  EXPECT_TRUE(JsonAt(object(json), "")["loss_nats"].is_null());
  EXPECT_TRUE(JsonAt(object(json), "")["weights_sha256"].is_null());
  EXPECT_EQ(shell("test -e r").code, 1);
}

TEST_F(Program, NamesOfFilesSteerNoTerminal) {
  const std::string name = "k\x1b[31m\xC2\x9B\xE2\x80\xAE.toml";
  write(name, "steps = 3\n");
  for (const char* layout : {"", " --json"}) {
    const Ran ran = shell("$D config show --origin --config '" + name + "'" + layout);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(".toml: line 1"));
    for (const char* steering : {"\x1b", "\xC2\x9B", "\xE2\x80\xAE"}) {
      EXPECT_EQ(ran.out.find(steering), std::string::npos) << layout;
    }
  }
}

TEST_F(Program, ANameTooLongForTheSystemIsAnInputOutputError) {
  EXPECT_EQ(shell("$D train text.txt --out " + std::string(300, 'n')).code, 4);
  EXPECT_EQ(shell("$D info " + std::string(300, 'n')).code, 4);
  EXPECT_EQ(shell("$D eval run/" + std::string(300, 'n')).code, 4);
  for (const char* command :
       {"$D info ", "$D train text.txt --out r --config ", "$D info --json ", "$D train --out r "}) {
    const Ran ran = shell(command + std::string(100000, 'n'));
    EXPECT_EQ(ran.code, 4);
    EXPECT_LT(ran.err.size() + ran.out.size(), 400U) << "the name is cut";
  }
}

TEST_F(Program, AReaderThatGoesAwayIsNoError) {
  train_small("run");
  const std::string tail = "; echo $? >code; } | head -c 3 >/dev/null; cat code";
  EXPECT_EQ(shell("{ $D generate run --prompt dam --tokens 20000" + tail).out, "0\n");
  EXPECT_EQ(shell("{ trap '' PIPE; sleep 0.1; $D --help; echo $? >code; } | true; cat code").out, "0\n");
  EXPECT_EQ(shell("{ $D generate run --prompt dam --tokens 20000" + tail).err.find("error"), std::string::npos);
}

TEST_F(Program, LosingStandardErrorChangesNothing) {
  train_small("run");
  const Ran ran = shell("$D eval run 2>&-");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, shell("$D eval run").out);
  EXPECT_EQ(shell("$D trian 2>&-").code, 2);
  EXPECT_EQ(shell("$D trian 2>/dev/full").code, 2);
  EXPECT_EQ(shell("$D train text.txt --out r2 --steps 2 <&- 2>&-" + std::string(kSmall)).code, 0);
  EXPECT_EQ(shell("$D info r2 <&- 2>&-").code, 0) << "no file took the place of a closed descriptor";
}

TEST_F(Program, HomeAndLocaleDoNotMatter) {
  train_small("run");
  const std::string plain = shell("$D eval run").out;
  EXPECT_EQ(
      shell("unset HOME; LANG=tr_TR.UTF-8 LC_ALL=de_DE.UTF-8 XDG_CONFIG_HOME=nowhere TMPDIR=/nowhere $D eval run").out,
      plain);
  EXPECT_THAT(shell("LC_ALL=de_DE.UTF-8 $D config show --learning-rate 0.5").out, HasSubstr("learning-rate = 0.5"));
}

TEST_F(Program, NothingIsColouredWhereNobodyLooks) {
  EXPECT_THAT(shell("TERM=xterm $D trian").err, Not(HasSubstr("\x1b")));
}

// `script` (bsdutils, on every Debian) gives the program a terminal.
TEST_F(Program, OnATerminalThereIsColourUnlessItIsUnwanted) {
  const auto on_a_terminal = [&](const std::string& words) {
    return shell("script -qec '" + words + "' /dev/null </dev/null").out;
  };
  EXPECT_THAT(on_a_terminal("NO_COLOR= TERM=xterm $D trian"), HasSubstr("\x1b[1;31merror:\x1b[0m"));
  for (const char* without : {"NO_COLOR=1 TERM=xterm", "TERM=dumb"}) {
    const std::string out = on_a_terminal(std::string(without) + " $D trian");
    EXPECT_THAT(out, HasSubstr("dikkat: error: there is no command"));
    EXPECT_THAT(out, Not(HasSubstr("\x1b[1")));
  }
}

TEST_F(Program, OnATerminalAProgressLineIsShownAndTakenAway) {
  const std::string out = shell("script -qec 'TERM=xterm $D train text.txt --steps 5 --out r" + std::string(kSmall) +
                                "' /dev/null </dev/null")
                              .out;
  EXPECT_THAT(out, HasSubstr("1,277 parameters, 2,080 tokens of text; needs about"));
  EXPECT_THAT(out, ::testing::ContainsRegex("\r\\[#+\\] step 5/5  loss "));
  EXPECT_THAT(out, HasSubstr("\r\x1b[K"));
}

TEST_F(Program, ATerminalWithoutEscapesGetsPlainLines) {
  for (const char* terminal : {"TERM=dumb", "env -u TERM"}) {
    const std::string out = shell("script -qec '" + std::string(terminal) + " $D train text.txt --steps 5 --out r" +
                                  std::string(kSmall) + "' /dev/null </dev/null; rm -r r")
                                .out;
    EXPECT_THAT(out, HasSubstr("step 5/5  loss ")) << terminal;
    EXPECT_THAT(out, Not(HasSubstr("\x1b"))) << terminal;
    EXPECT_THAT(out, Not(HasSubstr("\rstep"))) << terminal;
  }
}

TEST_F(Program, TheLossCurveFitsTheTerminal) {
  const std::string out = shell("script -qec 'stty cols 30; TERM=dumb $D train text.txt --steps 50 --out r" +
                                std::string(kSmall) + "' /dev/null </dev/null")
                              .out;
  EXPECT_THAT(out, HasSubstr("+-------------------\r\n")) << "19 columns beside a scale of 10, and one free";
}

TEST_F(Program, SaysWhatItIs) {
  const Ran ran = shell("$D --version");
  EXPECT_TRUE(ran.out.starts_with("dikkat "));
  EXPECT_THAT(keys(object(shell("$D --version --json"))),
              ElementsAre("version", "commit", "compiler", "build_type", "flags"));
  EXPECT_EQ(shell("$D").code, 0);
  EXPECT_EQ(shell("$D").out, shell("$D --help").out);
  EXPECT_EQ(shell("$D help train").out, shell("$D train --help").out);
}

TEST_F(Program, HelpTakesLessThanThirtyMilliseconds) {
  auto fastest = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) {
    const auto began = std::chrono::steady_clock::now();
    ASSERT_EQ(shell("exec \"$D\" --help").code, 0);
    fastest = std::min(fastest,
                       std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began));
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const auto limit = std::chrono::milliseconds(300);  // the sanitizer's own start
#else
  const auto limit = std::chrono::milliseconds(30);
#endif
  EXPECT_LT(fastest, limit);
}

TEST_F(Program, CompletionsAreValidAndComplete) {
  EXPECT_EQ(shell("$D completions bash | bash -n").code, 0);
  const auto offers = [&](const std::string& words, int at) {
    return shell("bash -c 'source <(\"$D\" completions bash); COMP_WORDS=(dikkat " + words +
                 "); COMP_CWORD=" + std::to_string(at) + "; _dikkat; echo \"${COMPREPLY[*]}\"'")
        .out;
  };
  EXPECT_EQ(offers("tr", 1), "train\n");
  EXPECT_EQ(offers("train --learning", 2), "--learning-rate\n");
  EXPECT_EQ(offers("train --preset kuc", 3), "kucuk\n");
  EXPECT_EQ(offers("train te", 2), "text.txt\n");
  EXPECT_EQ(offers("config s", 2), "show\n");
}

TEST_F(Program, LessonBlockRunsTheBooksThreeParts) {
  const Ran ran = shell("$D lesson block");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("27678"));
  EXPECT_THAT(ran.out, HasSubstr("32 of 32"));
  const Json json = object(shell("$D lesson block --json"));
  EXPECT_EQ(JsonAt(json, "")["predicted"].count(), 32U);
  EXPECT_EQ(JsonAt(json, "")["losses_nats"].items().size(), 150U);
  EXPECT_NE(shell("$D lesson block --as-published").out, ran.out);
}

}  // namespace
}  // namespace dikkat::testing
