// dikkat inspect as its users run it: what it shows and writes is what the forward pass computed, whatever the text.
#include <gmock/gmock.h>
#include <minizip/unzip.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/formats/npy.h"
#include "dikkat/inspect/capture.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/train/loaded_run.h"
#include "program.h"

namespace dikkat::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::map<std::string, std::string> entries_of(const std::filesystem::path& path) {
  std::map<std::string, std::string> entries;
  const unzFile file = unzOpen64(path.c_str());
  EXPECT_NE(file, nullptr) << path;
  for (int code = unzGoToFirstFile(file); code == UNZ_OK; code = unzGoToNextFile(file)) {
    unz_file_info64 information;
    char name[256];
    EXPECT_EQ(unzGetCurrentFileInfo64(file, &information, name, sizeof name, nullptr, 0, nullptr, 0), UNZ_OK);
    EXPECT_EQ(unzOpenCurrentFile(file), UNZ_OK);
    std::string& content = entries[name];
    content.resize(information.uncompressed_size);
    EXPECT_EQ(unzReadCurrentFile(file, content.data(), static_cast<unsigned>(content.size())),
              static_cast<int>(content.size()));
    EXPECT_EQ(unzCloseCurrentFile(file), UNZ_OK) << name;
  }
  unzClose(file);
  return entries;
}

Tensor tensor_in(const std::map<std::string, std::string>& entries, const std::string& name) {
  const std::string& bytes = entries.at(name + ".npy");
  return formats::tensor_of(formats::read_npy(std::as_bytes(std::span(bytes)), name), name);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::equal(a.raw(), a.raw() + a.bytes(), b.raw());
}

class InspectTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    train_small("run");
  }

  Json json_of(const std::string& script) const {
    const Ran ran = shell(script);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return parse_json(ran.out, "standard output");
  }
  // The activations of the run over a text, straight from the library.
  std::vector<formats::NamedTensor> activations(const std::string& text, const std::vector<std::string>& paths) const {
    const train::LoadedRun run = train::load_run(folder_ / "run");
    Pool pool(1);
    inspect::Capture capture(paths);
    inspect::Passes passes(run.model, {pool});
    static_cast<void>(passes.logits(run.tokenizer->encode(text), &capture));
    return capture.kept();
  }
};

const std::vector<Json>& list(const Json& object, std::string_view key) { return object.find(key)->items(); }

TEST_F(InspectTest, ShowsEveryHeadItsFactsAndOneLarge) {
  const Ran ran = shell("\"$D\" inspect run --text \"damlaya\"");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("run, step 4: 1 layers of 2 heads; 7 tokens of --text\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n0.0"));
  EXPECT_THAT(ran.out, HasSubstr(" 0.1\n"));
  EXPECT_THAT(ran.out, HasSubstr("looks mostly at"));
  EXPECT_THAT(ran.out, HasSubstr("\n  d a m l a y a\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b"))) << "no terminal, no colours";
  EXPECT_EQ(shell("\"$D\" inspect run --text damlaya --threads 3").out, ran.out);
}

TEST_F(InspectTest, ColoursAreThoseAskedFor) {
  EXPECT_THAT(shell("\"$D\" inspect run --text damlaya --colors 24bit").out, HasSubstr("\x1b[0;48;2;"));
  EXPECT_THAT(shell("\"$D\" inspect run --text damlaya --colors 256").out, HasSubstr("\x1b[0;48;5;"));
  EXPECT_THAT(shell("TERM=xterm COLORTERM= \"$D\" inspect run --text damlaya --color always").out,
              HasSubstr("\x1b[0;4"));
  EXPECT_THAT(shell("LC_ALL=C.UTF-8 \"$D\" inspect run --text damlaya --colors none").out, HasSubstr("█"));
  EXPECT_THAT(shell("\"$D\" inspect run --text damlaya --color never --colors 16").out, Not(HasSubstr("\x1b")));
}

