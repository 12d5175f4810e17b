#include "dikkat/text/tokenizer.h"

#include <gmock/gmock.h>

#include "dikkat/base/testing.h"
#include "dikkat/text/utf8.h"

namespace dikkat::text {
namespace {

using dikkat::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::string_view_literals::operator""sv;

using Tokens = std::vector<Token>;

std::string every_byte() {
  std::string bytes;
  for (int b = 0; b < 256; ++b) bytes += static_cast<char>(b);
  return bytes;
}

TEST(CharacterTokenizer, NumbersTheDistinctCodePointsInOrder) {
  const auto tokenizer = character_tokenizer("göl ağı\n");
  // U+000A, U+0020, a, g, l, ö (F6), ğ (11F), ı (131)
  EXPECT_EQ(tokenizer->vocabulary(), 8U);
  EXPECT_THAT(tokenizer->encode("göl ağı\n"), ElementsAre(3, 5, 4, 1, 2, 6, 7, 0));
  EXPECT_EQ(tokenizer->bytes_of(0), "\n");
  EXPECT_EQ(tokenizer->bytes_of(7), "ı");
  EXPECT_EQ(tokenizer->kind(), "char");
}

TEST(CharacterTokenizer, TakesTheVocabularyOfSeveralTextsTogether) {
  const std::string_view texts[] = {"ba", "", "ca"};
  EXPECT_EQ(character_tokenizer(texts)->to_json(), R"({"kind":"char","characters":["a","b","c"]})");
}

TEST(CharacterTokenizer, RoundTripsItsText) {
  // Pages far apart, runs of ASCII of every length around eight, NUL and lone CR.
  std::string text("\0\r\n"sv);
  for (std::uint32_t run = 0; run < 20; ++run) text += std::string(run, 'x') + "ğ" + utf8_of(0x10FFFF - 300 * run);
  const auto tokenizer = character_tokenizer(text);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  EXPECT_EQ(tokenizer->vocabulary(), 3U + 2U + 20U);
}

TEST(CharacterTokenizer, KnowsEveryCodePointThereIs) {
  std::vector<std::uint32_t> all;
  std::string text;
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    all.push_back(c);
    text += utf8_of(c);
  }
  const auto tokenizer = character_tokenizer(text);
  EXPECT_EQ(tokenizer->vocabulary(), all.size());
  const Tokens tokens = tokenizer->encode(text);
  ASSERT_EQ(tokens.size(), all.size());
  for (Token t = 0; t < tokens.size(); ++t) ASSERT_EQ(tokens[t], t);
}

TEST(CharacterTokenizer, AppendsToWhatIsThere) {
  const auto tokenizer = character_tokenizer("ab");
  Tokens tokens{9};
  EXPECT_TRUE(tokenizer->encode("ba", UnknownPolicy::refuse, tokens).empty());
  EXPECT_THAT(tokens, ElementsAre(9, 1, 0));
}

TEST(CharacterTokenizer, NamesUnknownCharactersWithTheirPlaces) {
  const auto tokenizer = character_tokenizer("ab\nc ");
  Tokens tokens{9};
  const Error error = error_of([&] {
    tokenizer->encode(
        "aşb\nab\x1B"
        "c",
        UnknownPolicy::refuse, tokens);
  });
  EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  EXPECT_EQ(error.message(),
            "2 characters are unknown to the tokenizer: 'ş' at line 1, column 2; '\\x1B' at line 2, column 3");
  EXPECT_EQ(error.place().offset, 1U);
  EXPECT_EQ(error.place().key, "line 1, column 2");
  EXPECT_THAT(tokens, ElementsAre(9));
  EXPECT_THAT(error_of([&] { (void)tokenizer->encode("x"); }).message(),
              HasSubstr("1 character is unknown to the tokenizer: 'x' at line 1, column 1"));
}

TEST(CharacterTokenizer, NamesTenUnknownCharactersAndCountsTheRest) {
  const auto tokenizer = character_tokenizer("ab");
  const Error error = error_of([&] { (void)tokenizer->encode("abababababxxxxxxxxxxxxab"); });
  EXPECT_THAT(error.message(), HasSubstr("12 characters are unknown"));
  EXPECT_THAT(error.message(), HasSubstr("'x' at line 1, column 20; and 2 more"));
  EXPECT_THAT(error.message(), Not(HasSubstr("column 21")));
  EXPECT_EQ(error.place().offset, 10U);
}

TEST(CharacterTokenizer, SkipsUnknownCharactersWhenAskedAndReturnsThem) {
  const auto tokenizer = character_tokenizer("ab\n");
  Tokens tokens;
  const std::vector<Unknown> unknown = tokenizer->encode(
      "a€b\n\xFF\xC4"
      "a\xE2\x82",
      UnknownPolicy::skip, tokens);
  EXPECT_THAT(tokens, ElementsAre(1, 2, 0, 1));
  ASSERT_EQ(unknown.size(), 5U);
  EXPECT_EQ(unknown[0].character, "€");
  EXPECT_EQ(unknown[0].offset, 1U);
  EXPECT_EQ(unknown[0].column, 2U);
  EXPECT_EQ(unknown[1].character, "\xFF");
  EXPECT_EQ(unknown[1].offset, 6U);
  EXPECT_EQ(unknown[1].line, 2U);
  EXPECT_EQ(unknown[1].column, 1U);
  EXPECT_EQ(unknown[2].character, "\xC4");
  EXPECT_EQ(unknown[2].column, 2U);
  EXPECT_EQ(unknown[3].character, "\xE2");
  EXPECT_EQ(unknown[3].column, 4U);
  EXPECT_EQ(unknown[4].offset, 10U);
}

TEST(CharacterTokenizer, FindsAnUnknownCharacterAtEveryOffset) {
  const auto tokenizer = character_tokenizer("ab");
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    text[at] = 'x';
    Tokens tokens;
    const std::vector<Unknown> unknown = tokenizer->encode(text, UnknownPolicy::skip, tokens);
    ASSERT_EQ(unknown.size(), 1U);
    EXPECT_EQ(unknown[0].offset, at);
    EXPECT_EQ(tokens, Tokens(39, 0));
  }
}

