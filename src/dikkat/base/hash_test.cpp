#include "dikkat/base/hash.h"

#include <gtest/gtest.h>

namespace dikkat {
namespace {

// Values from `xxhsum -H2` of xxHash 0.8.1.
TEST(Xxh3, EqualsTheReferenceProgram) {
  EXPECT_EQ(xxh3_128_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(xxh3_128_hex("abc"), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(xxh3_128_hex(std::string(1000, 'a')), "b01da365eddaa29cb3e7af627147db7c");
}

TEST(Xxh3, HowAStreamIsCutDoesNotMatter) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 7 % 251);
  for (const std::size_t piece : {1U, 3U, 64U, 255U, 4999U}) {
    Xxh3Stream stream;
    for (std::size_t at = 0; at < text.size(); at += piece) stream.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(stream.hex(), xxh3_128_hex(text)) << piece;
  }
}

TEST(Xxh3, AStreamMayBeAskedMidway) {
  Xxh3Stream stream;
  EXPECT_EQ(stream.hex(), xxh3_128_hex(""));
  stream.update("ab");
  EXPECT_EQ(stream.hex(), xxh3_128_hex("ab"));
  stream.update("c");
  EXPECT_EQ(stream.hex(), xxh3_128_hex("abc"));
}

}  // namespace
}  // namespace dikkat