TEST_F(InspectTest, WithoutATextItTakesTheStartOfTheValidationPart) {
  EXPECT_THAT(shell("\"$D\" inspect run").out, HasSubstr("tokens 0 to 7 of the 208 of the validation part of "));
}

TEST_F(InspectTest, JsonHoldsTokensFactsAndWeights) {
  const Json whole = json_of("\"$D\" inspect run --text 'göl ol' --json");
  std::string text;
  for (const Json& token : list(whole, "tokens")) {
    text += *token.find("text")->as<std::string>();
    EXPECT_FALSE(*token.find("generated")->as<bool>());
  }
  EXPECT_EQ(text, "göl ol");
  const Tensor pattern = activations("göl ol", {"blocks.0.attention.pattern"}).front().value;
  ASSERT_EQ(list(whole, "heads").size(), 2U);
  for (std::size_t h = 0; h < 2; ++h) {
    const std::vector<Json>& rows = list(list(whole, "heads")[h], "weights");
    ASSERT_EQ(rows.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 6; ++j) {
        const double weight = *rows[i].items()[j].as<double>();
        EXPECT_EQ(static_cast<float>(weight), pattern.data<float>()[(i * 2 + h) * 6 + j]);
        EXPECT_TRUE(j <= i || weight == 0.0);
        sum += weight;
      }
      EXPECT_NEAR(sum, 1.0, 1e-6);
    }
  }
}

TEST_F(InspectTest, NpzHoldsTheForwardPassToTheBit) {
  const std::string text = "damla a.";
  EXPECT_THAT(shell("\"$D\" inspect run --text '" + text + "' --npz maps.npz").out, HasSubstr("Wrote maps.npz, 1."));
  const auto maps = entries_of(folder_ / "maps.npz");
  const auto shown = activations(text, {"blocks.0.attention.pattern", "blocks.0.attention.k", "logits"});
  EXPECT_TRUE(same_bits(tensor_in(maps, "blocks.0.attention.pattern"), shown[1].value));
  EXPECT_EQ(maps.size(), 4U);
  EXPECT_EQ(maps.at("texts.npy"),
            formats::npy_text_array(std::vector<std::string>{"d", "a", "m", "l", "a", " ", "a", "."}));

  ASSERT_EQ(shell("\"$D\" inspect run --text '" + text + "' --head 1 --npz one.npz").code, 0);
  const Tensor one = tensor_in(entries_of(folder_ / "one.npz"), "blocks.0.attention.pattern.1");
  EXPECT_TRUE(same_bits(one, shown[1].value.slice(1, 1, 2).clone().reshape({8, 8})));

  ASSERT_EQ(shell("\"$D\" inspect run --text '" + text + "' --path '*.k' --path logits --npz paths.npz").code, 0);
  const auto paths = entries_of(folder_ / "paths.npz");
  EXPECT_EQ(paths.size(), 5U);
  EXPECT_TRUE(same_bits(tensor_in(paths, "blocks.0.attention.k"), shown[0].value));
  EXPECT_TRUE(same_bits(tensor_in(paths, "logits"), shown[2].value));
}

TEST_F(InspectTest, CsvHasALineForEachVisibleKey) {
  ASSERT_EQ(shell("\"$D\" inspect run --text 'da\nm' --csv maps.csv").code, 0);
  const std::string csv = read("maps.csv");
  EXPECT_TRUE(csv.starts_with("layer,head,query,query_token,key,key_token,weight\n0,0,0,\"d\",0,\"d\",1\n")) << csv;
  EXPECT_THAT(csv, HasSubstr("\n0,1,2,\"\n\",1,\"a\","));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), ','), 6 * (1 + 2 * 10)) << "two heads of 1 + 2 + 3 + 4 keys";

  ASSERT_EQ(shell("\"$D\" inspect run --text 'da' --path final_norm --csv values.csv").code, 0);
  const std::string values = read("values.csv");
  EXPECT_TRUE(values.starts_with("path,row,token,index,value\nfinal_norm,0,\"d\",0,")) << values;
  EXPECT_EQ(std::count(values.begin(), values.end(), '\n'), 1 + 2 * 8);
}

