// `dikkat check`: every planted trouble is found, with place and remedy, and good inputs pass without a word.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "dikkat/base/json.h"
#include "dikkat/random/streams.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;

// Sentences of words drawn at random: `count` lines, of an alphabet.
std::string sentences(std::size_t count, std::uint64_t seed = 1, std::string_view letters = "abcdefgh") {
  const random::Stream stream = random::stream(seed, "sentences");
  std::string text;
  for (std::uint32_t line = 0; line < count; ++line) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      const std::uint64_t at = random::below(stream, {line, i, 0, 0}, letters.size() + 2);
      text += at < letters.size() ? letters[at] : ' ';
    }
    text += '\n';
  }
  return text;
}

std::string with_cr_lf(std::string text, std::size_t lines) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < lines; ++i) {
    at = text.find('\n', at);
    text.insert(at, 1, '\r');
    at += 2;
  }
  return text;
}

std::string changed(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

// `count` series of 12 steps, a wave of one of two lengths with some noise: two classes a model can tell apart.
std::string waves(std::uint32_t count, const std::string& header = "class,h0,h1,h2,h3,h4,h5,h6,h7,h8,h9,h10,h11\n") {
  const random::Stream stream = random::stream(5, "waves");
  std::string text = header;
  for (std::uint32_t row = 0; row < count; ++row) {
    text += row % 2 == 0 ? "slow" : "fast";
    for (std::uint32_t i = 0; i < 12; ++i) {
      const double wave = std::sin(static_cast<double>(i) * (row % 2 == 0 ? 0.5 : 1.5));
      text += ',' + std::to_string(wave + random::uniform(stream, {row, i, 0, 0}));
    }
    text += '\n';
  }
  return text;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

const std::string kSeries =
    " --task classify --validation-share 0.1 --layers 1 --width 16 --heads 2 --context 0 --batch 4 --steps 50";
const std::string kSmall = " --layers 1 --width 16 --heads 2 --context 16 --batch 4 --steps 50";

struct Row {
  std::string severity;
  std::string check;
  std::string what;
  std::string where;
  std::string remedy;
};

std::vector<Row> rows_of(const std::string& out) {
  std::vector<Row> rows;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const Json json = parse_json(line, "out");
    const JsonAt at(json, "out");
    rows.push_back({at["severity"].string(), at["check"].string(), at["what"].string(), at["where"].string(),
                    at["remedy"].string()});
  }
  return rows;
}

struct Planted {
  const char* name;
  std::string content;
  std::string options;  // all of them
  const char* severity;
  const char* check;
  const char* word;  // that the finding says
  int code;
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

class PlantedTroubleTest : public ProgramTest, public ::testing::WithParamInterface<Planted> {};

TEST_P(PlantedTroubleTest, IsFound) {
  const Planted& planted = GetParam();
  write("data", planted.content);
  const auto before = snapshot();
  const Ran ran = shell("\"$D\" check data --json" + planted.options);
  EXPECT_EQ(ran.code, planted.code) << ran.err;
  const std::vector<Row> rows = rows_of(ran.out);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.severity == planted.severity && row.check == planted.check;
  });
  ASSERT_NE(found, rows.end()) << ran.out;
  EXPECT_THAT(found->what, HasSubstr(planted.word));
  EXPECT_FALSE(found->remedy.empty());
  EXPECT_EQ(snapshot(), before);
}

const std::string kText = sentences(300);

