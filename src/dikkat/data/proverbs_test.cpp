// The rules of data/README.md, on the corpus that ships.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/data/corpus.h"
#include "dikkat/text/utf8.h"

namespace dikkat::data {
namespace {

using CodePoints = std::vector<std::uint32_t>;

CodePoints code_points_of(std::string_view text) {
  CodePoints points;
  for (std::size_t at = 0; at < text.size();) {
    points.push_back(text::next_code_point(text, at));
    if (points.back() == text::kInvalid) ++at;
  }
  return points;
}

// A letter's place in the alphabet, from 1; both cases, and the circumflexed vowels with their plain ones.
std::map<std::uint32_t, int> places_of_letters() {
  std::map<std::uint32_t, int> places;
  for (const char* letters : {"abcçdefgğhıijklmnoöprsştuüvyz", "ABCÇDEFGĞHIİJKLMNOÖPRSŞTUÜVYZ"}) {
    int place = 0;
    for (const std::uint32_t letter : code_points_of(letters)) places[letter] = ++place;
  }
  const CodePoints circumflexed = code_points_of("âÂîÎûÛ");
  const CodePoints plain = code_points_of("aAiİuU");
  for (std::size_t i = 0; i < plain.size(); ++i) places[circumflexed[i]] = places[plain[i]];
  return places;
}

const std::map<std::uint32_t, int> kPlaces = places_of_letters();

// What the order compares; without spaces, what two proverbs that differ in punctuation only have in common.
std::vector<int> key_of(std::string_view line, bool with_spaces) {
  std::vector<int> key;
  for (const std::uint32_t c : code_points_of(line)) {
    if (c == ' ' && with_spaces) key.push_back(0);
    if (const auto letter = kPlaces.find(c); letter != kPlaces.end()) key.push_back(letter->second);
  }
  return key;
}

class Proverbs : public ::testing::Test {
 protected:
  Proverbs() : file_(std::string(DIKKAT_SOURCE_DIR) + "/data/atasozleri.txt") {
    std::string_view rest = file_.text();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      lines_.push_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  MappedFile file_;
  std::vector<std::string_view> lines_;
};

TEST_F(Proverbs, AreAtLeastFiveHundred) { EXPECT_GE(lines_.size(), 500U); }

TEST_F(Proverbs, NeedNoCleaning) {
  std::string buffer;
  EXPECT_EQ(text::clean_text(file_.text(), buffer, "atasozleri.txt").data(), file_.text().data());
  EXPECT_TRUE(file_.text().ends_with(".\n"));
}

TEST_F(Proverbs, HoldTheTwoEverybodyKnows) {
  for (const std::string_view known : {"Damlaya damlaya göl olur.", "Acele işe şeytan karışır."}) {
    EXPECT_EQ(std::count(lines_.begin(), lines_.end(), known), 1) << known;
  }
}

// Letters of the alphabet are precomposed code points, so a decomposed one would fail here too.
TEST_F(Proverbs, AreMadeOfTheAlphabet) {
  const std::string_view punctuation = " ,;'.";
  for (const std::string_view line : lines_) {
    for (const std::uint32_t c : code_points_of(line)) {
      const bool allowed =
          kPlaces.count(c) == 1 || (c < 0x80 && punctuation.find(static_cast<char>(c)) != punctuation.npos);
      EXPECT_TRUE(allowed) << line << ": code point " << c;
    }
  }
}

TEST_F(Proverbs, AreSentencesWithOneFullStop) {
  for (const std::string_view line : lines_) {
    EXPECT_EQ(line.find('.'), line.size() - 1) << line;
    EXPECT_GE(code_points_of(line).size(), 10U) << line;
    EXPECT_EQ(line.find("  "), line.npos) << line;
    EXPECT_NE(line.front(), ' ') << line;
  }
}

TEST_F(Proverbs, StandOnceEvenWithoutTheirPunctuation) {
  std::set<std::vector<int>> seen;
  for (const std::string_view line : lines_) EXPECT_TRUE(seen.insert(key_of(line, false)).second) << line;
}

TEST_F(Proverbs, StandInTheOrderOfTheAlphabet) {
  for (std::size_t i = 1; i < lines_.size(); ++i) {
    EXPECT_LT(key_of(lines_[i - 1], true), key_of(lines_[i], true)) << lines_[i - 1] << " / " << lines_[i];
  }
}

TEST_F(Proverbs, AreEnoughForThePresets) {
  const Texts texts({std::string(DIKKAT_SOURCE_DIR) + "/data/atasozleri.txt"}, Texts::Cleaning::characters);
  const auto tokenizer = character_tokenizer_of(texts);
  EXPECT_NO_THROW(check_windows(tokenized(texts, *tokenizer), 256));  // the largest context of the small presets
}

}  // namespace
}  // namespace dikkat::data