TEST_F(InspectTest, ListsAndShowsActivations) {
  const Ran ran = shell("\"$D\" inspect run --list");
  EXPECT_THAT(ran.out, HasSubstr("blocks.0.attention.pattern  (T,2,T)\n"));
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 15);
  EXPECT_EQ(list(json_of("\"$D\" inspect run --list --json"), "activations").size(), 15U);

  const Ran shown = shell("\"$D\" inspect run --text damla --path 'blocks.*.residual_*'");
  EXPECT_THAT(shown.out, HasSubstr("blocks.0.residual_mid"));
  EXPECT_THAT(shown.out, HasSubstr("(5,8)"));
  const Json json = json_of("\"$D\" inspect run --text damla --path logits --json");
  const Json& logits = list(json, "activations").front();
  const Tensor expected = activations("damla", {"logits"}).front().value;
  ASSERT_EQ(list(logits, "values").size(), expected.count());
  double sum = 0;
  for (std::size_t i = 0; i < expected.count(); ++i) {
    EXPECT_EQ(static_cast<float>(*list(logits, "values")[i].as<double>()), expected.data<float>()[i]);
    sum += static_cast<double>(expected.data<float>()[i]);
  }
  EXPECT_NEAR(*logits.find("mean")->as<double>(), sum / static_cast<double>(expected.count()), 1e-12);
}

TEST_F(InspectTest, WhatTheModelWritesIsMarked) {
  const Json json = json_of("\"$D\" inspect run --text dam --generate 4 --seed 7 --json");
  const std::vector<Json>& tokens = list(json, "tokens");
  ASSERT_EQ(tokens.size(), 7U);
  std::string written;
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(*tokens[i].find("generated")->as<bool>(), i >= 3);
    if (i >= 3) written += *tokens[i].find("text")->as<std::string>();
  }
  EXPECT_EQ("dam" + written + "\n", shell("\"$D\" generate run --prompt dam --tokens 4 --seed 7").out);
  const Ran ran = shell("\"$D\" inspect run --text dam --generate 4 --seed 7");
  EXPECT_THAT(ran.out, HasSubstr("then 4 written by the model"));
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '>'), 5) << "four rows and the line that says what it means";
}

TEST_F(InspectTest, LooksAtAPartOfALongText) {
  write("long.txt", std::string(50'000, 'a') + std::string(50'000, 'd'));
  EXPECT_THAT(shell("\"$D\" inspect run --file long.txt --last 3").out,
              HasSubstr("tokens 99,997 to 99,999 of the 100,000 of long.txt"));
  const Json json = json_of("\"$D\" inspect run --file long.txt --from 49998 --length 4 --json");
  std::string text;
  for (const Json& token : list(json, "tokens")) text += *token.find("text")->as<std::string>();
  EXPECT_EQ(text, "aadd");
  EXPECT_EQ(*json.find("first_token")->as<std::uint64_t>(), 49998U);
}

TEST_F(InspectTest, OneTokenLooksAtItself) {
  const Json json = json_of("\"$D\" inspect run --text a --json");
  EXPECT_EQ(text_of(*list(json, "heads")[0].find("weights")), "[[1.0]]");
  EXPECT_EQ(shell("\"$D\" inspect run --text a").code, 0);
}

TEST_F(InspectTest, SkipsUnknownCharactersIfAsked) {
  const Ran ran = shell("\"$D\" inspect run --text 'dQaQ' --skip-unknown");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "dikkat: left out 2 characters that the model has no token for\n");
}

