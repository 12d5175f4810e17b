#include "dikkat/text/utf8.h"

#include <gmock/gmock.h>

#include "dikkat/base/testing.h"

namespace dikkat::text {
namespace {

using dikkat::testing::error_of;
using ::testing::HasSubstr;
using std::string_view_literals::operator""sv;

std::string cleaned(std::string_view text) {
  std::string buffer;
  return std::string(clean_text(text, buffer, "a.txt"));
}

Error refusal(std::string_view text) {
  return error_of([&] { (void)cleaned(text); });
}

// The bytes after two lines of Turkish: line 3, column 4 (in characters), byte 18.
const std::string kBefore = "göl\nşeytan\nİşi";
Error refusal_after_text(std::string_view bytes) { return refusal(kBefore + std::string(bytes)); }

TEST(Utf8, EveryCodePointReadsBack) {
  for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const std::string bytes = utf8_of(c);
    std::size_t at = 0;
    ASSERT_EQ(next_code_point(bytes, at), c);
    ASSERT_EQ(at, bytes.size());
  }
}

TEST(Utf8, KnownCharactersHaveTheirKnownBytes) {
  EXPECT_EQ(utf8_of(0x41), "A");
  EXPECT_EQ(utf8_of(0x131), "\xC4\xB1");       // dotless i
  EXPECT_EQ(utf8_of(0x20AC), "\xE2\x82\xAC");  // euro
  EXPECT_EQ(utf8_of(0x1F600), "\xF0\x9F\x98\x80");
  EXPECT_EQ(error_of([] { (void)utf8_of(0xD800); }).kind(), ErrorKind::internal);
  EXPECT_EQ(error_of([] { (void)utf8_of(0x110000); }).kind(), ErrorKind::internal);
}

// Every string of up to three bytes, against the definition: it is a character iff some code point is written so.
TEST(Utf8, AcceptsExactlyWhatSomeCodePointIsWrittenAs) {
  std::size_t accepted = 0;
  for (std::uint32_t bits = 0; bits < 1U << 24U; ++bits) {
    const char bytes[] = {static_cast<char>(bits >> 16U), static_cast<char>(bits >> 8U), static_cast<char>(bits)};
    if (static_cast<unsigned char>(bytes[0]) < 0xE0) continue;
    std::size_t at = 0;
    const std::uint32_t c = next_code_point({bytes, 3}, at);
    if (c == kInvalid) {
      ASSERT_EQ(at, 0U);
      continue;
    }
    ++accepted;
    ASSERT_EQ(utf8_of(c), std::string_view(bytes, 3));
  }
  EXPECT_EQ(accepted, 0x10000U - 0x800U - 0x800U);  // three-byte code points without surrogates
}

TEST(Utf8, RefusesEachInvalidFourByteForm) {
  for (const std::string_view bytes : {"\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv,
                                       "\xF0\x9F\x98"sv, "\xF0\x9F\x98\x41"sv, "\xF8\x88\x80\x80\x80"sv}) {
    std::size_t at = 0;
    EXPECT_EQ(next_code_point(bytes, at), kInvalid);
    EXPECT_EQ(at, 0U);
  }
}

TEST(CleanText, TextThatNeedsNothingIsNotCopied) {
  const std::string text = "Damlaya damlaya göl olur.\n";
  std::string buffer;
  const std::string_view clean = clean_text(text, buffer, "a.txt");
  EXPECT_EQ(clean.data(), text.data());
  EXPECT_EQ(clean, text);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(cleaned(""), "");
}

TEST(CleanText, DropsTheByteOrderMarkAtTheStartOnly) {
  EXPECT_EQ(cleaned("\xEF\xBB\xBF"
                    "göl"),
            "göl");
  EXPECT_EQ(cleaned("\xEF\xBB\xBF\xEF\xBB\xBF"
                    "a"),
            "\xEF\xBB\xBF"
            "a");
  EXPECT_EQ(cleaned("a\xEF\xBB\xBF"), "a\xEF\xBB\xBF");
  EXPECT_EQ(cleaned("\xEF\xBB\xBF"), "");
}

TEST(CleanText, MakesLineEndsLf) {
  EXPECT_EQ(cleaned("a\r\nb\r\n"), "a\nb\n");
  EXPECT_EQ(cleaned("\r\n\r\n"), "\n\n");
  EXPECT_EQ(cleaned("a\r\r\nb"), "a\r\nb");  // the first CR stands alone
  EXPECT_EQ(cleaned("\xEF\xBB\xBF"
                    "a\r\nb"),
            "a\nb");
}

TEST(CleanText, KeepsLoneCrAndNul) {
  EXPECT_EQ(cleaned("a\rb\r"), "a\rb\r");
  EXPECT_EQ(cleaned("a\0b"sv), "a\0b"sv);
}

TEST(CleanText, RefusesUtf16AndUtf32ByName) {
  for (const std::string_view text : {"\xFF\xFE"
                                      "a\0"sv,
                                      "\xFE\xFF\0a"sv, "\xFF\xFE"sv}) {
    const Error error = refusal(text);
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.message(), "this is UTF-16, not UTF-8");
    EXPECT_EQ(error.place().file, "a.txt");
    EXPECT_EQ(error.place().offset, 0U);
    EXPECT_EQ(error.place().hint, "convert it: iconv -f UTF-16 -t UTF-8");
  }
  EXPECT_EQ(refusal("\xFF\xFE\0\0a\0\0\0"sv).message(), "this is UTF-32, not UTF-8");
}