INSTANTIATE_TEST_SUITE_P(
    Text, PlantedTroubleTest,
    ::testing::Values(
        Planted{"latin1", "caf\xE9 " + kText, kSmall, "trouble", "encoding", "invalid UTF-8 at line 1, column 4", 3},
        Planted{"utf16", "\xFF\xFE" + kText, kSmall, "trouble", "encoding", "UTF-16", 3},
        Planted{"joined_files", kText + "\xEF\xBB\xBF" + kText.substr(0, 50), kSmall, "warning", "encoding",
                "byte order mark inside", 0},
        Planted{"encoded_twice", "caf\xC3\x83\xC2\xA9\n" + kText, kSmall, "warning", "encoding", "Latin-1", 0},
        Planted{"old_line_ends", changed(kText, '\n', '\r'), kSmall, "warning", "line-ends", "CR alone", 0},
        Planted{"mixed_line_ends", with_cr_lf(kText, 100), kSmall + " --tokenizer byte", "warning", "line-ends",
                "mixed", 0},
        Planted{"short", kText.substr(0, 100), kSmall, "trouble", "size", "too short for a context of 16", 3},
        Planted{"small_validation", kText.substr(0, 1000), kSmall, "warning", "size", "7 windows", 0},
        Planted{"new_characters", kText + sentences(30, 2, "abcdexyz"), kSmall, "warning", "vocabulary",
                "3 tokens stand in the validation part only", 0},
        Planted{"trained_on_validation", kText + kText, kSmall, "trouble", "duplicates", "100.0 %", 3},
        Planted{"no_learning", kText, kSmall + " --learning-rate 1e-9", "trouble", "memorise", "does not learn", 5},
        Planted{"diverging", kText, kSmall + " --optimizer sgd --momentum 0.99 --learning-rate 1e9 --clip 0", "trouble",
                "memorise", " is ", 5},
        Planted{"no_memory", kText, " --width 65536 --heads 1 --layers 1000", "trouble", "memory", "memory", 6},
        Planted{"one_character", std::string(5000, 'a'), kSmall, "trouble", "text", "one distinct character", 3},
        Planted{"empty", "", kSmall, "trouble", "text", "empty", 3}),
    [](const auto& planted) { return planted.param.name; });

const std::string kWaves = waves(120);
const std::string kHalf = kWaves.substr(0, kWaves.find("slow", kWaves.size() / 2));

INSTANTIATE_TEST_SUITE_P(
    Series, PlantedTroubleTest,
    ::testing::Values(
        Planted{"gap", kWaves + "slow,1,,3,4,5,6,7,8,9,10,11,12\n", kSeries, "trouble", "format", "a value is missing",
                3},
        Planted{"ragged", kWaves + "slow,1,2,3\n", kSeries, "trouble", "format", "the row has 4 columns", 3},
        Planted{"one_class", replaced(kWaves, "fast", "slow"), kSeries, "trouble", "labels", "one class only", 3},
        Planted{"lone_class", kWaves + "odd,1,2,3,4,5,6,7,8,9,10,11,12\n", kSeries, "warning", "labels",
                "no series for validation: 'odd'", 0},
        Planted{"uneven", replaced(kWaves, "fast", "slow") + waves(12, ""), kSeries, "warning", "labels",
                "far from even", 0},
        Planted{"known_series", kHalf + kHalf.substr(kHalf.find('\n') + 1), replaced(kSeries, "share 0.1", "share 0.5"),
                "trouble", "duplicates", "in the training part", 3},
        Planted{"constant_channel",
                "id,time,x,y,label\na,1,1,5,u\na,2,2,5,u\nb,1,3,5,v\nb,2,1,5,v\nc,1,2,5,u\nd,1,4,5,v\n", kSeries,
                "warning", "channels", "channel 'y' is constant", 0},
        Planted{"spike", waves(1200) + "fast,1,2,3,4,5,-9999,7,8,9,10,11,12\n", kSeries, "warning", "values",
                "deviations from the mean", 0},
        Planted{"short_context", kWaves, replaced(kSeries, "--context 0", "--context 8"), "trouble", "context",
                "12 steps, the context is 8", 3},
        Planted{"words_as_numbers", kWaves, replaced(kSeries, "classify", "regress"), "trouble", "labels",
                "is not a number", 3}),
    [](const auto& planted) { return planted.param.name; });

