// dikkat attend and dikkat lesson self-attention as their users run them.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string golden(const std::string& name) {
  return read_small_file(DIKKAT_SOURCE_DIR "/tests/golden/" + name, 1U << 20U);
}

class AttendTest : public ProgramTest {
 protected:
  Json json_of(const std::string& script) const {
    const Ran ran = shell(script + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return parse_json(ran.out, script);
  }
};

TEST_F(AttendTest, LessonPrintsThePublishedBytesOfFourSeeds) {
  EXPECT_EQ(shell("$D lesson self-attention --as-published").out, golden("self_attention_published.out"));
  const Json more = parse_json(golden("self_attention_more.json"), "more");
  for (const JsonAt& run : JsonAt(more, "more")["seeds"].items()) {
    EXPECT_EQ(shell("$D lesson self-attention --as-published --seed " + run["seed"].string()).out,
              run["stdout"].string());
  }
}

TEST_F(AttendTest, LessonShowsWhatAnOptionChanges) {
  const std::string plain = shell("$D lesson self-attention").out;
  EXPECT_THAT(plain, Not(HasSubstr("What you changed")));
  EXPECT_THAT(shell("$D lesson self-attention --seed 7").out,
              HasSubstr("seed 42 -> 7\n   The weights of step 5 moved by"));
  EXPECT_THAT(shell("$D lesson self-attention --mask causal").out, HasSubstr("mask none -> causal"));
  EXPECT_THAT(shell("$D lesson self-attention --heads 4").out, HasSubstr("head 3\n"));
  EXPECT_THAT(shell("$D lesson self-attention --d-model 16 --dk 8").out,
              HasSubstr("The 0.176 0.299 0.127 0.120 0.142 0.136"));
  EXPECT_THAT(shell("$D lesson self-attention --sentence 'Time flies'").out, HasSubstr("2 x 2 weights now"));
  const Json json = json_of("$D lesson self-attention --sentence 'Time flies' --second 'a b' --seed 3");
  EXPECT_EQ(JsonAt(json, "it")["base"]["tokens"].items()[1].string(), "flies");
  EXPECT_EQ(JsonAt(json, "it")["base"]["seed"].count(), 3U);
  EXPECT_EQ(JsonAt(json, "it")["two_sentences"]["B"]["weights"].items().size(), 2U);
}

TEST_F(AttendTest, LessonRefusesWhatItCannotShow) {
  const auto expect_refusal = [&](const std::string& options, const std::string& words) {
    const Ran ran = shell("$D lesson self-attention " + options);
    EXPECT_EQ(ran.code, 2) << options;
    EXPECT_THAT(ran.err, HasSubstr(words));
    EXPECT_EQ(ran.out, "");
  };
  expect_refusal("--seed -1", "a whole number >= 0");
  expect_refusal("--seed 1.5", "a whole number >= 0");
  expect_refusal("--heads 3", "3 heads do not divide the width 8");
  expect_refusal("--sentence ' '", "no words");
  expect_refusal("--sentence '1 2 3 4 5 6 7 8 9 a b c d e f g h'", "17 words");
  expect_refusal("--mask windowed", "none, causal");
  expect_refusal("--dk 0", "--dk takes");
  expect_refusal("--as-published --heads 4", "--heads changes nothing");
}

TEST_F(AttendTest, AnySentenceHasItsTableAndItsMap) {
  const Ran ran = shell("$D attend 'The cat sat on the mat'");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("Random projections (seed 1): words 16 wide, mean of 2 heads, each 8 wide; no mask."));
  EXPECT_THAT(ran.out, HasSubstr("       The   cat   sat    on   the   mat\n"));
  EXPECT_THAT(ran.out, HasSubstr("0.00  .:-=+*#%@ "));
}

TEST_F(AttendTest, RowsOfExactWeightsSumToOneUnderEveryMask) {
  for (const std::string mask : {"", "--mask causal", "--mask window", "--window 3", "--mask causal --window 2"}) {
    const Json json = json_of("$D attend 'a b c d e a' --heads 3 --head-width 5 --seed 9 " + mask);
    const auto rows = JsonAt(json, mask)["sentences"].items()[0]["weights"].items();
    ASSERT_EQ(rows.size(), 6U);
    for (std::size_t r = 0; r < 6; ++r) {
      double sum = 0;
      for (const JsonAt& weight : rows[r].items()) sum += weight.real();
      EXPECT_NEAR(sum, 1.0, 1e-14);
      if (mask.find("causal") != std::string::npos && r < 5) {
        EXPECT_EQ(rows[r].items()[5].real(), 0.0);
      }
    }
    if (mask == "--mask window") {
      EXPECT_EQ(rows[0].items()[2].real(), 0.0);
    }
    if (mask == "--window 3") {
      EXPECT_GT(rows[0].items()[2].real(), 0.0);
    }
    if (mask == "--mask causal --window 2") {
      EXPECT_EQ(rows[5].items()[3].real(), 0.0);
    }
  }
}

