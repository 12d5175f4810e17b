// dikkat order as people call it, on texts and on series.
#include <gmock/gmock.h>

#include "dikkat/base/json.h"
#include "lines.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;

class OrderProgramTest : public ProgramTest {
 protected:
  Json json(const std::string& script) const {
    const Ran ran = shell(script + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return parse_json(ran.out, "output");
  }
  static JsonAt at(const Json& json) { return JsonAt(json, "output"); }
  // Rising and falling series of two channels, the second of which counts the steps.
  void write_series() const {
    std::string rows = "id,time,reading,step,label\n";
    for (int i = 0; i < 60; ++i) {
      for (int t = 0; t < 6; ++t) {
        const int reading = (i % 2 == 0 ? t : 5 - t) * 10 + i % 7;
        rows += std::to_string(i) + ',' + std::to_string(t) + ',' + std::to_string(reading) + ',' + std::to_string(t) +
                (i % 2 == 0 ? ",up\n" : ",down\n");
      }
    }
    write("series.csv", rows);
  }
};

TEST_F(OrderProgramTest, MeasuresHowFarTheOutputMoves) {
  train_small("run");
  const Ran ran = shell("$D order run");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(flat(ran.out), HasSubstr("windows of 8 tokens of the validation part of "));
  EXPECT_THAT(ran.out, HasSubstr("Distance of the two distributions: "));
  const Json seen = json("$D order run text.txt --windows 60");
  EXPECT_EQ(at(seen)["windows"].count(), 60U);
  EXPECT_FALSE(at(seen)["blind_by_make"].boolean());
  EXPECT_EQ(shell("$D order run --threads 3").out, ran.out);
  write("abc.txt", "göl");
  const Ran few = shell("$D order run abc.txt");
  EXPECT_EQ(few.code, 3);
  EXPECT_THAT(few.err, HasSubstr("too short"));
  EXPECT_THAT(shell("$D order run --stay reading").err, HasSubstr("a text has no channels"));
}

TEST_F(OrderProgramTest, AModelThatCannotTellMovesByRounding) {
  ASSERT_EQ(
      shell("$D train text.txt --out blind --context 8 --width 8 --layers 1 --heads 2 --steps 2 --position none").code,
      0);
  EXPECT_THAT(shell("$D order blind").out, HasSubstr("By its make this model cannot tell orders apart"));
}

TEST_F(OrderProgramTest, SeriesWithoutBlocksAndPositionsMoveByNotOneBit) {
  write_series();
  const std::string train =
      "$D train series.csv --task classify --validation-share 0.1 --steps 20 --batch 8 --width 8 --heads 2 ";
  const Ran trained = shell(train + "--layers 0 --position none --pooling attention-query --out blind");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Ran ran = shell("$D order blind series.csv");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(flat(ran.out), HasSubstr("mean of 60 series of series.csv"));
  EXPECT_THAT(ran.out, HasSubstr("not one bit moved"));
  EXPECT_THAT(ran.out, HasSubstr("not moved at all: 60"));
  const Json stays = json("$D order blind series.csv --stay step");
  EXPECT_FALSE(at(stays)["blind_by_make"].boolean());
  EXPECT_EQ(at(stays)["not_moved"].count(), 0U);
  EXPECT_THAT(shell("$D order blind").out, HasSubstr("Only 6 series"));
  EXPECT_THAT(shell("$D order blind series.csv --stay zzzzzz").err, HasSubstr("its channels are reading, step"));
  EXPECT_THAT(shell("$D order blind series.csv --stay stpe").err, HasSubstr("did you mean step?"));
  EXPECT_THAT(shell("$D order blind --windows 5").err, HasSubstr("the run learned series"));
  for (const char* command : {"ablate", "lens"}) {
    EXPECT_THAT(shell(std::string("$D ") + command + " blind").err,
                HasSubstr("dikkat inspect and dikkat order take series too"));
  }
}

// Where nothing can be exchanged, nothing is said of the model.
TEST_F(OrderProgramTest, NothingToExchangeIsRefused) {
  ASSERT_EQ(shell("$D train text.txt --out two --context 2 --width 8 --layers 1 --heads 2 --steps 2 --warmup 0").code,
            0);
  const Ran two = shell("$D order two");
  EXPECT_EQ(two.code, 7);
  EXPECT_THAT(two.err, HasSubstr("a context of 2 has no order to change"));
  ASSERT_EQ(shell("$D train text.txt --out eight --context 8 --width 8 --layers 1 --heads 2 --steps 2 --warmup 0").code,
            0);
  const Ran same = shell("printf aaaaaaaaaaaaaaaaaaaa >same.txt; $D order eight same.txt");
  EXPECT_EQ(same.code, 3);
  EXPECT_THAT(same.err, HasSubstr("one token over and over"));
}

}  // namespace
}  // namespace dikkat::testing