TEST(CharacterTokenizer, RefusesTextsThatCannotBeLearned) {
  const Error empty = error_of([] { (void)character_tokenizer(""); });
  EXPECT_EQ(empty.kind(), ErrorKind::malformed);
  EXPECT_EQ(empty.message(), "the text is empty");
  const Error single = error_of([] { (void)character_tokenizer("\n\n\n"); });
  EXPECT_EQ(single.kind(), ErrorKind::malformed);
  EXPECT_THAT(single.message(), HasSubstr("one distinct character, '\\n'"));
  const Error invalid = error_of([] { (void)character_tokenizer("ab\xFF"); });
  EXPECT_EQ(invalid.kind(), ErrorKind::malformed);
  EXPECT_EQ(invalid.place().offset, 2U);
}

TEST(CharacterTokenizer, RefusesCodePointsOutOfOrder) {
  using Points = std::vector<std::uint32_t>;
  for (const Points& wrong : {Points{}, Points{97}, Points{98, 97}, Points{97, 97}}) {
    EXPECT_EQ(error_of([&] { (void)character_tokenizer(wrong); }).kind(), ErrorKind::internal);
  }
}

TEST(ByteTokenizer, RoundTripsAnyBytes) {
  const auto tokenizer = byte_tokenizer();
  EXPECT_EQ(tokenizer->vocabulary(), 256U);
  EXPECT_EQ(tokenizer->kind(), "byte");
  const std::string bytes = every_byte() + "\r\n\xEF\xBB\xBF";
  const Tokens tokens = tokenizer->encode(bytes);
  ASSERT_EQ(tokens.size(), bytes.size());
  for (Token b = 0; b < 256; ++b) EXPECT_EQ(tokens[b], b);
  EXPECT_EQ(tokenizer->decode(tokens), bytes);
}