TEST_F(AttendTest, TwoSentencesHaveTheirDifference) {
  const Json json = json_of("$D attend 'The cat sat' 'The dog sat'");
  const JsonAt at(json, "it");
  const auto first = at["sentences"].items()[0]["weights"].items();
  const auto second = at["sentences"].items()[1]["weights"].items();
  const auto difference = at["difference"]["weights"].items();
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(difference[r].items()[c].real(), second[r].items()[c].real() - first[r].items()[c].real());
    }
  }
  EXPECT_THAT(shell("$D attend 'The cat sat' 'The dog sat'").out, HasSubstr("The second minus the first:"));
  EXPECT_THAT(shell("$D attend 'The cat sat' 'dogs'").out, HasSubstr("the first has 3 tokens, the second 1"));
  EXPECT_FALSE(JsonAt(json_of("$D attend 'a b' 'c'"), "it").has("difference"));
}

TEST_F(AttendTest, ATrainedModelShowsItsHeads) {
  train_small("run");
  const Json mean = json_of("$D attend 'dam' --model run");
  const Json head = json_of("$D attend 'dam' --model run --layer 0 --head 0");
  const JsonAt at(head, "head");
  EXPECT_EQ(at["head"].count(), 0U);
  EXPECT_TRUE(JsonAt(mean, "mean")["head"].is_null());
  const auto rows = at["sentences"].items()[0]["weights"].items();
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      sum += rows[r].items()[c].real();
      if (c > r) {
        EXPECT_EQ(rows[r].items()[c].real(), 0.0);
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
  EXPECT_THAT(shell("$D attend 'dam' --model run").out, HasSubstr("layer 0 of "));
}

TEST_F(AttendTest, BadInputIsRefusedInOneLine) {
  train_small("run");
  struct Case {
    const char* script;
    int code;
    const char* words;
  };
  const Case cases[] = {
      {"$D attend", 2, "SENTENCE"},
      {"$D attend ''", 2, "an empty word"},
      {"$D attend ' '", 2, "no words"},
      {"$D attend a b c", 2, "takes no further 'c'"},
      {"yes word | head -n 100000 | $D attend -", 6, "100000 words"},
      {"$D attend - - < text.txt", 2, "once only"},
      {"printf 'a \\347ok' | $D attend -", 3, "invalid UTF-8"},
      {"head -c 2000000 /dev/zero | tr '\\0' a | $D attend -", 6, "1"},
      {"$D attend a --heads 0", 2, "--heads"},
      {"$D attend a --heads 100 --head-width 100", 6, "10000 wide together"},
      {"$D attend a --head 2", 2, "did you mean --head 1?"},
      {"$D attend a --window 0", 2, "--window"},
      {"$D attend a --mask none --window 2", 2, "contradict"},
      {"$D attend a --layer 0", 2, "--model RUN"},
      {"$D attend a --model run --seed 2", 2, "--seed is for random projections"},
      {"$D attend a --model run --layer 99", 2, "there is no layer 99"},
      {"$D attend a --model run --head 99", 2, "there is no head 99"},
      {"$D attend a --model nowhere", 4, "nowhere"},
      {"$D attend '\u05E9' --model run", 7, "--skip-unknown"},
      {"$D attend '\u05E9' --model run --skip-unknown", 2, "no tokens"},
      {"head -c 100000 /dev/zero | tr '\\0' a | $D attend - --model run", 6, "100000 tokens"},
  };
  for (const Case& one : cases) {
    const Ran ran = shell(one.script);
    EXPECT_EQ(ran.code, one.code) << one.script << ": " << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(one.words)) << one.script;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << one.script;
    EXPECT_EQ(ran.out, "") << one.script;
  }
}

TEST_F(AttendTest, HostileTokensAreShownHarmless) {
  const Ran ran =
      shell("$D attend '<script>alert(1)</script> \"q\" it'\\''s \u200B \u05E9\u05DC\u05D5\u05DD' --color never");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("<script>"));
  EXPECT_THAT(ran.out, HasSubstr("U+200B"));
  EXPECT_EQ(shell("printf 'a \\033[2J\\001 b' | $D attend - --color never").out.find('\x1B'), std::string::npos);
  EXPECT_EQ(shell("$D attend one").code, 0);
}

TEST_F(AttendTest, ALongSentenceIsCutWithNotice) {
  const Ran ran = shell("seq 1000 | $D attend -");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("48 of 1000 rows"));
}

}  // namespace
}  // namespace dikkat::testing
