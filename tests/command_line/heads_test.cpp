// dikkat heads as people call it.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>

#include "dikkat/base/json.h"
#include "dikkat/random/streams.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HeadsTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    train_small("run");  // one layer of two heads, context 8
  }
  // Standard output of a call that goes well.
  [[nodiscard]] std::string heads(const std::string& arguments) const {
    const Ran ran = shell("$D heads " + arguments);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  }
  [[nodiscard]] Json heads_json(const std::string& arguments) const {
    return parse_json(heads(arguments + " --json"), "output");
  }
  void expect_refused(const std::string& arguments, int code, const std::string& word) const {
    const Ran ran = shell("$D heads " + arguments);
    EXPECT_EQ(ran.code, code) << arguments << ": " << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(word)) << arguments;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  [[nodiscard]] std::filesystem::path kept_null() const {
    return std::filesystem::directory_iterator(folder_ / "run" / "head-nulls")->path();
  }
};

// As one line: where it breaks hangs on the names of the folders.
std::string flat(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\n') {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

// The object without the member that says whether the null was there already.
std::string without_cached(const std::string& json) {
  std::string text = json;
  for (const std::string word : {"\"cached\":true", "\"cached\":false"}) {
    if (const auto at = text.find(word); at != std::string::npos) text.erase(at, word.size());
  }
  return text;
}

TEST_F(HeadsTest, SaysWhatItLookedAtAndWhatTheMarksMean) {
  const std::string text = heads("run --draws 199");
  const std::string out = flat(text);
  EXPECT_THAT(out, HasSubstr("run, step 4: 1 x 2 heads on 50 windows of 8 tokens of /"));
  EXPECT_THAT(out, HasSubstr("chance: 199 untrained models of this shape, 50 of the windows"));
  EXPECT_THAT(out, HasSubstr("uniform"));
  EXPECT_THAT(text, HasSubstr("  head 1"));
  EXPECT_THAT(out, HasSubstr("counts among all 10 scores together"));
  EXPECT_THAT(out, HasSubstr("95 % over windows"));
}

TEST_F(HeadsTest, FitsTheLinesOfATerminal) {
  for (const std::string look : {"", " --layer 0"}) {
    std::istringstream lines(heads("run --draws 199" + look));
    for (std::string line; std::getline(lines, line);) {
      if (line.find(folder_.path().string()) != std::string::npos) continue;  // a name stays whole
      EXPECT_LE(line.size(), 80U) << line;
    }
  }
}

TEST_F(HeadsTest, KeepsTheNullAndDoesNotDependOnIt) {
  const std::string first = heads("run --draws 19 --json");
  EXPECT_THAT(first, HasSubstr("\"cached\":false"));
  const std::string second = heads("run --draws 19 --json");
  EXPECT_THAT(second, HasSubstr("\"cached\":true"));
  EXPECT_EQ(without_cached(first), without_cached(second));
  EXPECT_THAT(flat(heads("run --draws 19")), HasSubstr("kept from an earlier look"));
  EXPECT_THAT(heads("run --draws 20 --json"), HasSubstr("\"cached\":false"));
}

TEST_F(HeadsTest, MakesADamagedNullAnewAndSaysSo) {
  const std::string first = heads("run --draws 19 --json");
  const std::string name = std::filesystem::relative(kept_null(), folder_.path()).string();
  const std::string good = read(name);
  std::string bad = good;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
  write(name, bad);
  const Ran ran = shell("$D heads run --draws 19 --json");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("is damaged"));
  EXPECT_EQ(ran.out, first);
  EXPECT_EQ(read(name), good);
}

TEST_F(HeadsTest, GoesOnWhereTheNullCannotBeKept) {
  write("run/head-nulls", "a file in the way");
  const Ran ran = shell("$D heads run --draws 19");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("are not kept"));
  EXPECT_THAT(ran.out, HasSubstr("head 0"));
}

TEST_F(HeadsTest, GivesTheSameNumbersOnAnyThreads) {
  const std::string one = heads("run --draws 19 --threads 1 --json");
  std::filesystem::remove_all(folder_ / "run" / "head-nulls");
  EXPECT_EQ(heads("run --draws 19 --threads 3 --json"), one);
}