class CheckTest : public ProgramTest {
 protected:
  void expect_quiet(const std::string& words) {
    const Ran ran = shell("\"$D\" check " + words + " --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    const bool slow =
        std::getenv("DIKKAT_RANDOM_CASES") != nullptr;  // a sanitizer: the time is up before it has memorised
    for (const Row& row : rows_of(ran.out)) {
      if (slow && row.check == "memorise") continue;
      EXPECT_EQ(row.severity, "fine") << row.check << ": " << row.what;
    }
  }
};

TEST_F(CheckTest, GoodTextsPassWithoutAWord) {
  write("one.txt", kText);
  expect_quiet("one.txt" + kSmall);
  expect_quiet("one.txt" + kSmall + " --tokenizer byte --position rotary --norm rms --activation swiglu");
  write("two.txt", sentences(150, 7, "çığ öşü"));  // bytes, in any order
  expect_quiet("two.txt one.txt" + kSmall + " --tokenizer byte");
}

TEST_F(CheckTest, GoodSeriesPassWithoutAWord) {
  write("waves.csv", kWaves);
  expect_quiet("waves.csv" + kSeries);
  std::string numbers = "y,a,b,c\n";
  for (int i = 1; i <= 60; ++i) {
    numbers += std::to_string(0.37 * i) + "," + std::to_string(i % 7) + "," + std::to_string(i * i % 11) + "," +
               std::to_string(0.5 * i) + "\n";
  }
  write("numbers.csv", numbers);
  expect_quiet("numbers.csv" + replaced(kSeries, "classify", "regress"));
}

TEST_F(CheckTest, SaysEverythingItLookedAt) {
  write("one.txt", kText);
  const Ran ran = shell("\"$D\" check - <one.txt" + kSmall);
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const char* word : {"encoding", "line-ends", "size", "vocabulary", "duplicates", "amount", "memory",
                           "first-loss", "time", "memorise", "gradients", "No troubles, no warnings, no notes in"}) {
    EXPECT_THAT(ran.out, HasSubstr(word));
  }
  EXPECT_THAT(ran.out,
              HasSubstr("that of who knows nothing 2.3026"));  // ln 10: eight letters, the blank, the line's end
}

TEST_F(CheckTest, AsksWhetherATableIsMeantAsAText) {
  write("waves.csv", kWaves);
  const Ran ran = shell("\"$D\" check waves.csv --json" + kSmall);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::vector<Row> rows = rows_of(ran.out);
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    return row.severity == "note" && row.check == "task" && row.where == "waves.csv";
  })) << ran.out;
}

// The data is judged all the same; the model would take minutes.
TEST_F(CheckTest, AModelFarBeyondTheTimeIsNotTried) {
  write("one.txt", kText);
  for (const char* size : {" --width 16 --heads 2 --layers 20000", " --width 16 --heads 1000000 --head-width 1"}) {
    const Ran ran = shell("\"$D\" check one.txt --json --seconds 1 --steps 20 --context 16" + std::string(size));
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::vector<Row> rows = rows_of(ran.out);
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows.back().severity, "note");
    EXPECT_EQ(rows.back().check, "trial");
    EXPECT_THAT(rows.back().remedy, HasSubstr("--seconds"));
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.check == "duplicates"; }));
  }
}

TEST_F(CheckTest, FaultsOfTheCallAreUsage) {
  write("one.txt", kText);
  EXPECT_EQ(shell("\"$D\" check").code, 2);
  EXPECT_EQ(shell("\"$D\" check one.txt --seconds 0").code, 2);
  EXPECT_EQ(shell("\"$D\" check one.txt --wdith 8").code, 2);
  EXPECT_EQ(shell("\"$D\" check one.txt --heads 3").code, 2);
  const Ran missing = shell("\"$D\" check missing.txt");
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.out, HasSubstr("missing.txt"));
}

}  // namespace
}  // namespace dikkat::testing
