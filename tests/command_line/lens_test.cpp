// dikkat lens and dikkat patch as people call them.
#include <gmock/gmock.h>

#include "dikkat/base/json.h"
#include "lines.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LensProgramTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    train_small("run");
  }
  Json json(const std::string& script) const {
    const Ran ran = shell(script + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return parse_json(ran.out, "output");
  }
  static JsonAt at(const Json& json) { return JsonAt(json, "output"); }
};

TEST_F(LensProgramTest, ShowsEachPointAtEachPosition) {
  const Ran ran = shell("$D lens run --text \"damlaya\" --all-points");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("position        embedding    0.attention  0.mlp\n     0  d       "));
  EXPECT_THAT(ran.out, HasSubstr("stopped after       loss    best guess is true   median rank\nembedding"));
  const Json seen = json("$D lens run --text \"damlaya\"");
  ASSERT_EQ(at(seen)["points"].items().size(), 3U);
  EXPECT_EQ(at(seen)["points"].items()[2]["path"].string(), "blocks.0.residual_post");
  EXPECT_EQ(at(seen)["points"].items()[0]["positions"].items().size(), 7U);
  EXPECT_TRUE(at(seen)["points"].items()[0]["positions"].items()[6]["rank"].is_null());
}

TEST_F(LensProgramTest, WritesATable) {
  EXPECT_EQ(shell("$D lens run --text 'a,\n' --skip-unknown --csv lens.csv").code, 0);
  EXPECT_EQ(shell("$D lens run --text a --csv lens.csv").code, 2) << "nothing is overwritten";
  const std::string table = read("lens.csv");
  EXPECT_THAT(table, StartsWith("position,token,next,point,path,top,top_probability,rank,probability,loss_nats\n"
                                "0,\"a\",\"\n\",\"embedding\",blocks.0.residual_pre,"));
}

TEST_F(LensProgramTest, MeasuresLossesOverWindows) {
  const Ran ran = shell("$D lens run --windows 20");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(flat(ran.out), HasSubstr("mean of 20 windows of 8 tokens"));
  EXPECT_THAT(flat(ran.out), HasSubstr("text.txt, which the model did not learn from; 95 % interval."));
  EXPECT_THAT(flat(ran.out), HasSubstr("Only 20 windows"));
  EXPECT_THAT(flat(ran.out), HasSubstr("all of the text is measured, what the model learned from included"));
  EXPECT_LE(widest(ran.out), 80U) << ran.out;
  const Json seen = json("$D lens run --windows 20");
  EXPECT_EQ(at(seen)["points"].items()[2]["losses_nats"].items().size(), 20U);
  const Ran both = shell("$D lens run --windows 20 --text damlaya");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--text is for one text"));
}

TEST_F(LensProgramTest, SaysWhatABidirectionalModelsLossesAreWorth) {
  EXPECT_EQ(shell("$D train text.txt --out both --context 8 --width 8 --layers 1 --heads 2 --steps 1 --direction "
                  "bidirectional --placement post")
                .code,
            0);
  const Ran ran = shell("$D lens both --text damlaya");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("looks both ways"));
  EXPECT_THAT(ran.out, HasSubstr("norms stand after its sublayers"));
}

TEST_F(LensProgramTest, PatchesTheStreamRowByRow) {
  const Ran ran = shell("$D patch run --into damlaya --from damlama");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("What is said after token 6:"));
  EXPECT_THAT(ran.out, HasSubstr("position  into      from        blocks.0.residual_post\n"
                                 "0         d         d                             same\n"));
  // Only its last row reaches the output after the last block.
  EXPECT_THAT(ran.out, HasSubstr("\n6         a         a                            100 %\n"));
  const Json seen = json("$D patch run --into damlaya --from damlama --heads all --rows all --target m --other y");
  EXPECT_EQ(at(seen)["patches"].items().size(), 2U);
  EXPECT_EQ(at(seen)["target"].string(), "m");
  EXPECT_TRUE(at(seen)["patches"].items()[0]["row"].is_null());
}

TEST_F(LensProgramTest, PatchingStacksPartsThatDoNotFitBesideEachOther) {
  const Ran ran = shell("$D patch run --into damlaya --from damlama --rows 6 --paths all");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_LE(widest(ran.out), 80U) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr(" embedding"));
  EXPECT_THAT(ran.out, HasSubstr(" final_norm"));
}

TEST_F(LensProgramTest, PatchingShowsNoShareWhereThereIsNoGap) {
  // What a model that looks back says after the fifth token knows nothing of the sixth.
  const Ran equal = shell("$D patch run --into damlaya --from damlama --read 4");
  EXPECT_EQ(equal.code, 0) << equal.err;
  EXPECT_THAT(flat(equal.out), HasSubstr("The texts' outputs do not differ"));
  EXPECT_THAT(equal.out, Not(HasSubstr(" %\n")));
  std::size_t near = 0;
  for (const char* target : {"a", "m", "l", "r", "k", "n"}) {
    const std::string script = std::string("$D patch run --into damlaya --from damlama --other e --target ") + target;
    const bool nearly = at(json(script))["nearly_equal"].boolean();
    near += nearly ? 1U : 0U;
    const std::string out = shell(script).out;
    EXPECT_THAT(flat(out), nearly ? HasSubstr("a share of the way between them would say nothing")
                                  : HasSubstr("Share of the way from one difference"));
    if (nearly) {
      EXPECT_THAT(out, Not(HasSubstr(" %\n")));
    }
  }
  EXPECT_GT(near, 0U);
}

TEST_F(LensProgramTest, RefusesTextsThatDoNotFit) {
  const auto refusal = [&](const std::string& words) {
    const Ran ran = shell("$D " + words);
    EXPECT_NE(ran.code, 0);
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_THAT(refusal("patch run --into damla --from damlama"), HasSubstr("of 5 and 7 tokens"));
  EXPECT_THAT(refusal("patch run --into damlaya"), HasSubstr("--from"));
  EXPECT_THAT(refusal("patch run --into '' --from ''"), HasSubstr("the text is empty"));
  EXPECT_THAT(refusal("patch run --into damlay日 --from damlama"), HasSubstr("unknown"));
  EXPECT_THAT(refusal("patch run --into damlayada --from damlayama"), HasSubstr("the model sees 8 at once"));
  EXPECT_THAT(refusal("patch run --into damlaya --from damlama --target al"), HasSubstr("one token"));
  EXPECT_THAT(refusal("patch run --into damlaya --from damlama --rows 7"), HasSubstr("the last is 6"));
  EXPECT_THAT(refusal("patch run --into damlaya --from damlama --read 7"), HasSubstr("no row 7"));
  EXPECT_THAT(refusal("patch run --into damlaya --from damlama --paths logit"), HasSubstr("did you mean logits?"));
  EXPECT_THAT(refusal("lens run --text ''"), HasSubstr("empty"));
  EXPECT_THAT(refusal("lens run --text 日"), HasSubstr("--skip-unknown"));
  EXPECT_THAT(refusal("lens run --text 'damlaya damlaya göl'"), HasSubstr("the model sees 8 at once"));
}

}  // namespace
}  // namespace dikkat::testing