TEST_F(HeadsTest, JsonAndCsvHoldEveryNumber) {
  const Json json = heads_json("run --draws 19 --csv heads.csv");
  ASSERT_EQ(json.find("heads")->items().size(), 2U);
  const Json& head = json.find("heads")->items()[1];
  for (const char* score : {"centre", "spread", "entropy", "separation", "self", "previous-token", "first-token",
                            "induction", "same-character", "distance"}) {
    const Json* found = head.find("scores")->find(score);
    ASSERT_NE(found, nullptr) << score;
    for (const char* key : {"value", "interval", "uniform", "null_mean", "null_deviation", "tested", "z", "raw_p",
                            "adjusted_p", "finding"}) {
      EXPECT_NE(found->find(key), nullptr) << score << " " << key;
    }
  }
  EXPECT_EQ(head.find("profile")->items().size(), 5U);  // 0, 1, 2, 3-4, 5-7
  const std::string csv = read("heads.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * (10 + 5));
  for (std::size_t begin = 0; begin < csv.size();) {
    const std::size_t end = csv.find('\n', begin);
    EXPECT_EQ(std::count(csv.begin() + static_cast<std::ptrdiff_t>(begin),
                         csv.begin() + static_cast<std::ptrdiff_t>(end), ','),
              16)
        << csv.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST_F(HeadsTest, WritesNoTableOverWhatIsThere) {
  const std::string kept = read("run/run.json");
  expect_refused("run --csv run/run.json", 2, "nothing is overwritten");
  expect_refused("nowhere --csv run/run.json", 2, "choose another --csv");  // before anything else is done
  EXPECT_EQ(read("run/run.json"), kept);
  expect_refused("run --csv /dev/full", 2, "nothing is overwritten");
  expect_refused("run --csv run", 2, "nothing is overwritten");
  std::filesystem::create_symlink("nothing", folder_ / "dangling");
  expect_refused("run --csv dangling", 2, "nothing is overwritten");
  expect_refused("run --csv ''", 2, "--csv");
  expect_refused("run --csv -", 2, "the name of a file");
  expect_refused("run --csv none/heads.csv", 4, "none/heads.csv");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run" / "head-nulls")) << "refused before computing";
}

TEST_F(HeadsTest, SaysWhichTableItWrote) {
  EXPECT_THAT(heads("run --draws 19 --csv heads.csv"), ::testing::StartsWith("Wrote heads.csv, "));
  const std::string table = read("heads.csv");
  EXPECT_EQ(*heads_json("run --draws 19 --csv again.csv").find("csv")->as<std::string>(), "again.csv");
  EXPECT_EQ(read("again.csv"), table);
  // A run that cannot be read leaves no table behind, and no part of one.
  expect_refused("nowhere --csv other.csv", 4, "nowhere");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("other.csv")));
  }
}

TEST_F(HeadsTest, StopsWhenInterrupted) {
  const Ran ran = shell("$D heads run --draws 300000 >out.txt & sleep 1; kill -TERM $!; wait $!");
  EXPECT_EQ(ran.code, 143) << ran.err;
  EXPECT_EQ(read("out.txt"), "");
  EXPECT_THAT(ran.err, ::testing::StartsWith("dikkat: 300,000 untrained models on 50 windows: about "));
  EXPECT_THAT(ran.err, HasSubstr(", once; --draws 199 is enough for p of 0.005\n"));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 2) << ran.err;  // and that it is stopping
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run" / "head-nulls"));
}

// 4,000 windows of a longer context: scoring them, and any single draw, takes long enough to be caught amid.
TEST_F(HeadsTest, StopsAmidADraw) {
  std::string text;
  for (std::uint32_t i = 0; i < 300000; ++i) {
    text += "adeghklmy "[random::below(random::stream(1, "long text"), {i, 0, 0, 0}, 10)];
  }
  write("long.txt", text);
  const std::string shape = " --preset kucuk --context 64 --width 32 --layers 2 --heads 4 --steps 1 --out long";
  ASSERT_EQ(shell("$D train long.txt" + shape).code, 0);
  const Ran ran = shell(
      "$D heads long --split all --windows 4000 --null-windows 4000 & sleep 2; kill -TERM $!; s=$(date +%s%N); "
      "wait $!; code=$?; echo $((($(date +%s%N) - s) / 1000000)); exit $code");
  EXPECT_EQ(ran.code, 143) << ran.err;
  EXPECT_LT(std::stoi(ran.out), 1500) << "milliseconds after the signal";
}

