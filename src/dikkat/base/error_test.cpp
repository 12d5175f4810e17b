#include "dikkat/base/error.h"

#include <gtest/gtest.h>

namespace dikkat {
namespace {

TEST(Error, SaysWhatWhereAndTheRemedyOnOneLine) {
  EXPECT_STREQ(Error(ErrorKind::malformed, "not UTF-8").what(), "not UTF-8");
  EXPECT_STREQ(Error(ErrorKind::malformed, "not UTF-8", {.file = "a.txt"}).what(), "not UTF-8 (a.txt)");
  EXPECT_STREQ(Error(ErrorKind::malformed, "not UTF-8", {.file = "a.txt", .offset = 7, .hint = "use bytes"}).what(),
               "not UTF-8 (a.txt: byte 7); use bytes");
  EXPECT_STREQ(Error(ErrorKind::usage, "not a count", {.key = "--steps"}).what(), "not a count (--steps)");
  EXPECT_STREQ(Error(ErrorKind::usage, "not a count", {.file = "c.toml", .key = "3:4"}).what(),
               "not a count (c.toml: 3:4)");
  EXPECT_STREQ(Error(ErrorKind::limit, "too large", {.hint = "make it smaller"}).what(), "too large; make it smaller");
}

TEST(Error, KeepsItsPartsForMachines) {
  const Error error(ErrorKind::io, "full", {.file = "f", .offset = 0, .key = "k", .hint = "h"});
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.message(), "full");
  EXPECT_EQ(error.place().file, "f");
  EXPECT_EQ(error.place().offset, 0U);
  EXPECT_EQ(error.place().key, "k");
  EXPECT_EQ(error.place().hint, "h");
}

// The numbers are a promise to scripts.
TEST(Error, EveryKindHasItsNameAndExitCode) {
  const std::pair<ErrorKind, const char*> kinds[] = {
      {ErrorKind::internal, "internal"},         {ErrorKind::usage, "usage"},
      {ErrorKind::malformed, "malformed"},       {ErrorKind::io, "io"},
      {ErrorKind::numeric, "numeric"},           {ErrorKind::limit, "limit"},
      {ErrorKind::incompatible, "incompatible"}, {ErrorKind::locked, "locked"}};
  int code = 1;
  for (const auto& [kind, name] : kinds) {
    EXPECT_STREQ(name_of(kind), name);
    EXPECT_EQ(exit_code(kind), code++);
  }
}

}  // namespace
}  // namespace dikkat