// Tokens that are markup, quotes, line breaks, nothing to see, or written from the right.
TEST_F(InspectTest, HostileTokensStayText) {
  const std::string hostile = "<script>\"'\n\t\u200B\u202Eאב\u0301\x1B";
  std::string text;
  for (int i = 0; i < 60; ++i) text += hostile;
  write("hostile.txt", text);
  write("part.txt", hostile);
  const Ran trained = shell(
      "\"$D\" train hostile.txt --out hostile --preset kucuk --context 20 --width 8 --layers 2 --heads 2 --steps 1");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Ran drawn = shell("\"$D\" inspect hostile --file part.txt --layer 1 --head 0");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_THAT(drawn.out, Not(HasSubstr("\x1B")));
  EXPECT_THAT(drawn.out, Not(HasSubstr("\u202E")));
  EXPECT_THAT(drawn.out, HasSubstr("\nU+202E "));
  EXPECT_THAT(drawn.out, HasSubstr("\n    \\n "));
  EXPECT_THAT(drawn.out, HasSubstr("\n     \u200Eא\u200E "));
  const Json json = json_of("\"$D\" inspect hostile --file part.txt --json");
  std::string tokens;
  for (const Json& token : list(json, "tokens")) tokens += *token.find("text")->as<std::string>();
  EXPECT_EQ(tokens, hostile);
  ASSERT_EQ(shell("\"$D\" inspect hostile --file part.txt --csv hostile.csv --npz hostile.npz").code, 0);
  EXPECT_THAT(read("hostile.csv"), HasSubstr("\n1,1,8,\"\"\"\",0,\"<\","));
}

// Runs that learned series are looked at in the same way: rows are steps.
class InspectSeriesTest : public InspectTest {
 protected:
  void SetUp() override {
    InspectTest::SetUp();
    std::string rows = "label,1,2,3,4,5\n";
    for (int i = 0; i < 12; ++i) {
      const std::string number = std::to_string(i);
      rows += "up,0.5,1,2,3," + number + "\ndown," + number + ",3,2,1,-0.25\n";
    }
    write("series.csv", rows);
    train_series("series", "attention-query");
  }

  void train_series(const std::string& run, const std::string& pooling) const {
    const Ran ran = shell("\"$D\" train series.csv --task classify --out " + run + " --pooling " + pooling +
                          " --width 8 --heads 2 --layers 1 --steps 2");
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
};

TEST_F(InspectSeriesTest, WithoutLayersThereIsNoMapToWrite) {
  const Ran trained =
      shell("\"$D\" train series.csv --task classify --out flat --pooling mean --layers 0 --width 8 --steps 1");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto before = snapshot();
  for (const char* option : {"--npz", "--csv", "--html"}) {
    const Ran ran = shell("\"$D\" inspect flat " + std::string(option) + " maps");
    EXPECT_EQ(ran.code, 7) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("no layers"));
    EXPECT_TRUE(before == snapshot());
  }
}

