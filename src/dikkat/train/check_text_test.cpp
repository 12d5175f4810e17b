#include "dikkat/train/check_text.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "dikkat/random/streams.h"

namespace dikkat::train {
namespace {

using ::testing::HasSubstr;
using std::string_view_literals::operator""sv;

Finding found(const Findings& findings, Severity severity, std::string_view check) {
  for (const Finding& finding : findings) {
    if (finding.severity == severity && finding.check == check) return finding;
  }
  ADD_FAILURE() << "no " << text_of(severity) << " of " << check;
  return {};
}

void expect_quiet(const Findings& findings) {
  for (const Finding& finding : findings)
    EXPECT_EQ(finding.severity, Severity::fine) << finding.check << ": " << finding.what;
}

constexpr TokenizerKind kCharacters = TokenizerKind::character;
constexpr TokenizerKind kBytes = TokenizerKind::byte;

TEST(CheckBytes, OfGoodTextAreFine) {
  expect_quiet(check_bytes("İki çay.\nBir de kurabiye.\n", "a.txt", kCharacters));
  expect_quiet(check_bytes("İki çay.\nBir de kurabiye.\n", "a.txt", kBytes));
  expect_quiet(check_bytes("caf\xE9\n", "a.txt", kBytes));
}

TEST(CheckBytes, NameWhereTextIsNotUtf8) {
  const Finding finding = found(check_bytes("ab\nc\xFF", "a.txt", kCharacters), Severity::trouble, "encoding");
  EXPECT_EQ(finding.where, "a.txt: line 2, column 2, byte 4");
  EXPECT_THAT(finding.remedy, HasSubstr("byte tokenizer"));
  EXPECT_EQ(finding.kind, ErrorKind::malformed);
  EXPECT_THAT(found(check_bytes("\xFF\xFE"
                                "a\0"sv,
                                "a.txt", kCharacters),
                    Severity::trouble, "encoding")
                  .what,
              HasSubstr("UTF-16"));
}

TEST(CheckBytes, FindByteOrderMarks) {
  const std::string mark = "\xEF\xBB\xBF";
  found(check_bytes(mark + "a\n", "a.txt", kCharacters), Severity::note, "encoding");
  found(check_bytes(mark + "a\n", "a.txt", kBytes), Severity::warning, "encoding");
  const Finding inside = found(check_bytes("ab\nc" + mark + "d", "a.txt", kCharacters), Severity::warning, "encoding");
  EXPECT_EQ(inside.where, "a.txt: line 2, column 2, byte 4");
}

TEST(CheckBytes, FindTracesOfDamage) {
  EXPECT_THAT(found(check_bytes("a\0b\0"sv, "a.txt", kCharacters), Severity::warning, "encoding").what,
              HasSubstr("NUL byte: this may be no text, 2 in all"));
  EXPECT_THAT(found(check_bytes("caf\xEF\xBF\xBD", "a.txt", kCharacters), Severity::warning, "encoding").what,
              HasSubstr("U+FFFD"));
  // é as UTF-8, read as Latin-1, as UTF-8 again; ’ the same with Windows-1252
  EXPECT_THAT(found(check_bytes("caf\xC3\x83\xC2\xA9", "a.txt", kCharacters), Severity::warning, "encoding").what,
              HasSubstr("Latin-1"));
  EXPECT_THAT(
      found(check_bytes("it\xC3\xA2\xE2\x82\xAC\xE2\x84\xA2s", "a.txt", kCharacters), Severity::warning, "encoding")
          .what,
      HasSubstr("Windows-1252"));
}

TEST(CheckBytes, FindLineEnds) {
  found(check_bytes("a\r\nb\r\n", "a.txt", kCharacters), Severity::note, "line-ends");
  const Finding mixed = found(check_bytes("a\r\nb\nc\r\n", "a.txt", kCharacters), Severity::note, "line-ends");
  EXPECT_THAT(mixed.what, HasSubstr("mixed line ends, CR LF becomes LF: 1 LF, 2 CR LF, 0 CR"));
  EXPECT_THAT(found(check_bytes("a\r\nb\n", "a.txt", kBytes), Severity::warning, "line-ends").what,
              HasSubstr("mixed line ends"));
  const Finding alone = found(check_bytes("a\nb\rc\r", "a.txt", kCharacters), Severity::warning, "line-ends");
  EXPECT_THAT(alone.what, HasSubstr("1 LF, 0 CR LF, 2 CR"));
  EXPECT_EQ(alone.where, "a.txt: line 2, column 2, byte 3");
}

std::vector<text::Token> random_tokens(std::size_t count, std::size_t vocabulary, std::uint64_t seed = 1) {
  std::vector<text::Token> tokens;
  const random::Stream stream = random::stream(seed, "test text");
  for (std::uint32_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, vocabulary)));
  }
  return tokens;
}

