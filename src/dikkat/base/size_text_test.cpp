#include "dikkat/base/size_text.h"

#include <gtest/gtest.h>

namespace dikkat {
namespace {

TEST(SizeText, IsReadAtAGlance) {
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(std::uint64_t{27} << 20U), "27 MiB");
  EXPECT_EQ(size_text(~std::uint64_t{0}), "16 EiB");
}

TEST(Counted, OneThingIsOne) {
  EXPECT_EQ(counted(0, "head"), "0 heads");
  EXPECT_EQ(counted(1, "head"), "1 head");
  EXPECT_EQ(counted(2, "head"), "2 heads");
}

}  // namespace
}  // namespace dikkat