TEST_F(InspectSeriesTest, ShowsHeadsAndPooling) {
  const Ran ran = shell("\"$D\" inspect series --series 1");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 layers of 2 heads; series 1 ("));
  EXPECT_THAT(ran.out, HasSubstr("looks mostly at"));
  EXPECT_THAT(ran.out, HasSubstr("-0.25"));
  EXPECT_THAT(ran.out, HasSubstr("Pooling: how each head, a row, weighs the steps"));
  EXPECT_THAT(ran.out, HasSubstr("\n1 @"));
  EXPECT_THAT(shell("\"$D\" inspect series --list").out, HasSubstr("pooling.pattern"));
}

TEST_F(InspectSeriesTest, JsonHoldsReadingsWeightsAndPooling) {
  const Json json = json_of("\"$D\" inspect series --series 3 --json");
  EXPECT_EQ(text_of(*json.find("readings")), "[[1.0],[3.0],[2.0],[1.0],[-0.25]]");
  EXPECT_EQ(*json.find("series")->as<std::uint64_t>(), 3U);
  const std::vector<Json>& pooling = list(json, "pooling");
  ASSERT_EQ(pooling.size(), 2U);
  for (const Json& head : pooling) {
    double sum = 0;
    for (const Json& weight : head.items()) sum += *weight.as<double>();
    EXPECT_EQ(head.items().size(), 5U);
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
  ASSERT_EQ(list(json, "heads").size(), 2U);
  EXPECT_EQ(list(list(json, "heads")[1], "weights").size(), 5U);
}

TEST_F(InspectSeriesTest, FilesHoldTheForwardPassToTheBit) {
  ASSERT_EQ(shell("\"$D\" inspect series --npz maps.npz --csv maps.csv").code, 0);
  const auto maps = entries_of(folder_ / "maps.npz");
  const Tensor readings = tensor_in(maps, "readings");
  EXPECT_EQ(readings.shape(), (Shape{5, 1}));
  EXPECT_EQ(readings.data<double>()[0], 0.5);
  ASSERT_EQ(shell("\"$D\" inspect series --path blocks.0.attention.pattern --path pooled --npz paths.npz").code, 0);
  const auto paths = entries_of(folder_ / "paths.npz");
  EXPECT_TRUE(same_bits(tensor_in(maps, "blocks.0.attention.pattern"), tensor_in(paths, "blocks.0.attention.pattern")));
  EXPECT_EQ(tensor_in(paths, "pooled").shape()[0], 1U);
  EXPECT_THAT(read("maps.csv"), HasSubstr("\n0,1,0,\"0.5\",0,\"0.5\","));
  ASSERT_EQ(shell("\"$D\" inspect series --path pooled --csv pooled.csv").code, 0);
  EXPECT_THAT(read("pooled.csv"), HasSubstr("\npooled,0,,0,")) << "a row that is no step";
}

TEST_F(InspectSeriesTest, AClassTokenHasARowOfItsOwn) {
  train_series("token", "class-token");
  const Ran ran = shell("\"$D\" inspect token --columns 120");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\n[class] "));
  EXPECT_EQ(list(list(json_of("\"$D\" inspect token --json"), "heads")[0], "weights").size(), 6U);
}

TEST_F(InspectSeriesTest, OptionsOfTheOtherKindAreRefused) {
  const auto refusal = [&](const std::string& words) {
    const Ran ran = shell("\"$D\" inspect " + words);
    EXPECT_EQ(ran.code, 2) << words;
    return ran.err;
  };
  EXPECT_THAT(refusal("series --text damla"),
              HasSubstr("--text is for runs that learned a text; this one learned series"));
  EXPECT_THAT(refusal("series --generate 2"), HasSubstr("--generate"));
  EXPECT_THAT(refusal("run --series 2"), HasSubstr("--series is for runs that learned series"));
  EXPECT_THAT(refusal("series --series 24"), HasSubstr("give 0 to 23"));
  EXPECT_THAT(refusal("series --layer 1"), HasSubstr("it has one, layer 0"));
}

struct BadInspect {
  const char* name;
  const char* script;
  int code;
  const char* word;
};
void PrintTo(const BadInspect& input, std::ostream* out) { *out << input.script; }

class BadInspectTest : public InspectTest, public ::testing::WithParamInterface<BadInspect> {};

TEST_P(BadInspectTest, IsRefusedClearlyAndChangesNothing) {
  write("empty.txt", "");
  write("long.txt", std::string(100'000, 'a'));
  write("other.txt", "damla\ndamQa");
  write("there.npz", "old");
  const auto before = snapshot();
  const Ran ran = shell(GetParam().script);
  EXPECT_EQ(ran.code, GetParam().code) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(GetParam().word));
  EXPECT_TRUE(ran.err.starts_with("dikkat: error: ")) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(before == snapshot()) << "something was written or changed";
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadInspectTest,
    ::testing::Values(
        BadInspect{"Empty", "$D inspect run --text ''", 2, "the text is empty"},
        BadInspect{"EmptyFile", "$D inspect run --file empty.txt", 3, "empty"},
        BadInspect{"NoFile", "$D inspect run --file none.txt", 4, "none.txt"},
        BadInspect{"TwoTexts", "$D inspect run --file text.txt --text a", 2, "two texts"},
        BadInspect{"TooLong", "$D inspect run --file long.txt", 7,
                   "the text has 100,000 tokens, the model sees 8 at once; choose a part of it: --last 8, or --from N"},
        BadInspect{"TooLongByOne", "$D inspect run --text damlayada", 7, "the text has 9 tokens"},
        BadInspect{"UnknownCharacter", "$D inspect run --text 'daQ'", 7, "'Q' at line 1, column 3"},
        BadInspect{"UnknownInAFile", "$D inspect run --file other.txt --last 2", 7, "line 2, column 4"},
        BadInspect{"NothingKnown", "$D inspect run --text QQ --skip-unknown", 2, "nothing is left"},
        BadInspect{"LastZero", "$D inspect run --last 0", 2, "give --last at least 1"},
        BadInspect{"LengthZero", "$D inspect run --length 0", 2, "give --length at least 1"},
        BadInspect{"SeedOfNothing", "$D inspect run --seed 3", 2, "give --generate N too"},
        BadInspect{"TemperatureOfNothing", "$D inspect run --temperature 2", 2, "give --generate N too"},
        BadInspect{"LastBeyondTheContext", "$D inspect run --last 9", 2, "give --last at most 8"},
        BadInspect{"FromBeyondTheText", "$D inspect run --text dam --from 3", 2, "give --from at most 2"},
        BadInspect{"GenerateBeyondTheContext", "$D inspect run --generate 8", 2, "give --generate at most 7"},
        BadInspect{"GenerateAndTextBeyondTheContext", "$D inspect run --text damla --generate 4", 7,
                   "the text has 5 tokens, the model sees 4"},
        BadInspect{"GenerateZero", "$D inspect run --generate 0", 2, "--generate"},
        BadInspect{"Temperature", "$D inspect run --generate 1 --temperature -1", 2, "temperature"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Names, BadInspectTest,
    ::testing::Values(
        BadInspect{"Layer", "$D inspect run --layer 1", 2, "the model has no layer 1 (--layer); it has one, layer 0"},
        BadInspect{"Head", "$D inspect run --head 2", 2, "they are 0 to 1; the nearest is 1"},
        BadInspect{"HeadMinusOne", "$D inspect run --head -1", 2, "--head"},
        BadInspect{"Path", "$D inspect run --path blocks.0.residual_middle", 2, "did you mean blocks.0.residual_mid?"},
        BadInspect{"PathOfAnotherLayer", "$D inspect run --path blocks.3.attention.pattern", 2,
                   "did you mean blocks.0.attention.pattern?"},
        BadInspect{"PathOfNothing", "$D inspect run --path '*weights*'", 2, "--list"},
        BadInspect{"NpzThere", "$D inspect run --npz there.npz", 2, "nothing is overwritten"},
        BadInspect{"NpzInNoFolder", "$D inspect run --npz none/maps.npz", 4, "none/maps.npz"},
        BadInspect{"NpzWithoutName", "$D inspect run --npz ''", 2, "needs the name of a file"},
        BadInspect{"NpzToStandardOutput", "$D inspect run --npz -", 2, "needs the name of a file"},
        BadInspect{"CsvToStandardOutput", "$D inspect run --csv -", 2, "needs the name of a file"},
        BadInspect{"HtmlToStandardOutput", "$D inspect run --html -", 2, "needs the name of a file"},
        BadInspect{"TwoFilesOfOneName", "$D inspect run --npz a --csv a", 2, "name of its own"},
        BadInspect{"Colors", "$D inspect run --colors 17", 2, "--colors"},
        BadInspect{"Columns", "$D inspect run --columns 5", 2, "from 20 to 10000"},
        BadInspect{"NoRun", "$D inspect nowhere", 4, "nowhere"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace dikkat::testing