TEST(CleanText, NamesEachKindOfInvalidUtf8AndItsPlace) {
  const std::pair<std::string_view, std::string> cases[] = {
      {"\x80", "byte 0x80, a continuation byte without a beginning"},
      {"\xBF ", "byte 0xBF, a continuation byte without a beginning"},
      {"\xC0\xAF", "byte 0xC0, an overlong form"},
      {"\xC1\xBF", "byte 0xC1, an overlong form"},
      {"\xE0\x9F\xBF", "byte 0xE0, an overlong form"},
      {"\xF0\x8F\xBF\xBF", "byte 0xF0, an overlong form"},
      {"\xED\xA0\x80", "byte 0xED, a surrogate"},
      {"\xED\xBF\xBF", "byte 0xED, a surrogate"},
      {"\xF4\x90\x80\x80", "byte 0xF4, beyond U+10FFFF"},
      {"\xF5\x80\x80\x80", "byte 0xF5, beyond U+10FFFF"},
      {"\xFF", "byte 0xFF, beyond U+10FFFF"},
      {"\xC4", "byte 0xC4, a character cut short"},
      {"\xC4 ", "byte 0xC4, a character cut short"},
      {"\xE2\x82", "byte 0xE2, a character cut short"},
      {"\xE2\x82 abc", "byte 0xE2, a character cut short"},
      {"\xF0\x9F\x98", "byte 0xF0, a character cut short"},
      {"\xF0\x9F\x98\xC4\xB1", "byte 0xF0, a character cut short"},
  };
  ASSERT_EQ(kBefore.size(), 18U);
  for (const auto& [bytes, rule] : cases) {
    const Error error = refusal_after_text(bytes);
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.message(), "invalid UTF-8 at line 3, column 4: " + rule);
    EXPECT_EQ(error.place().file, "a.txt");
    EXPECT_EQ(error.place().offset, 18U);
    EXPECT_EQ(error.place().key, "line 3, column 4");
    EXPECT_THAT(error.place().hint, HasSubstr("byte tokenizer"));
  }
}

TEST(CleanText, CountsPlacesInTheFileAsItIs) {
  // The mark has bytes but no column; a CR before LF has a byte and ends nothing but its line.
  const Error error = refusal(
      "\xEF\xBB\xBF"
      "ab\r\nc\xFF");
  EXPECT_EQ(error.place().offset, 8U);
  EXPECT_EQ(error.place().key, "line 2, column 2");
  EXPECT_EQ(refusal("\xFF").place().key, "line 1, column 1");
  EXPECT_EQ(refusal(std::string(1000, 'a') + "\xFF").place().key, "line 1, column 1001");
}

TEST(CleanText, FindsAnInvalidByteAtEveryOffset) {
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'x');
    text[at] = '\xFF';
    EXPECT_EQ(first_invalid(text), at);
  }
  EXPECT_EQ(first_invalid(std::string(40, 'x')), std::nullopt);
}

TEST(WholeCharacters, HoldsBackOnlyWhatMayBecomeACharacter) {
  EXPECT_EQ(whole_characters(""), 0U);
  EXPECT_EQ(whole_characters("ab"), 2U);
  EXPECT_EQ(whole_characters("a\xC4"), 1U);
  EXPECT_EQ(whole_characters("a\xC4\xB1"), 3U);
  EXPECT_EQ(whole_characters("a\xE2\x82"), 1U);
  EXPECT_EQ(whole_characters("a\xE2\x82\xAC"), 4U);
  EXPECT_EQ(whole_characters("\xF0\x9F\x98"), 0U);
  EXPECT_EQ(whole_characters("\xF0\x9F\x98\x80"), 4U);
  // never a character: nothing to wait for
  EXPECT_EQ(whole_characters("a\x80"), 2U);
  EXPECT_EQ(whole_characters("a\xFF"), 2U);
  EXPECT_EQ(whole_characters("\xED\xA0"), 2U);
  EXPECT_EQ(whole_characters("\xE0\x80"), 2U);
  EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4U);
}

TEST(WholeCharacters, AStreamCutAnywhereJoinsToTheWhole) {
  const std::string text = "ağ\xFF€\x80😀\xE2\x82 ı\xF0\x9F";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    std::string held;
    std::string printed;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      held += text.substr(at, piece);
      const std::size_t whole = whole_characters(held);
      printed += held.substr(0, whole);
      held.erase(0, whole);
    }
    EXPECT_EQ(printed + held, text);
    EXPECT_EQ(held, "\xF0\x9F");
  }
}

TEST(Escaped, ShowsWhatATerminalWouldHideOrObey) {
  EXPECT_EQ(escaped("Göl 😀 \\ \"'"), "Göl 😀 \\ \"'");
  EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(escaped("\x1B[31m\x7F\0"sv), "\\x1B[31m\\x7F\\x00");
  EXPECT_EQ(escaped("\xFF\xC4"), "\\xFF\\xC4");
  EXPECT_EQ(escaped("\xC2\x9B"), "\\xC2\\x9B");           // C1: control sequence introducer
  EXPECT_EQ(escaped("\xE2\x80\xAE"), "\\xE2\\x80\\xAE");  // right-to-left override
  EXPECT_EQ(escaped("\xE2\x80\xA8"), "\\xE2\\x80\\xA8");  // line separator
}

}  // namespace
}  // namespace dikkat::text
