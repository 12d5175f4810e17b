// `dikkat verdict` on tables of runs.
#include <gmock/gmock.h>

#include "dikkat/base/json.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class VerdictTest : public ProgramTest {
 protected:
  // Student's sleep data (1908): hours gained by two drugs, ten sleepers.
  void SetUp() override {
    ProgramTest::SetUp();
    write("a.csv", "seed,score\n1,0.7\n2,-1.6\n3,-0.2\n4,-1.2\n5,-0.1\n6,3.4\n7,3.7\n8,0.8\n9,0.0\n10,2.0\n");
    write("b.csv", "10,3.4\n9,4.6\n8,1.6\n7,5.5\n6,4.4\n5,-0.1\n4,0.1\n3,1.1\n2,0.8\n1,1.9\n");
  }
  std::string field(const std::string& arguments, std::string_view key) const {
    const Ran ran = shell("\"$D\" verdict " + arguments + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    const Json json = parse_json(ran.out, "stdout");
    const Json* value = json.find(key);
    return value == nullptr ? "" : text_of(*value);
  }
};

TEST_F(VerdictTest, PairsBySeedWhateverTheOrder) {
  EXPECT_EQ(field("a.csv b.csv --smallest-difference 0.1", "verdict"), "\"better\"");
  EXPECT_EQ(field("b.csv a.csv --smallest-difference 0.1", "verdict"), "\"worse\"");
  EXPECT_EQ(field("a.csv b.csv --smallest-difference 0.1 --lower-is-better", "verdict"), "\"worse\"");
  EXPECT_EQ(field("a.csv b.csv --smallest-difference 4", "verdict"), "\"no difference that matters\"");
  EXPECT_EQ(field("a.csv a.csv --smallest-difference 4", "verdict"), "\"same computation\"");
  EXPECT_EQ(field("a.csv b.csv --smallest-difference 0.1", "pairs"), "10");
  const Ran shown = shell("\"$D\" verdict a.csv b.csv --smallest-difference 0.1");
  EXPECT_THAT(shown.out, StartsWith("better: b.csv is ahead of a.csv by 1.58 on average"));
  EXPECT_THAT(shown.out, HasSubstr("●"));
}

TEST_F(VerdictTest, RunsThatDoNotPairAllowOneLook) {
  write("c.csv", "11,3.4\n12,4.6\n13,1.6\n14,5.5\n15,4.4\n16,-0.1\n17,0.1\n");
  const Ran refused = shell("\"$D\" verdict a.csv c.csv --smallest-difference 1");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--looks once"));
  EXPECT_EQ(field("a.csv c.csv --smallest-difference 1 --looks once", "paired"), "false");
  EXPECT_EQ(field("a.csv c.csv --smallest-difference 1 --looks once", "verdict"), "\"undecided\"");
}

TEST_F(VerdictTest, NinePairsAreTooFew) {
  const std::string nine = "grep -v '^9,' b.csv > nine.csv; ";
  const Ran ran = shell(nine + "\"$D\" verdict a.csv nine.csv --smallest-difference 0.1 --json");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("\"verdict\":\"too few pairs\""));
  EXPECT_THAT(ran.out, HasSubstr("\"interval\":null"));
}

TEST_F(VerdictTest, RefusesWhatItCannotAnswer) {
  EXPECT_EQ(shell("\"$D\" verdict a.csv b.csv").code, 2);
  EXPECT_EQ(shell("\"$D\" verdict a.csv b.csv --smallest-difference 0").code, 2);
  EXPECT_EQ(shell("\"$D\" verdict a.csv b.csv --smallest-difference -1").code, 2);
  EXPECT_EQ(shell("\"$D\" verdict a.csv b.csv --smallest-difference 1 --looks twice").code, 2);
  EXPECT_EQ(shell("\"$D\" verdict a.csv --smallest-difference 1").code, 2);
  EXPECT_EQ(shell("\"$D\" verdict a.csv missing.csv --smallest-difference 1").code, 4);
  EXPECT_EQ(shell("printf '1,2\\n1,3\\n' > d.csv; \"$D\" verdict a.csv d.csv --smallest-difference 1").code, 3);
}

}  // namespace
}  // namespace dikkat::testing
