#include "dikkat/data/corpus.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "dikkat/base/hash.h"
#include "dikkat/base/testing.h"

namespace dikkat::data {
namespace {

namespace fs = std::filesystem;
using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::string_view_literals::operator""sv;

void put(const fs::path& path, std::string_view content) { std::ofstream(path, std::ios::binary) << content; }

// A folder with texts 0, 1, ... in it.
class Written {
 public:
  explicit Written(const std::vector<std::string>& contents) {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      paths.push_back(folder / std::to_string(i));
      put(paths.back(), contents[i]);
    }
  }
  TemporaryFolder folder;
  std::vector<fs::path> paths;
};

Texts texts_of(const Written& written, Texts::Cleaning cleaning = Texts::Cleaning::characters) {
  return {written.paths, cleaning};
}

Corpus corpus_of_size(std::size_t n) {
  const Written written({std::string(n, 'a')});
  return tokenized(texts_of(written), *text::byte_tokenizer());
}

TEST(Texts, AreCleanedOrLeftAsTheyAre) {
  const Written written(
      {"\xEF\xBB\xBF"
       "a\r\nb",
       "c"});
  EXPECT_THAT(texts_of(written).views(), ElementsAre("a\nb", "c"));
  const Texts raw = texts_of(written, Texts::Cleaning::none);
  EXPECT_THAT(raw.views(), ElementsAre("\xEF\xBB\xBF"
                                       "a\r\nb",
                                       "c"));
  EXPECT_EQ(texts_of(written).raw(0), raw.views()[0]);
  EXPECT_EQ(raw.name(1), written.paths[1].string());
}

TEST(Texts, StayInPlaceWhenMoved) {
  const Written written({"a\r\nb", "c"});
  Texts texts = texts_of(written);
  const Texts moved(std::move(texts));
  EXPECT_THAT(moved.views(), ElementsAre("a\nb", "c"));
}

TEST(Texts, FingerprintIsThatOfTheRawBytesWithTheirLengths) {
  const Written written({"ab\r\n", "c"});
  const std::string expected = xxh3_128_hex("\4\0\0\0\0\0\0\0ab\r\n\1\0\0\0\0\0\0\0c"sv);
  EXPECT_EQ(texts_of(written).fingerprint(), expected);
  EXPECT_EQ(texts_of(written, Texts::Cleaning::none).fingerprint(), expected);
  // where one text ends and the next begins is part of it
  EXPECT_NE(texts_of(Written({"ab\r", "\nc"}), Texts::Cleaning::none).fingerprint(), expected);
}

TEST(Texts, RefuseWhatCannotBeRead) {
  const TemporaryFolder folder;
  const auto kind_for = [](const fs::path& path) {
    return error_of([&] { Texts({path}, Texts::Cleaning::characters); }).kind();
  };
  EXPECT_EQ(kind_for(folder / "missing"), ErrorKind::io);
  EXPECT_EQ(kind_for(folder.path()), ErrorKind::malformed);
  EXPECT_EQ(kind_for("/dev/zero"), ErrorKind::malformed);
}

TEST(Texts, NameTheFileThatIsNotUtf8) {
  const Written written({"fine", "ab\nc\xFF"});
  const Error error = error_of([&] { texts_of(written); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.place().file, written.paths[1].string());
  EXPECT_EQ(error.place().offset, 4U);
  EXPECT_EQ(error.place().key, "line 2, column 2");
  EXPECT_NO_THROW(texts_of(written, Texts::Cleaning::none));
}

TEST(Texts, MayNotAllBeEmpty) {
  EXPECT_EQ(error_of([] { texts_of(Written({"", "\xEF\xBB\xBF"})); }).message(), "the text is empty");
  EXPECT_EQ(error_of([] { texts_of(Written({})); }).kind(), ErrorKind::malformed);
  EXPECT_NO_THROW(texts_of(Written({"", "a"})));
}

TEST(Texts, ReadStandardInputOnce) {
  EXPECT_EQ(error_of([] { Texts({"-", "-"}, Texts::Cleaning::none); }).kind(), ErrorKind::usage);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "a\r\nb", 4), 4);
  close(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], STDIN_FILENO);
    const Texts texts({"-"}, Texts::Cleaning::characters);
    const bool right = texts.views()[0] == "a\nb" && texts.raw(0) == "a\r\nb" && texts.name(0) == "standard input";
    _exit(right ? 0 : 1);
  }
  close(ends[0]);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Corpus, JoinsTheTextsAndKnowsTheVocabularyOfTheWhole) {
  const Written written({"ab", "ca\r\n"});
  const Texts texts = texts_of(written);
  const auto tokenizer = character_tokenizer_of(texts);
  EXPECT_EQ(tokenizer->vocabulary(), 4U);  // LF a b c
  const Corpus corpus = tokenized(texts, *tokenizer);
  EXPECT_THAT(corpus.tokens, ElementsAre(1, 2, 3, 1, 0));
  EXPECT_EQ(corpus.fingerprint, texts.fingerprint());
}

