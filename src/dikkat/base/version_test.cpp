#include "dikkat/base/version.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace dikkat {
namespace {

TEST(Version, NumberIsItsThreeParts) {
  const Version& v = version();
  EXPECT_EQ(v.number, fmt::format("{}.{}.{}", v.major, v.minor, v.patch));
}

TEST(Version, CommitIsAFullHashOrUnknown) {
  const std::string_view commit = version().commit;
  if (commit == "unknown") return;
  EXPECT_EQ(commit.size(), 40U);
  EXPECT_TRUE(std::all_of(commit.begin(), commit.end(),
                          [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }));
}

TEST(Version, FlagsKeepTheLawOfBits) {
  const std::string_view flags = version().flags;
  EXPECT_NE(flags.find("-ffp-contract=off"), flags.npos);
  EXPECT_EQ(flags.find("-ffast-math"), flags.npos);
  EXPECT_EQ(flags.find("-march="), flags.npos);
}

TEST(Version, CompilerIsNamed) {
  EXPECT_NE(version().compiler.find(' '), std::string_view::npos);
  EXPECT_FALSE(version().build_type.empty());
}

}  // namespace
}  // namespace dikkat
