// What people and machines get wrong: each has a documented exit code, one clear line, and leaves every file as it was.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "dikkat/base/hash.h"
#include "dikkat/base/json.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;

struct BadInput {
  const char* name;
  const char* script;  // in a folder with text.txt, a trained `run`, and what SetUp makes
  int code;
  const char* word;  // that the error line must contain
};

void PrintTo(const BadInput& input, std::ostream* out) { *out << input.script; }

class BadInputTest : public ProgramTest, public ::testing::WithParamInterface<BadInput> {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    train_small("run");
    write("empty.txt", "");
    write("one.txt", std::string(1000, 'a'));
    write("short.txt", "abcdefgh");
    write("other.txt", std::string(500, 'q') + "w");
    write("latin1.txt", "\xE7ok eski bir dosya " + std::string(1000, 'a'));
    write("utf16.txt", std::string("\xFF\xFE") + "a\0b\0" + std::string(1000, 'a'));
    write("unknown.toml", "steps = 3\n\nwdith = 8\n");
    write("type.toml", "steps = \"three\"\n");
    write("twice.toml", "steps = 3\nsteps = 4\n");
    write("nested.toml", "steps = " + std::string(100000, '['));
    write("nul.toml", std::string_view("steps = 3\0\n", 11));
    write("big.toml", std::string((1U << 20U) + 1, '#'));
    write("short-weights.txt", "1 2 3\n");
    half_a_run("half");
    another_versions_run("newer");
    damaged_run("damaged");
  }

 private:
  void copy_run(const std::string& name) {
    std::filesystem::copy(folder_ / "run", folder_ / name, std::filesystem::copy_options::recursive);
  }
  void half_a_run(const std::string& name) {
    copy_run(name);
    std::filesystem::remove(folder_ / name / "tokenizer.json");
  }
  void another_versions_run(const std::string& name) {
    copy_run(name);
    const Json now = parse_json(read(name + "/run.json"), "run.json");
    Json later = Json::object();
    for (const JsonMember& member : now.members()) {
      if (member.key == "version") {
        later.set("version", 99U);
      } else if (member.key != "xxh3_128") {
        later.set(member.key, member.value);
      }
    }
    later.set("xxh3_128", xxh3_128_hex(text_of(later)));
    write(name + "/run.json", text_of(later));
  }
  // One bit of the weights in every checkpoint.
  void damaged_run(const std::string& name) {
    copy_run(name);
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name)) {
      const std::string weights = name + "/" + entry.path().filename().string() + "/weights.safetensors";
      if (!std::filesystem::exists(folder_ / weights)) continue;
      std::string bytes = read(weights);
      bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
      write(weights, bytes);
    }
  }
};

TEST_P(BadInputTest, IsRefusedClearlyAndChangesNothing) {
  const auto before = snapshot();
  const Ran ran = shell(GetParam().script);
  EXPECT_EQ(ran.code, GetParam().code) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(GetParam().word));
  EXPECT_TRUE(ran.err.starts_with("dikkat: error: ")) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << "one line: " << ran.err;
  EXPECT_TRUE(is_utf8(ran.err)) << ran.err;
  EXPECT_LT(ran.err.size(), 2000U);
  EXPECT_EQ(ran.out, "");
  const auto after = snapshot();
  EXPECT_EQ(before.size(), after.size());
  EXPECT_TRUE(before == after) << "something was written or changed";
}

