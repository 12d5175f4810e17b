#include "dikkat/generate/text_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dikkat/base/testing.h"
#include "dikkat/random/streams.h"
#include "dikkat/text/utf8.h"

namespace dikkat::generate {
namespace {

using ::dikkat::testing::error_of;
using ::testing::ElementsAre;
using Strings = std::vector<std::string>;

// What each arrival lets out, and at the end the rest.
Strings pieces(const Strings& stops, const Strings& arrivals) {
  TextStream stream(stops);
  Strings shown;
  for (const std::string& bytes : arrivals) shown.emplace_back(stream.add(bytes));
  shown.emplace_back(stream.finish());
  return shown;
}

Strings bytes_of(std::string_view text) {
  Strings bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  return bytes;
}

TEST(TextStream, ShowsWholeCharactersOnly) {
  EXPECT_THAT(pieces({}, bytes_of("a\xC3\xA7z")), ElementsAre("a", "", "\xC3\xA7", "z", ""));  // ç
  EXPECT_THAT(pieces({}, {"\xF0\x9F", "\x8D\x8F!"}), ElementsAre("", "\xF0\x9F\x8D\x8F!", ""));
}

TEST(TextStream, BytesThatAreNotUtf8PassAsTheyAre) {
  EXPECT_THAT(pieces({}, bytes_of("\xFF\x80\xC3z")), ElementsAre("\xFF", "\x80", "", "\xC3z", ""));
}

TEST(TextStream, AnUnfinishedCharacterComesAtTheEnd) {
  EXPECT_THAT(pieces({}, bytes_of("a\xE2\x82")), ElementsAre("a", "", "", "\xE2\x82"));
}

TEST(TextStream, AStopThatSpansArrivalsIsNeverShown) {
  EXPECT_THAT(pieces({"END"}, {"aE", "N", "Db", "c"}), ElementsAre("a", "", "", "", ""));
  EXPECT_THAT(pieces({"END"}, {"xyENDz"}), ElementsAre("xy", ""));
}

TEST(TextStream, WhatOnlyLooksLikeAStopIsShownAfterAll) {
  EXPECT_THAT(pieces({"END"}, {"aE", "N", "x"}), ElementsAre("a", "", "ENx", ""));
  EXPECT_THAT(pieces({"END"}, {"aE", "N"}), ElementsAre("a", "", "EN"));
  EXPECT_THAT(pieces({"END"}, {"EE", "N", "D"}), ElementsAre("E", "", "", ""));
}

// "aab" after "aa": the first a cannot begin the stop any more, the second can.
TEST(TextStream, AStopThatOverlapsItselfIsFound) {
  EXPECT_THAT(pieces({"aab"}, bytes_of("aaab!")), ElementsAre("", "", "a", "", "", ""));
}

TEST(TextStream, TheStopThatIsCompleteFirstCounts) {
  for (const Strings& arrivals : {Strings{"abc"}, bytes_of("abc")}) {
    TextStream stream(Strings{"abc", "b"});
    std::string shown;
    for (const std::string& bytes : arrivals) shown += stream.add(bytes);
    EXPECT_EQ(shown, "a");
    EXPECT_TRUE(stream.stopped());
  }
}

TEST(TextStream, OfStopsThatEndTogetherTheLongestCounts) {
  EXPECT_THAT(pieces({"c", "bc", "xbc"}, {"abc"}), ElementsAre("a", ""));
}

TEST(TextStream, AStopCanBeginWithPartsOfTheSameCharacter) {
  EXPECT_THAT(pieces({"\xC3\xA7."}, bytes_of("\xC3\xA7.")), ElementsAre("", "", "", ""));
  EXPECT_THAT(pieces({"\xC3\xA7."}, bytes_of("\xC3\xB6.")), ElementsAre("", "\xC3\xB6", ".", ""));
}

TEST(TextStream, AnEmptyStopIsRefused) {
  const Error error = error_of([] { TextStream stream(Strings{"a", ""}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().key, "stop");
}

// Random texts of few letters, cut at random: the pieces together are the text before the first stop.
TEST(TextStream, PiecesAreTheTextBeforeTheFirstStopHoweverItIsCut) {
  const Strings letters = {"a", "b", "\xC3\xA7", "\xFF"};
  const Strings stops = {"abab", "b\xC3\xA7", "aaa"};
  const random::Stream draws = random::stream(3, "texts");
  for (std::uint32_t n = 0; n < 500; ++n) {
    std::string text;
    for (std::uint32_t i = 0; i < 12; ++i) text += letters[random::below(draws, {n, i, 0, 0}, letters.size())];
    std::size_t end = text.size();
    std::size_t begin = text.size();
    for (const std::string& stop : stops) {
      const std::size_t at = text.find(stop);
      if (at != std::string::npos && at + stop.size() <= end && (begin == text.size() || at + stop.size() < end)) {
        begin = at;
        end = at + stop.size();
      }
    }
    TextStream stream(stops);
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = 1 + random::below(draws, {n, static_cast<std::uint32_t>(at), 1, 0}, 4);
      shown += stream.add(text.substr(at, length));
      at += length;
    }
    shown += stream.finish();
    ASSERT_EQ(text::escaped(shown), text::escaped(text.substr(0, begin))) << text::escaped(text);
    ASSERT_EQ(stream.stopped(), begin < text.size());
  }
}

}  // namespace
}  // namespace dikkat::generate