TEST(Corpus, TheFirstNineTenthsTrain) {
  const std::pair<std::size_t, std::size_t> cases[] = {{1, 0},  {2, 1},   {9, 8},   {10, 9},
                                                       {11, 9}, {19, 17}, {20, 18}, {1115394, 1003854}};
  for (const auto& [n, train] : cases) {
    const Corpus corpus = corpus_of_size(n);
    EXPECT_EQ(corpus.train_count, train) << n;
    EXPECT_EQ(corpus.part(Split::train).size(), train);
    EXPECT_EQ(corpus.part(Split::validation).size(), n - train);
    EXPECT_EQ(corpus.part(Split::validation).data(), corpus.tokens.data() + train);
    EXPECT_EQ(corpus.part(Split::all).size(), n);
  }
}

TEST(Corpus, NamesTheFileWithUnknownCharacters) {
  const auto tokenizer = text::character_tokenizer("ab\n");
  const Written plain({"ab", "a\nx"});
  const Error error = error_of([&] { (void)tokenized(texts_of(plain), *tokenizer); });
  EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  EXPECT_EQ(error.place().file, plain.paths[1].string());
  EXPECT_EQ(error.place().offset, 2U);
  EXPECT_THAT(error.message(), HasSubstr("'x' at line 2, column 1"));
  const Error shortened = error_of([&] { (void)tokenized(texts_of(Written({"a\r\nx"})), *tokenizer); });
  EXPECT_EQ(shortened.place().offset, std::nullopt);  // cleaning moved it
  EXPECT_EQ(shortened.place().key, "line 2, column 1");
}

TEST(Corpus, LeavesUnknownCharactersOutAndCountsThemIfAsked) {
  // More than the piece that is looked at at once, with characters of several bytes across its end.
  std::string text;
  for (int i = 0; i < 30000; ++i) text += "a€b";
  const Written written({text, "€", "ab"});
  const auto tokenizer = text::character_tokenizer("ab");
  const Corpus corpus = tokenized(texts_of(written), *tokenizer, text::UnknownPolicy::skip);
  EXPECT_EQ(corpus.tokens.size(), 60002U);
  EXPECT_EQ(corpus.skipped, 30001U);
  EXPECT_EQ(corpus.train_count, 54001U);
  EXPECT_EQ(tokenized(texts_of(Written({"ab"})), *tokenizer).skipped, 0U);
}

TEST(Corpus, OfOneDistinctCharacterIsRefused) {
  const Written written({"aaaa"});
  const Error error = error_of([&] { (void)character_tokenizer_of(texts_of(written)); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.place().file, written.paths[0].string());
  EXPECT_THAT(error.message(), HasSubstr("one distinct character"));
}

TEST(CheckWindows, NamesTheLargestContextThatWorks) {
  // 100 tokens: 90 train, 10 validate; a window of 9 + 1 just fits.
  const Corpus corpus = corpus_of_size(100);
  EXPECT_NO_THROW(check_windows(corpus, 1));
  EXPECT_NO_THROW(check_windows(corpus, 9));
  const Error error = error_of([&] { check_windows(corpus, 10, "a.txt"); });
  EXPECT_EQ(error.kind(), ErrorKind::malformed);
  EXPECT_EQ(error.place().file, "a.txt");
  EXPECT_THAT(error.message(), HasSubstr("of 100 tokens 90 are for training and 10 for validation"));
  EXPECT_EQ(error.place().hint, "use a context of at most 9, or a longer text");
  EXPECT_EQ(error_of([&] { check_windows(corpus, ~std::size_t{0}); }).kind(), ErrorKind::malformed);
}

TEST(CheckWindows, SaysWhenNoContextWorks) {
  for (const std::size_t n : {1U, 2U, 10U}) {
    const Error error = error_of([&] { check_windows(corpus_of_size(n), 1); });
    EXPECT_EQ(error.place().hint, "no context works, give a longer text") << n;
  }
  EXPECT_NO_THROW(check_windows(corpus_of_size(11), 1));  // 9 train, 2 validate
}

}  // namespace
}  // namespace dikkat::data
