// dikkat ablate as people call it: the table, what it says of parts that change nothing, the pruned run, bad input.
#include <gmock/gmock.h>

#include "dikkat/base/json.h"
#include "lines.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AblateTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    train_small("run");  // 1 layer of 2 heads, width 8, context 8
  }
  Json json(const std::string& script) const {
    const Ran ran = shell(script + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return parse_json(ran.out, "output");
  }
  static JsonAt at(const Json& json) { return JsonAt(json, "output"); }
};

TEST_F(AblateTest, ShowsEveryHeadByEverySubstitute) {
  const Ran ran = shell("$D ablate run");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(flat(ran.out), AllOf(HasSubstr("windows of 8 tokens of the validation part of "),
                                   HasSubstr("text.txt, which the model did not learn from; 95 %")));
  EXPECT_THAT(flat(ran.out), HasSubstr("other windows of the training part"));
  EXPECT_THAT(flat(ran.out), HasSubstr("corrected over 6 tests here (Holm)"));
  EXPECT_THAT(ran.out, HasSubstr("part      zero                mean                resample\nhead 0.0  "));
  EXPECT_THAT(ran.out, HasSubstr("\nhead 0.1  "));
}

TEST_F(AblateTest, SaysTheSameWithAnyNumberOfThreadsAndKernels) {
  const std::string all = " ablate run --blocks all --residuals all --positions --heads all --pairs --json";
  const Ran one = shell("$D" + all + " --threads 1");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(shell("$D" + all + " --threads 3").out, one.out);
  EXPECT_EQ(shell("$D" + all + " --kernels check").out, one.out);
  EXPECT_NE(shell("$D" + all + " --seed 1").out, one.out);
}

TEST_F(AblateTest, KeepsAModelThatIsWhatZeroMeasured) {
  const Json ablation = json("$D ablate run --heads 0.1 --blocks 0.mlp --by zero --together --keep pruned");
  EXPECT_EQ(shell("$D info pruned").code, 0);
  EXPECT_EQ(at(ablation)["kept"]["run"].string(), "pruned");
  EXPECT_GT(at(ablation)["kept"]["weights_made_zero"].count(), 0U);
  ASSERT_EQ(at(ablation)["kept"]["may_grow"].items().size(), 1U);
  EXPECT_THAT(at(ablation)["kept"]["may_grow"].items()[0].string(), HasSubstr("block 0.mlp: its bias has a gradient"));
  // Its own loss, window by window, is the whole model's plus the difference of all together.
  const Json after = json("$D ablate pruned --heads 0.0 --by zero");
  const std::vector<JsonAt> effects = at(ablation)["effects"].items();
  const std::vector<JsonAt> differences = effects.back()["differences_nats"].items();
  const std::vector<JsonAt> before = at(ablation)["losses_nats"].items();
  const std::vector<JsonAt> now = at(after)["losses_nats"].items();
  ASSERT_EQ(now.size(), differences.size());
  for (std::size_t w = 0; w < now.size(); ++w) EXPECT_EQ(now[w].real() - before[w].real(), differences[w].real());
}

TEST_F(AblateTest, APrunedRunGeneratesIsMeasuredAndTrainedOnAndStaysPruned) {
  EXPECT_EQ(shell("$D ablate run --heads 0.1 --keep pruned").code, 0);
  EXPECT_EQ(shell("$D eval pruned").code, 0);
  EXPECT_EQ(shell("$D generate pruned --tokens 5").code, 0);
  const std::string before = shell("$D info pruned --json").out;
  const Ran trained = shell("$D train --out pruned --resume");
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(shell("$D info pruned --json").out, before);
  const Ran again = shell("$D ablate pruned --heads all");
  EXPECT_THAT(again.out, HasSubstr("head 0.1  changed nothing"));
  EXPECT_THAT(again.out, HasSubstr("head 0.1 by zero, mean, resample: nothing changed"));
  EXPECT_THAT(flat(again.out), HasSubstr("corrected over 3 tests"));
}

TEST_F(AblateTest, ATextOfFewWindowsIsMeasuredAndSaidToBe) {
  write("short.txt", "damlaya damlaya göl olur. acele işe şeytan karışır. damlaya damlaya göl");
  const Ran ran = shell("$D ablate run --heads 0.0 --file short.txt");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(flat(ran.out), HasSubstr("mean of 4 windows of 8 tokens of short.txt; 95 %"));
  EXPECT_THAT(flat(ran.out), HasSubstr("4 other windows of the same text"));
  EXPECT_THAT(flat(ran.out), HasSubstr("Only 4 windows: intervals from fewer than 50"));
  EXPECT_THAT(flat(ran.out), HasSubstr("A longer text gives more too."));
  write("longer.txt", std::string(130, 'a') + "\n");
  EXPECT_THAT(shell("$D ablate run --heads 0.0 --by zero --file longer.txt").out, HasSubstr("--length 2 gives 50"));
}

