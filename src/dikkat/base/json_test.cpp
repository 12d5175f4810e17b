#include "dikkat/base/json.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "dikkat/base/testing.h"

namespace dikkat {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

enum class Light : std::uint8_t { red, blue };

}  // namespace

template <>
struct EnumNames<Light> {
  static constexpr std::array<std::pair<Light, std::string_view>, 2> names{
      {{Light::red, "red"}, {Light::blue, "blue"}}};
};

namespace {

struct Example {
  std::size_t layers = 4;
  double rate = 0.1;
  bool tied = true;
  std::string name = "a";
  Light colour = Light::red;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layers", self.layers, "number of layers");
    visit("rate", self.rate, "rate");
    visit("tied", self.tied, "tied or not");
    visit("name", self.name, "name");
    visit("colour", self.colour, "colour");
  }
  friend bool operator==(const Example&, const Example&) = default;
};

Json parsed(std::string_view text) { return parse_json(text, "f.json"); }

Error refusal_of(std::string_view text) {
  return error_of([&] { static_cast<void>(parsed(text)); });
}

TEST(Json, KeepsEveryKindThroughTextAndBack) {
  const std::string text =
      R"({"null":null,"yes":true,"count":18446744073709551615,"negative":-9223372036854775808,"real":0.1,)"
      R"("whole real":1.0,"list":[1,[],{}],"text":"ş\"\\\n\u0001"})";
  EXPECT_EQ(text_of(parsed(text)), text);
}

TEST(Json, IndentedLayoutHasOneMemberALine) {
  Json json = Json::object();
  json.set("b", 1U).set("a", Json::object().set("x", Json::array().push(1.5).push("t")));
  EXPECT_EQ(text_of(json, JsonLayout::indented), "{\n  \"b\": 1,\n  \"a\": {\n    \"x\": [1.5, \"t\"]\n  }\n}\n");
  EXPECT_EQ(text_of(Json::object(), JsonLayout::indented), "{}\n");
}

TEST(Json, RealsComeBackToTheBit) {
  for (const double value : {0.1, -0.0, 1.0, 1e22, 5e-324, 1.7976931348623157e308, 2.0 / 3.0, 9007199254740993.0}) {
    const Json back = parsed(text_of(Json(value)));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(JsonAt(back, "").real()), std::bit_cast<std::uint64_t>(value)) << value;
  }
}

TEST(Json, HasNoWordForNonFiniteNumbers) {
  EXPECT_EQ(error_of([] { static_cast<void>(Json(std::numeric_limits<double>::quiet_NaN())); }).kind(),
            ErrorKind::internal);
}

