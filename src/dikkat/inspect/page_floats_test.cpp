#include "dikkat/inspect/page_floats.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <limits>
#include <string>

namespace dikkat::inspect {
namespace {

std::string base64_of(std::string_view text) { return base64(std::as_bytes(std::span(text))); }

std::string hex_of(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte) / 16];
    text += kDigits[std::to_integer<std::size_t>(byte) % 16];
  }
  return text;
}

TEST(Base64, IsThatOfTheStandard) {  // RFC 4648, section 10
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
}

TEST(PackedFloats, NothingIsOneByte) { EXPECT_EQ(hex_of(packed_floats({})), "00"); }

TEST(PackedFloats, SignFractionAndDistanceOfTheExponent) {
  // exponents 129, 127, 126, 128: E = 0x81; distances 0, 2, 3, 1 are 00, 100, 101, 01 and padding
  EXPECT_EQ(hex_of(packed_floats(std::array{4.0F, -1.0F, 0.75F, 2.0F})),
            "81"
            "000000"
            "800000"
            "400000"
            "000000"
            "2540");
}

TEST(PackedFloats, FarExponentsTakeTheWholeDistance) {
  // exponents 127 and 0 (a zero): 00, then sixteen ones and 127
  EXPECT_EQ(hex_of(packed_floats(std::array{1.0F, -0.0F})),
            "7f"
            "000000"
            "800000"
            "3fffdfc0");
  // distance 32 is the first that does: 95 from 127; distance 31 is fifteen ones, a zero, a one
  EXPECT_EQ(hex_of(packed_floats(std::array{1.0F, 0x1p-32F})),
            "7f"
            "000000"
            "000000"
            "3fffc800");
  EXPECT_EQ(hex_of(packed_floats(std::array{1.0F, 0x1p-31F})),
            "7f"
            "000000"
            "000000"
            "3fffa0");
}

TEST(PackedFloats, WhatIsNoNumberIsKept) {
  const float nan = std::bit_cast<float>(0xffc00001U);
  EXPECT_EQ(hex_of(packed_floats(std::array{nan, std::numeric_limits<float>::infinity()})),
            "ff"
            "c00001"
            "000000"
            "00");
}

}  // namespace
}  // namespace dikkat::inspect