TEST(Tokenizer, RefusesTokensOutsideTheVocabulary) {
  for (const auto& tokenizer : {character_tokenizer("ab"), byte_tokenizer()}) {
    for (const Token token : {static_cast<Token>(tokenizer->vocabulary()), ~Token{0}}) {
      const Error error = error_of([&] { (void)tokenizer->decode(std::span(&token, 1)); });
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.message(), HasSubstr("token " + std::to_string(token)));
    }
  }
}

TEST(Tokenizer, ItsJsonReadsBackAsTheSame) {
  const std::string text("\0\x01\n\t\"\\/ aş€😀\x7F"sv);
  for (const auto& tokenizer : {character_tokenizer(text), byte_tokenizer()}) {
    const auto read = tokenizer_from(tokenizer->to_json(), "tokenizer.json");
    EXPECT_EQ(read->kind(), tokenizer->kind());
    EXPECT_EQ(read->vocabulary(), tokenizer->vocabulary());
    EXPECT_EQ(read->to_json(), tokenizer->to_json());
    EXPECT_EQ(read->fingerprint(), tokenizer->fingerprint());
    EXPECT_EQ(read->encode(text), tokenizer->encode(text));
  }
}

// Pinned: checkpoints hold them. (xxhsum -H2 of the JSON.)
TEST(Tokenizer, FingerprintsAreStable) {
  EXPECT_EQ(byte_tokenizer()->fingerprint(), "a6902474b5fe05de6cb4abf96cbbfc45");
  EXPECT_EQ(character_tokenizer("ab")->fingerprint(), "5a9f638c27314f818a30de6c126b81f2");
  EXPECT_NE(character_tokenizer("ac")->fingerprint(), character_tokenizer("ab")->fingerprint());
}

TEST(TokenizerFrom, RefusesWithFileKeyAndRule) {
  const std::tuple<const char*, ErrorKind, const char*> cases[] = {
      {R"({"kind":"char","characters":["a","bc"]})", ErrorKind::malformed, "characters[1]"},
      {R"({"kind":"char","characters":["a",""]})", ErrorKind::malformed, "characters[1]"},
      {R"({"kind":"char","characters":["b","a"]})", ErrorKind::malformed, "characters[1]"},
      {R"({"kind":"char","characters":["a","a"]})", ErrorKind::malformed, "characters[1]"},
      {R"({"kind":"char","characters":["a",1]})", ErrorKind::malformed, "characters[1]"},
      {R"({"kind":"char","characters":["a"]})", ErrorKind::malformed, "characters"},
      {R"({"kind":"char","characters":{}})", ErrorKind::malformed, "characters"},
      {R"({"kind":"char"})", ErrorKind::malformed, "characters"},
      {R"({"kind":"byte","characters":["a","b"]})", ErrorKind::malformed, "characters"},
      {R"({"kind":"char","characters":["a","b"],"more":1})", ErrorKind::malformed, "more"},
      {R"({"kind":"bpe"})", ErrorKind::incompatible, "kind"},
      {R"({"kind":1})", ErrorKind::malformed, "kind"},
      {R"({})", ErrorKind::malformed, "kind"},
      {R"([])", ErrorKind::malformed, ""},
      {R"()", ErrorKind::malformed, ""},
      {"{\"kind\":\"char\",\"characters\":[\"a\",\"\xFF\"]}", ErrorKind::malformed, ""},
  };
  for (const auto& [json, kind, key] : cases) {
    const Error error = error_of([&, text = json] { (void)tokenizer_from(text, "tokenizer.json"); });
    EXPECT_EQ(error.kind(), kind) << json << ": " << error.what();
    EXPECT_EQ(error.place().file, "tokenizer.json") << json;
    EXPECT_THAT(error.what(), HasSubstr(key)) << json;
  }
}

}  // namespace
}  // namespace dikkat::text