data::Corpus corpus_of(std::vector<text::Token> tokens) {
  data::Corpus corpus;
  corpus.tokens = std::move(tokens);
  corpus.train_count = corpus.tokens.size() / 10 * 9;
  return corpus;
}

Findings checked(const data::Corpus& corpus, std::size_t context = 16, std::uint64_t steps = 100) {
  models::Config model;
  model.context = context;
  Settings settings;
  settings.steps = steps;
  return check_corpus(corpus, *text::character_tokenizer("\n abcdefghij"), model, settings, "a.txt");
}

TEST(CheckCorpus, OfAGoodTextIsFine) { expect_quiet(checked(corpus_of(random_tokens(5000, 12)))); }

TEST(CheckCorpus, FindsPartsThatAreTooShort) {
  const Finding finding = found(checked(corpus_of(random_tokens(100, 12))), Severity::trouble, "size");
  EXPECT_THAT(finding.what, HasSubstr("too short for a context of 16"));
  EXPECT_THAT(finding.remedy, HasSubstr("context of at most 9"));
  // 50 tokens for validation: four windows of 16
  EXPECT_THAT(found(checked(corpus_of(random_tokens(500, 12))), Severity::warning, "size").what,
              HasSubstr("is 4 windows"));
}

TEST(CheckCorpus, FindsTokensOfTheValidationPartOnly) {
  std::vector<text::Token> tokens = random_tokens(4500, 11);
  const auto validation = random_tokens(500, 12, 2);  // with 'j'
  tokens.insert(tokens.end(), validation.begin(), validation.end());
  const auto times = std::count(validation.begin(), validation.end(), 11U);
  const Finding finding = found(checked(corpus_of(tokens)), Severity::warning, "vocabulary");
  EXPECT_EQ(finding.what,
            "1 token stands in the validation part only, " + std::to_string(times) + " of its 500 tokens: 'j'");
}

TEST(CheckCorpus, FindsAValidationPartThatWasTrainedOn) {
  std::vector<text::Token> tokens = random_tokens(4500, 12);
  const std::vector<text::Token> copy(tokens.begin() + 17, tokens.begin() + 517);
  tokens.insert(tokens.end(), copy.begin(), copy.end());
  const Finding finding = found(checked(corpus_of(tokens)), Severity::trouble, "duplicates");
  EXPECT_THAT(finding.what, HasSubstr("100.0 % of the validation part"));
  // a fifth of it
  std::vector<text::Token> partly = random_tokens(5000, 12);
  std::copy(partly.begin() + 17, partly.begin() + 117, partly.begin() + 4500);
  found(checked(corpus_of(partly)), Severity::warning, "duplicates");
}

TEST(CheckCorpus, SaysWhenATextWillBeSeenAHundredTimes) {
  EXPECT_THAT(found(checked(corpus_of(random_tokens(5000, 12)), 16, 10000), Severity::note, "amount").what,
              HasSubstr("about 427 times"));  // 10,000 * 12 * 16 / 4500
}

TEST(ShareOfWindows, CountsThoseThatStandInTraining) {
  const std::vector<text::Token> train = random_tokens(1000, 50);
  std::vector<text::Token> validation = random_tokens(100, 50, 2);
  EXPECT_EQ(share_of_windows_in(train, validation, 10), 0);
  std::copy(train.begin() + 3, train.begin() + 13, validation.begin() + 20);
  std::copy(train.end() - 10, train.end(), validation.begin() + 90);
  EXPECT_DOUBLE_EQ(share_of_windows_in(train, validation, 10), 0.2);
  validation[25] = 49 - validation[25];
  EXPECT_DOUBLE_EQ(share_of_windows_in(train, validation, 10), 0.1);
  EXPECT_EQ(share_of_windows_in(train, train, 10), 1);
  EXPECT_EQ(share_of_windows_in(train, validation, 101), 0);
  // the same window many times
  EXPECT_EQ(share_of_windows_in(std::vector<text::Token>(30, 1), std::vector<text::Token>(30, 1), 3), 1);
}

TEST(ShareOfLines, WeighsLinesByTheirLength) {
  const auto tokens_of = [](std::string_view text) { return std::vector<text::Token>(text.begin(), text.end()); };
  const auto train = tokens_of("one two\nthree four\nfive");
  EXPECT_DOUBLE_EQ(share_of_lines_in(train, tokens_of("three four\nthree five\nfive"), '\n', 5), 0.5);
  EXPECT_DOUBLE_EQ(share_of_lines_in(train, tokens_of("three four"), '\n', 5), 1);
  EXPECT_EQ(share_of_lines_in(train, tokens_of("five"), '\n', 5), 0);
}

}  // namespace
}  // namespace dikkat::train