std::string name_of(const ::testing::TestParamInfo<BadInput>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Numbers, BadInputTest,
    ::testing::Values(
        BadInput{"StepsMinusOne", "$D train text.txt --out r --steps -1", 2, "--steps takes a whole number"},
        BadInput{"StepsZero", "$D train text.txt --out r --steps 0", 2, "steps"},
        BadInput{"StepsNan", "$D train text.txt --out r --steps nan", 2, "--steps"},
        BadInput{"StepsInf", "$D train text.txt --out r --steps inf", 2, "--steps"},
        BadInput{"Steps1e999", "$D train text.txt --out r --steps 1e999", 2, "--steps"},
        BadInput{"Steps010", "$D train text.txt --out r --steps 010", 2, "'010'"},
        BadInput{"Steps1Point0", "$D train text.txt --out r --steps 1.0", 2, "'1.0'"},
        BadInput{"StepsBeyond64Bits", "$D train text.txt --out r --steps 18446744073709551616", 2,
                 "18446744073709551616 is larger than 18446744073709551615"},
        BadInput{"StepsEmpty", "$D train text.txt --out r --steps ''", 2, "--steps"},
        BadInput{"StepsHex", "$D train text.txt --out r --steps 0x10", 2, "--steps"},
        BadInput{"BatchZero", "$D train text.txt --out r --batch 0", 2, "batch"},
        BadInput{"ContextZero", "$D train text.txt --out r --context 0", 2, "context"},
        BadInput{"WidthZero", "$D train text.txt --out r --width 0", 2, "width"},
        BadInput{"HeadsZero", "$D train text.txt --out r --heads 0", 2, "heads"},
        BadInput{"SeedMinusOne", "$D train text.txt --out r --seed -1", 2, "--seed"},
        BadInput{"ThreadsZero", "$D train text.txt --out r --threads 0", 2, "--threads"},
        BadInput{"ThreadsMinusOne", "$D info run --threads -1", 2, "--threads"},
        BadInput{"ThreadsBillion", "$D eval run --threads 1000000000", 2, "1024"},
        BadInput{"KernelsUnknown", "$D eval run --kernels fats", 2, "did you mean fast?"},
        BadInput{"LearningRateZero", "$D train text.txt --out r --learning-rate 0", 2, "learning-rate"},
        BadInput{"LearningRateNegative", "$D train text.txt --out r --learning-rate -1", 2, "learning-rate"},
        BadInput{"LearningRateNan", "$D train text.txt --out r --learning-rate nan", 2, "--learning-rate"},
        BadInput{"LearningRateInf", "$D train text.txt --out r --learning-rate inf", 2, "--learning-rate"},
        BadInput{"LearningRate1e999", "$D train text.txt --out r --learning-rate 1e999", 2, "--learning-rate"},
        BadInput{"LearningRateComma", "$D train text.txt --out r --learning-rate 0,1", 2, "'0,1'"},
        BadInput{"DropoutOne", "$D train text.txt --out r --dropout 1", 2, "dropout"},
        BadInput{"WarmupBeyondTheSteps", "$D train text.txt --out r --steps 5 --warmup 6", 2, "warmup"},
        BadInput{"HeadsDoNotDivideWidth", "$D train text.txt --out r --width 130 --heads 4", 2, "128 or 132"},
        BadInput{"KeepOne", "$D train text.txt --out r --keep 1", 2, "keep"},
        BadInput{"MicroBatchOfNoWholeChunks", "$D train text.txt --out r --batch 12 --micro-batch 3", 2, "micro-batch"},
        BadInput{"SwitchYes", "$D train text.txt --out r --norm-bias yes", 2, "true or false"},
        BadInput{"UnknownNorm", "$D train text.txt --out r --norm lyaer", 2, "layer"},
        BadInput{"TokensZero", "$D generate run --tokens 0", 2, "--tokens"},
        BadInput{"TemperatureNegative", "$D generate run --temperature -1", 2,
                 "error: temperature must be finite and at least 0, not -1 (temperature); try"},
        BadInput{"TopPTwo", "$D generate run --top-p 2", 2, "top"},
        BadInput{"PenaltyZero", "$D generate run --repetition-penalty 0", 2, "penalty"},
        BadInput{"EmptyStop", "$D generate run --stop ''", 2, "--stop"},
        BadInput{"TooLargeForTheMachine", "$D train text.txt --out r --context 8 --width 131072 --heads 1 --layers 64",
                 6, "TiB of memory, this machine has"},
        BadInput{"TooLargeForTheMachinePlanned",
                 "$D train text.txt --dry-run --context 8 --width 131072 --heads 1 --layers 64", 6,
                 "TiB of memory, this machine has"},
        BadInput{"SamplesOfABidirectionalModel", "$D train text.txt --out r --direction bidirectional --sample-every 5",
                 2, "--direction causal"},
        BadInput{"PatienceWithoutEvaluations", "$D train text.txt --out r --patience 3 --eval-every 0", 2,
                 "--eval-every a number above 0"},
        BadInput{"KeyValueHeadsNamesAllThatDivide", "$D train text.txt --out r --heads 12 --width 12 --kv-heads 5", 2,
                 "give 1, 4 or 6"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Words, BadInputTest,
    ::testing::Values(
        BadInput{"UnknownCommand", "$D trian text.txt", 2, "did you mean dikkat train?"},
        BadInput{"NonsenseCommand", "$D banana", 2, "dikkat --help"},
        BadInput{"OptionBeforeTheCommand", "$D --steps 3 train", 2, "command"},
        BadInput{"MisspeltOption", "$D train text.txt --out r --stpes 3", 2, "did you mean --steps?"},
        BadInput{"OtherProgramsOption", "$D train text.txt --out r --lr 3", 2, "did you mean --learning-rate?"},
        BadInput{"OptionOfOneDash", "$D train text.txt --out r -steps 3", 2, "two dashes"},
        BadInput{"OptionTwice", "$D train text.txt --out r --steps 3 --steps 4", 2, "twice"},
        BadInput{"OptionWithoutValue", "$D train text.txt --out r --steps", 2, "--steps needs a value"},
        BadInput{"OptionInPlaceOfAValue", "$D train text.txt --out --resume", 2, "--out needs a value"},
        BadInput{"SwitchWithValue", "$D info run --json=1", 2, "--json takes no value"},
        BadInput{"HugeArgument", "$D info run --steps \"$(head -c 120000 /dev/zero | tr '\\0' a)\"", 2, "no option"},
        BadInput{"HugeCommand", "$D \"$(head -c 120000 /dev/zero | tr '\\0' a)\"", 2, "no command"},
        BadInput{"HugeNumber", "$D train text.txt --out r --steps \"$(head -c 120000 /dev/zero | tr '\\0' 9)\"", 2,
                 "--steps"},
        BadInput{"InvalidUtf8Argument", "$D \"$(printf 'a\\377\\033b')\"", 2, "no command"},
        BadInput{"InvalidUtf8Value", "$D train text.txt --out r --steps \"$(printf '\\377')\"", 2, "--steps"},
        BadInput{"TooManyOperands", "$D info run run2", 2, "no further 'run2'"},
        BadInput{"MissingOperand", "$D info", 2, "needs RUN"}, BadInput{"NoOut", "$D train text.txt", 2, "--out"},
        BadInput{"EmptyText", "$D train '' --out r", 2, "an empty word is no FILE"},
        BadInput{"EmptyRun", "$D info ''", 2, "an empty word is no RUN"},
        BadInput{"VersionAsACommand", "$D version", 2, "dikkat --version"},
        BadInput{"PresetsAsACommand", "$D presets", 2, "dikkat config presets"},
        BadInput{"EmptyOut", "$D train text.txt --out ''", 2, "--out"},
        BadInput{"NoText", "$D train --out r", 2, "nothing to train on"},
        BadInput{"OverrideWithoutResume", "$D train text.txt --out r --override", 2, "--resume"},
        BadInput{"UnknownPreset", "$D train text.txt --out r --preset kucukk", 2, "did you mean kucuk?"},
        BadInput{"UnknownSplit", "$D eval run --split valid", 2, "validation"},
        BadInput{"UnknownCheckpointWord", "$D eval run --checkpoint newest", 2, "latest, best"},
        BadInput{"UnknownLesson", "$D lesson blok", 2, "did you mean dikkat lesson block?"},
        BadInput{"UnknownAction", "$D config shw", 2, "did you mean dikkat config show?"},
        BadInput{"UnknownShell", "$D completions tcsh", 2, "bash, zsh or fish"},
        BadInput{"UnknownFormat", "$D export run --format binary --out f", 2, "text"},
        BadInput{"ImportWithoutLike", "$D import text.txt --out r", 2, "--like"},
        BadInput{"VersionWithMore", "$D --version train", 2, "--version"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Texts, BadInputTest,
    ::testing::Values(BadInput{"Missing", "$D train nothing.txt --out r", 4, "nothing.txt"},
                      BadInput{"Empty", "$D train empty.txt --out r", 3, "empty"},
                      BadInput{"EmptyStandardInput", "$D train - --out r </dev/null", 3, "empty"},
                      BadInput{"OneDistinctCharacter", "$D train one.txt --out r", 3, "one distinct character"},
                      BadInput{"ShorterThanTheContext", "$D train short.txt --out r", 3, "too short"},
                      BadInput{"ValidationPartShorterThanAWindow",
                               "head -n 20 text.txt | $D train - --out r --context 300", 3, "context"},
                      BadInput{"Folder", "$D train . --out r", 3, "folder"},
                      BadInput{"Device", "$D train /dev/zero --out r", 3, "device"},
                      BadInput{"Pipe", "mkfifo pipe; $D train pipe --out r; code=$?; rm pipe; exit $code", 3, "pipe"},
                      BadInput{"Latin1", "$D train latin1.txt --out r", 3, "byte"},
                      BadInput{"Utf16", "$D train utf16.txt --out r", 3, "UTF-16"},
                      BadInput{"EvalOfUnknownCharacters", "$D eval run other.txt", 7,
                               "(other.txt: byte 0); leave them out, or add --skip-unknown"},
                      BadInput{"EvalOfOneToken", "printf d | $D eval run -", 3,
                               "a text of 1 token leaves nothing to predict (standard input); give"},
                      BadInput{"EvalOfNothingKnown", "$D eval run other.txt --skip-unknown", 3,
                               "a text of 0 tokens leaves nothing to predict (other.txt)"},
                      BadInput{"PromptOfUnknownCharacters", "$D generate run --prompt 'da €'", 7,
                               "'€' at line 1, column 4 (--prompt); leave them out, or add --skip-unknown"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Runs, BadInputTest,
    ::testing::Values(
        BadInput{"Missing", "$D info nowhere", 4, "nowhere"}, BadInput{"File", "$D info text.txt", 2, "folder"},
        BadInput{"NotARun", "mkdir d; $D info d; code=$?; rmdir d; exit $code", 3, "not a run"},
        BadInput{"HalfARun", "$D generate half", 3, "restore tokenizer.json"},
        BadInput{"HalfARunResumed", "$D train --out half --resume", 3, "half a run"},
        BadInput{"AnotherVersions", "$D info newer", 7, "version 99"},
        BadInput{"FlippedBits", "$D eval damaged", 3, "none of 2 checkpoints verifies: step-4: content differs"},
        BadInput{"FlippedBitsNamesBoth", "$D eval damaged", 3, "; step-2: content differs"},
        BadInput{"FlippedBitsHasARemedy", "$D eval damaged", 3, "restore a checkpoint from a copy"},
        BadInput{"OneDamagedCheckpoint",
                 "cp -r run r; printf x >>r/step-4/state.json; $D eval r --checkpoint 4; code=$?; rm -r r; exit $code",
                 3, "the checkpoint of step 4 is damaged"},
        BadInput{"OneDamagedCheckpointNamesTheOther",
                 "cp -r run r; printf x >>r/step-4/state.json; $D eval r --checkpoint 4; code=$?; rm -r r; exit $code",
                 3, "use --checkpoint 2"},
        BadInput{"NoCheckpoint", "cp -r run r; rm -r r/step-*; $D eval r; code=$?; rm -r r; exit $code", 4,
                 "there is no checkpoint (r); restore"},
        BadInput{"RecordCutShort",
                 "cp -r run r; head -c 99 run/run.json >r/run.json; $D eval r; code=$?; rm -r r; exit $code", 3,
                 "it was damaged or edited; restore it from a copy"},
        BadInput{"FlippedBitsResumed", "$D train --out damaged --resume", 3, "damaged"},
        BadInput{"NoSuchCheckpoint", "$D eval run --checkpoint 3", 4, "use --checkpoint 2 or 4"},
        BadInput{"ThereAlready", "$D train text.txt --out run", 2, "--resume"},
        BadInput{"AFileInItsPlace", "$D train text.txt --out text.txt", 2,
                 "there is a file of that name already (text.txt); choose another --out\n"},
        BadInput{"AFolderInItsPlace", "mkdir d; touch d/x; $D train text.txt --out d; code=$?; rm -r d; exit $code", 2,
                 "and it is no run (d); choose another --out\n"},
        BadInput{"AnEmptyFolderInItsPlace", "mkdir d; $D train text.txt --out d; code=$?; rmdir d; exit $code", 2,
                 "an empty folder of that name already (d)"},
        BadInput{"AFolderInItsPlacePlanned",
                 "mkdir d; $D train text.txt --dry-run --out d; code=$?; rmdir d; exit $code", 2,
                 "an empty folder of that name already (d)"},
        BadInput{"OutBelowAFile", "$D train text.txt --out text.txt/r", 4, "text.txt"},
        BadInput{"ResumedWithAnotherText", "$D train other.txt --out run --resume", 7, "data"},
        BadInput{"ResumedWithOtherSettings", "$D train --out run --resume --steps 9", 7, "steps (4 then, 9 now)"},
        BadInput{"ResumedWithOtherSettingsPlanned", "$D train --out run --resume --dry-run --steps 9", 7,
                 "steps (4 then, 9 now)"},
        BadInput{"ResumedWithAnotherTextPlanned", "$D train other.txt --out run --resume --dry-run", 7, "data"},
        BadInput{"ResumedWithoutOutPlanned", "$D train --resume --dry-run", 2, "--out"},
        BadInput{"Locked", "exec 9>run/lock; flock 9; $D train --out run --resume --steps 9 --override 9>&-", 8,
                 "process"},
        BadInput{"ExportOverAFile", "$D export run --out text.txt", 2, "overwritten"},
        BadInput{"ExportIntoNoFolder", "$D export run --out no/file", 4, "no"},
        BadInput{"ImportOfOtherShape", "$D import short-weights.txt --like run --out r", 7,
                 "(short-weights.txt: line 1); export it from a run with the same settings, or name another --like"},
        BadInput{"ImportOfNoNumbers", "$D import text.txt --like run --out r", 3,
                 "expected a finite decimal number (text.txt: line 1, column 1); mend it"},
        BadInput{"ImportOfNothing", "$D import nothing.txt --like run --out r", 4, "nothing.txt"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    SettingsFiles, BadInputTest,
    ::testing::Values(
        BadInput{"Missing", "$D train text.txt --out r --config no.toml", 4, "no.toml"},
        BadInput{"UnknownKey", "$D train text.txt --out r --config unknown.toml", 2,
                 "(unknown.toml: line 3, column 1); did you mean width?"},
        BadInput{"WrongType", "$D train text.txt --out r --config type.toml", 2, "(type.toml: line 1, column 1)"},
        BadInput{"KeyTwice", "$D train text.txt --out r --config twice.toml", 2,
                 "for the second time (twice.toml: line 2, column "},
        BadInput{"NestingBomb", "$D config show --config nested.toml", 2, "(nested.toml: line 1, column "},
        BadInput{"Nul", "$D config show --config nul.toml", 2, "(nul.toml: line 1, column "},
        BadInput{"AboveAMegabyte", "$D config show --config big.toml", 2, "1 MB"},
        BadInput{"Folder", "$D config show --config .", 3, "folder"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    System, BadInputTest,
    ::testing::Values(BadInput{"OutputFull", "$D info run >/dev/full", 4, "No space left"},
                      BadInput{"OutputFullForJson", "$D info run --json >/dev/full", 4, "No space left"},
                      BadInput{"OutputFullForHelp", "$D --help >/dev/full", 4, "No space left"},
                      BadInput{"OutputClosed", "$D info run >&-", 4, "standard output"},
                      BadInput{"OutputFullForGenerate", "$D generate run --prompt da --tokens 5 >/dev/full", 4,
                               "No space left"},
                      BadInput{"InputClosed", "$D train - --out r <&-", 4, "standard input"},
                      BadInput{"FileSizeLimit", "ulimit -f 1; $D export run --out f", 4, "File too large"}),
    name_of);

// Where permissions count for nothing (root), another user takes the part of the one who may not.
class PermissionTest : public BadInputTest {
 protected:
  void SetUp() override {
    BadInputTest::SetUp();
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(folder_ / "empty.txt", std::filesystem::perms(0));
    std::filesystem::permissions(folder_ / "half", std::filesystem::perms(0555));
    if (::geteuid() == 0) as_nobody_ = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
    if (shell(as_nobody_ + "sh -c '\"$D\" --version'").code != 0) GTEST_SKIP() << "no other user may run the program";
  }

  std::string as_nobody_;
};

TEST_F(PermissionTest, AnUnreadableTextIsNamed) {
  const Ran ran = shell(as_nobody_ + "$D train empty.txt --out /tmp/never");
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.err, HasSubstr("Permission denied (empty.txt)"));
}

TEST_F(PermissionTest, AFolderThatCannotBeWrittenIsNamed) {
  const auto before = snapshot();
  const Ran ran = shell(as_nobody_ + "$D train text.txt --out half/r --preset kucuk --context 8");
  EXPECT_EQ(ran.code, 4) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("Permission denied"));
  EXPECT_THAT(ran.err, HasSubstr("half"));
  EXPECT_TRUE(before == snapshot());
}

}  // namespace
}  // namespace dikkat::testing