TEST(Json, BytesThatAreNotUtf8AreWrittenAsReplacement) {
  std::string out;
  append_json_string("a\xC0\xAFz\xED\xA0\x80", out);
  EXPECT_EQ(out, "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Json, WhatSteersATerminalIsEscaped) {
  std::string out;
  append_json_string(
      "\x7F\xC2\x80\xC2\x9F\xC2\xA0\xE2\x80\xA9\xE2\x80\xAA\xE2\x80\xAE\xE2\x80\xAF\xE2\x81\xA6\xE2\x81\xA9\xE2\x81"
      "\xAA",
      out);
  EXPECT_EQ(out, "\"\\u007f\\u0080\\u009f\xC2\xA0\xE2\x80\xA9\\u202a\\u202e\xE2\x80\xAF\\u2066\\u2069\xE2\x81\xAA\"");
  EXPECT_EQ(text_of(parsed(out)), out);
  EXPECT_EQ(label_of("a\xE2\x80\xAE"), "a\\xe2\\x80\\xae");
}

TEST(Json, KnowsUtf8) {
  EXPECT_TRUE(is_utf8("a\xC5\x9F\xE2\x82\xAC\xF0\x9F\x98\x80\xED\x9F\xBF\xF4\x8F\xBF\xBF"));
  for (const std::string_view broken :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC5", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(is_utf8(broken));
  }
}

TEST(Json, LabelsAreShortAndHarmless) {
  EXPECT_EQ(label_of("blocks.0\x1b[31m\n\xFFş"), "blocks.0\\x1b[31m\\x0a\\xffş");
  EXPECT_EQ(label_of("\xC2\x9B"
                     "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(label_of(std::string(1000, 'a')), std::string(80, 'a') + "...");
}

struct Refused {
  const char* text;
  std::size_t offset;
  const char* rule;
};

TEST(JsonReader, RefusesWhatIsNotStrictWithItsByte) {
  const std::vector<Refused> table{
      {"", 0, "it ends too early"},
      {"{", 1, "it ends too early"},
      {"{\"a\":1,}", 7, "a name in quotes is missing"},
      {"{\"a\" 1}", 5, "the colon after a name is missing"},
      {"{\"a\":1 \"b\":2}", 9, "a comma or a closing brace is missing"},
      {"{\"a\":}", 5, "a value is missing"},
      {"{\"a\":1} x", 8, "something stands after its end"},
      {"{} {}", 3, "something stands after its end"},
      {"[1,2", 4, "it ends too early"},
      {"[01]", 2, "a comma or a closing bracket is missing"},
      {"[+1]", 1, "none of true, false and null"},
      {"[.5]", 1, "none of true, false and null"},
      {"[1.]", 3, "a number that is not written as JSON's are"},
      {"[0x10]", 2, "none of true, false and null"},
      {"[NaN]", 1, "none of true, false and null"},
      {"[Infinity]", 1, "none of true, false and null"},
      {"{'a':1}", 1, "a name in quotes is missing"},
      {"[1] // c", 4, "something stands after its end"},
      {"[1e999]", 5, "beyond the range"},
      {"[\"\xC0\xAF\"]", 2, "a text that is not UTF-8"},
      {"[\"\xED\xA0\x80\"]", 3, "a text that is not UTF-8"},
      {"[\"\\ud800\"]", 8, "an escape in a text that JSON does not know"},
      {"[\"a\nb\"]", 3, "a control character in a text"},
      {"[\"a", 3, "a text without its closing quote"},
      {"\xEF\xBB\xBF{}", 0, "byte order mark"},
      {"{\"a\":1,\"b\":2,\"a\":3}", 16, "duplicate key 'a'"},
      {"{\"a\":1,\"\\u0061\":2}", 15, "duplicate key 'a'"},
      {"[{\"x\":{\"a\":1,\"a\":2}}]", 16, "duplicate key 'a'"},
  };
  for (const Refused& row : table) {
    SCOPED_TRACE(row.text);
    const Error error = refusal_of(row.text);
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.place().file, "f.json");
    EXPECT_EQ(error.place().offset, row.offset);
    EXPECT_THAT(error.message(), HasSubstr(row.rule));
  }
}

TEST(JsonReader, NulIsNoEndOfTheText) {
  const Error error = refusal_of(std::string_view("{}\0garbage", 10));
  EXPECT_EQ(error.place().offset, 2U);
  EXPECT_THAT(error.message(), HasSubstr("NUL"));
}

TEST(JsonReader, SameKeyInSiblingObjectsIsFine) {
  EXPECT_EQ(text_of(parsed(R"([{"a":1},{"a":2},{"a":{"a":3}}])")), R"([{"a":1},{"a":2},{"a":{"a":3}}])");
}

TEST(JsonReader, DepthLimitHoldsBeforeTheStackDoes) {
  EXPECT_NO_THROW(static_cast<void>(parsed(std::string(64, '[') + std::string(64, ']'))));
  EXPECT_THAT(refusal_of(std::string(65, '[') + std::string(65, ']')).message(), HasSubstr("deeper than 64"));
  EXPECT_EQ(refusal_of(std::string(100000, '[')).place().offset, 65U);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_EQ(refusal_of(objects).kind(), ErrorKind::malformed);
}

TEST(JsonReader, LimitsOfSizeMembersAndValues) {
  const auto refused = [](std::string_view text, const JsonLimits& limits) {
    return error_of([&] { static_cast<void>(parse_json(text, "f", limits)); }).message();
  };
  EXPECT_THAT(refused("[1,2,3]", {.bytes = 6}), HasSubstr("7 bytes; the limit is 6"));
  EXPECT_THAT(refused(R"({"a":1,"b":1,"c":1})", {.members = 2}), HasSubstr("more than 2 keys"));
  EXPECT_THAT(refused("[1,2,3]", {.values = 3}), HasSubstr("more than 3 values"));
  EXPECT_NO_THROW(static_cast<void>(parse_json("[1,2,3]", "f", {.values = 4})));
}

TEST(JsonReader, OverlongRunsAreRefusedButNotBlanksAtTheEndOrText) {
  const std::size_t more = (std::size_t{1} << 20U) + 10;
  EXPECT_THAT(refusal_of("[" + std::string(more, ' ') + "]").message(), HasSubstr("overlong"));
  EXPECT_THAT(refusal_of("[" + std::string(more, '1') + "]").message(), HasSubstr("overlong"));
  EXPECT_THAT(refusal_of("[\"\\\"\", " + std::string(more, '1') + "]").message(), HasSubstr("overlong"));
  EXPECT_NO_THROW(static_cast<void>(parsed("[]" + std::string(more, ' '))));
  EXPECT_NO_THROW(static_cast<void>(parsed("[\"\\\"" + std::string(more, '1') + "\"]")));
}

TEST(JsonReader, MessagesDoNotQuoteTheFile) {
  const Error error = refusal_of("[" + std::string(1000000, '#') + "]");
  EXPECT_LT(std::string_view(error.what()).size(), 200U);
}

TEST(JsonAt, CountsAreExact) {
  const Json json =
      parsed(R"({"one":1,"real":1.0,"power":1e3,"minus":-1,"zero":-0,"text":"1","big":18446744073709551616})");
  const JsonAt root(json, "f.json");
  EXPECT_EQ(root["one"].count(), 1U);
  for (const char* key : {"real", "power", "minus", "zero", "text", "big"}) {
    const Error error = error_of([&] { static_cast<void>(root[key].count()); });
    EXPECT_EQ(error.kind(), ErrorKind::malformed) << key;
    EXPECT_EQ(error.place().key, key);
  }
  EXPECT_EQ(root["minus"].integer(), -1);
  EXPECT_EQ(root["one"].integer(), 1);
  EXPECT_EQ(root["one"].real(), 1.0);
  EXPECT_TRUE(std::signbit(root["zero"].real()));
}

TEST(JsonAt, NamesThePathOfWhatIsWrong) {
  const Json json = parsed(R"({"model":{"width":32,"list":[1,"x"]}})");
  const JsonAt root(json, "run.json");
  const Error missing = error_of([&] { static_cast<void>(root["model"]["height"]); });
  EXPECT_EQ(missing.place().key, "model");
  EXPECT_EQ(missing.message(), "'height' is missing");
  const Error wrong = error_of([&] { static_cast<void>(root["model"]["list"].items()[1].count()); });
  EXPECT_EQ(wrong.place().key, "model.list[1]");
  EXPECT_EQ(wrong.message(), "expected a whole number >= 0, got text");
  EXPECT_EQ(std::string(error_of([&] { static_cast<void>(root.count()); }).what()),
            "expected a whole number >= 0, got an object (run.json: top level)");
}

TEST(JsonFields, SettingsComeBackEqual) {
  const Example example{.layers = 7, .rate = 0.3, .tied = false, .name = "b", .colour = Light::blue};
  const Json json = parsed(text_of(to_json(example)));
  EXPECT_EQ(text_of(json), R"({"layers":7,"rate":0.3,"tied":false,"name":"b","colour":"blue"})");
  EXPECT_EQ(from_json<Example>(JsonAt(json, "f")), example);
}

TEST(JsonFields, RefusesUnknownMissingAndWrong) {
  const auto refused = [](std::string_view text) {
    const Json json = parsed(text);
    return std::string(error_of([&] { static_cast<void>(from_json<Example>(JsonAt(json, "f", "model"))); }).what());
  };
  EXPECT_EQ(refused(R"({"layers":7,"rate":0.3,"tied":false,"name":"b","color":"blue"})"),
            "unknown key 'color' (f: model); did you mean 'colour'?");
  EXPECT_EQ(refused(R"({"layers":7,"rate":0.3,"tied":false,"name":"b"})"), "'colour' is missing (f: model)");
  EXPECT_EQ(refused(R"({"layers":7,"rate":0.3,"tied":false,"name":"b","colour":"green"})"),
            "'green' is not one of red, blue (f: model.colour)");
  EXPECT_EQ(refused(R"({"layers":7.0,"rate":0.3,"tied":false,"name":"b","colour":"red"})"),
            "expected a whole number >= 0, got a number with point or exponent (f: model.layers)");
}

TEST(JsonFields, DifferencesNameBothSides) {
  const Example ours{.layers = 7, .colour = Light::blue};
  const auto differing = differences(ours, Example{});
  ASSERT_EQ(differing.size(), 2U);
  EXPECT_THAT((std::vector{differing[0].name, differing[0].ours, differing[0].theirs}),
              ElementsAre("layers", "7", "4"));
  EXPECT_THAT((std::vector{differing[1].name, differing[1].ours, differing[1].theirs}),
              ElementsAre("colour", "\"blue\"", "\"red\""));
  EXPECT_TRUE(differences(ours, ours).empty());
}

}  // namespace
}  // namespace dikkat