TEST_F(AblateTest, NamesPartsAsTheOptionsTakeThemAndStaysWithinTheTerminal) {
  const Ran ran = shell("$D ablate run --heads 0.1 --blocks 0,0.mlp,0.attention --residuals 0.mlp --pairs --windows 8");
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* line : {"\nhead 0.1  ", "\nblock 0  ", "\nblock 0.mlp  ", "\nblock 0.attention  ",
                           "\nresidual 0.mlp  ", "\nhead 0.1 + residual 0.mlp  "}) {
    EXPECT_THAT(ran.out, HasSubstr(line));
  }
  const Ran single = shell("$D ablate run --blocks all --residuals 0.mlp");
  EXPECT_LE(widest(single.out.substr(0, single.out.find("Only "))), 80U) << single.out;
}

TEST_F(AblateTest, OfTheRunsOwnTextSaysHowToMeasureMoreOfIt) {
  const std::string out = flat(shell("$D ablate run --heads 0.0 --by zero --length 2 --windows 8").out);
  EXPECT_THAT(out, HasSubstr("give more --windows."));
  const std::string all = flat(shell("$D ablate run --heads 0.0 --by zero --file text.txt").out);
  EXPECT_THAT(all, HasSubstr("100 windows of 8 tokens of text.txt; 95 %"));
}

struct BadAblation {
  const char* name;
  const char* words;
  int code;
  const char* line;
};
void PrintTo(const BadAblation& bad, std::ostream* out) { *out << bad.words; }

class BadAblationTest : public AblateTest, public ::testing::WithParamInterface<BadAblation> {};

TEST_P(BadAblationTest, IsRefusedWithTheNearestAndNothingIsWritten) {
  write("unknown.txt", "damlaya 日 göl olur. acele işe şeytan");
  write("tiny.txt", "göl");
  const auto before = snapshot();
  const Ran ran = shell(std::string("$D ablate run ") + GetParam().words);
  EXPECT_EQ(ran.code, GetParam().code) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(GetParam().line));
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(snapshot() == before);
}

INSTANTIATE_TEST_SUITE_P(
    Words, BadAblationTest,
    ::testing::Values(BadAblation{"Head", "--heads 0.2", 2,
                                  "its heads are 0.0 to 0.1 (1 layer of 2 heads) (--heads); did you mean 0.1?"},
                      BadAblation{"HeadWord", "--heads first", 2, "write a head as layer.head"},
                      BadAblation{"EmptyWord", "--heads 0.0,,0.1", 2, "something between its commas"},
                      BadAblation{"Block", "--blocks 1", 2, "its only block is 0"},
                      BadAblation{"Side", "--blocks 0.mpl", 2, "did you mean 0.mlp?"},
                      BadAblation{"Residual", "--residuals 1.mlp", 2, "did you mean 0.mlp?"},
                      BadAblation{"Path", "--paths blocks.0.residual_mdi", 2, "did you mean blocks.0.residual_mid?"},
                      BadAblation{"By", "--by meen", 2, "did you mean mean?"},
                      BadAblation{"At", "--at 8", 2, "the last is 7"},
                      BadAblation{"AtBackwards", "--at 5-2", 2, "write it like 2-5"},
                      BadAblation{"Length", "--length 9", 2, "take at most 8"},
                      BadAblation{"WindowsZero", "--windows 0", 2, "--windows"},
                      BadAblation{"KeepThere", "--keep run", 2, "choose another name for --keep"},
                      BadAblation{"KeepAt", "--at 3 --keep new", 2, "weights act at every position"},
                      BadAblation{"KeepSkip", "--residuals all --keep new", 2,
                                  "no weights carry 'residual 0.attention'"},
                      BadAblation{"NoFile", "--file nothing.txt", 4, "nothing.txt"},
                      BadAblation{"TinyFile", "--file tiny.txt", 3, "take windows of at most 2"},
                      BadAblation{"UnknownCharacter", "--file unknown.txt", 7, "--skip-unknown"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace dikkat::testing