TEST_F(HeadsTest, ShowsOneHeadWhole) {
  const std::string out = heads("run --draws 19 --layer 0 --head 1");
  EXPECT_THAT(out, HasSubstr("layer 0 head 1"));
  EXPECT_THAT(out, HasSubstr("raw p"));
  EXPECT_THAT(out, HasSubstr("3 to 4 back"));
  EXPECT_THAT(out, Not(HasSubstr("head 0")));
}

TEST_F(HeadsTest, SaysWhatFewDrawsAndFewWindowsCannotSay) {
  EXPECT_THAT(flat(heads("run --draws 19")), HasSubstr("to speak of all 10 scores together takes --draws 199"));
  const std::string few = flat(heads("run --draws 199 --windows 12"));
  EXPECT_THAT(few, HasSubstr("No ranges: they need 50 windows, here are 12; ask for more with --windows"));
  write("brief.txt", "damlaya damlaya göl olur.");
  EXPECT_THAT(flat(heads("run --draws 199 --file brief.txt")), HasSubstr("here are 3; give a longer text"));
}

TEST_F(HeadsTest, ShufflesOnlyATextWhoseOrderMeansNothing) {
  expect_refused("run --shuffled", 7, "the order of this text tells something");
  const std::string letters = "adeghk";
  std::string dice;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    dice += letters[random::below(random::stream(1, "dice"), {i, 0, 0, 0}, letters.size())];
  }
  for (char& letter : dice) letter = letter == 'h' ? 'l' : letter == 'k' ? 'y' : letter;
  write("dice.txt", dice);
  const std::string out = flat(heads("run --shuffled --draws 199 --file dice.txt"));
  EXPECT_THAT(out, HasSubstr("199 other orders of the same tokens"));
  EXPECT_THAT(out, HasSubstr("counts among all 9 scores together")) << "induction has random tokens of its own";
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run" / "head-nulls"));
}

TEST_F(HeadsTest, LooksBothWaysAndAtASingleHead) {
  const std::string train = "$D train text.txt --preset kucuk --context 8 --width 8 --layers 1 --steps 1 --out ";
  ASSERT_EQ(shell(train + "both --heads 2 --direction bidirectional").code, 0);
  EXPECT_THAT(heads("both --draws 19 --layer 0"), HasSubstr("3 to 4 ahead"));
  ASSERT_EQ(shell(train + "one --heads 1").code, 0);
  const std::string one = heads("one --draws 199");
  EXPECT_THAT(one, HasSubstr("counts among all 9 scores together"));
  EXPECT_THAT(one, Not(HasSubstr("separ.")));
}

TEST_F(HeadsTest, RefusesWhatCannotBeLookedAt) {
  expect_refused("nowhere", 4, "nowhere");
  expect_refused("run --draws 18", 2, "at least 19");
  expect_refused("run --draws 1e3", 2, "--draws");
  expect_refused("run --draws 18446744073709551615", 6, "give --draws at most");
  expect_refused("run --windows 0", 2, "--windows");
  expect_refused("run --windows 5 --null-windows 6", 2, "--null-windows");
  expect_refused("run --length 1", 2, "from 2 to the model's context, 8");
  expect_refused("run --length 9", 2, "from 2 to the model's context, 8");
  expect_refused("run --layer 1", 2, "--layer");
  expect_refused("run --head 2", 2, "--head");
  expect_refused("run --split half", 2, "--split");
  write("tiny.txt", "damla");
  expect_refused("run --file tiny.txt", 3, "--length at most 4");
  write("empty.txt", "");
  expect_refused("run --file empty.txt", 3, "empty.txt");
  write("foreign.txt", "damlaya 漢字 damlaya göl olur");
  expect_refused("run --file foreign.txt", 7, "--skip-unknown");
  const Ran skipping = shell("$D heads run --file foreign.txt --skip-unknown --draws 19");
  EXPECT_EQ(skipping.code, 0);
  EXPECT_EQ(skipping.err, "dikkat: left out 2 characters that the model has no token for\n");
  expect_refused("run --file missing.txt", 4, "missing.txt");
  ASSERT_EQ(
      shell("$D train text.txt --preset kucuk --context 1 --width 8 --layers 1 --heads 2 --steps 1 --out blind").code,
      0);
  expect_refused("blind", 7, "one token at a time");
}

}  // namespace
}  // namespace dikkat::testing
