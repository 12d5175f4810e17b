#include "dikkat/base/fields.h"

#include <gtest/gtest.h>

#include <limits>

namespace dikkat {

enum class Colour { red, green };
template <>
struct EnumNames<Colour> {
  static constexpr std::array<std::pair<Colour, std::string_view>, 2> names{
      {{Colour::red, "red"}, {Colour::green, "green"}}};
};

namespace {

TEST(Fields, ACountIsDecimalDigitsOnly) {
  EXPECT_EQ(count_from("0"), 0U);
  EXPECT_EQ(count_from("10"), 10U);
  EXPECT_EQ(count_from("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const char* wrong : {"", "-1", "+1", "010", "00", "1.0", "1e3", "nan", "inf", "0x10", " 1", "1 ", "1_000",
                            "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_EQ(count_from(wrong), std::nullopt) << wrong;
  }
}

TEST(Fields, ARealIsAFiniteDecimalNumber) {
  EXPECT_EQ(real_from("0.001"), 0.001);
  EXPECT_EQ(real_from("1e-3"), 0.001);
  EXPECT_EQ(real_from("-2"), -2.0);
  EXPECT_EQ(real_from("1e4"), 10000.0);
  for (const char* wrong :
       {"", "nan", "inf", "-inf", "infinity", "1e999", "-1e999", "0x1p3", "+1", "1,5", "1.0f", " 1", "1 ", "e5", "."}) {
    EXPECT_EQ(real_from(wrong), std::nullopt) << wrong;
  }
}

TEST(Fields, ASwitchIsTrueOrFalse) {
  EXPECT_EQ(switch_from("true"), true);
  EXPECT_EQ(switch_from("false"), false);
  for (const char* wrong : {"", "1", "yes", "True", "true "}) EXPECT_EQ(switch_from(wrong), std::nullopt) << wrong;
}

TEST(Fields, ANumbersTextReadsBackAsTheSameNumber) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(0.001), "0.001");
  EXPECT_EQ(text_of(1.0), "1");
  EXPECT_EQ(text_of(-0.0), "-0");
  for (const double value : {1.0 / 3.0, 1e-300, 5e-324, std::numeric_limits<double>::max(), 123456789.125}) {
    EXPECT_EQ(real_from(text_of(value)), value) << text_of(value);
  }
}

TEST(Fields, EnumsGoByTheirNames) {
  EXPECT_EQ(text_of(Colour::green), "green");
  EXPECT_EQ(field_from<Colour>("red"), Colour::red);
  EXPECT_EQ(field_from<Colour>("Red"), std::nullopt);
  EXPECT_EQ(domain_of<Colour>(), "one of red, green");
}

TEST(Fields, TheTypeOfAFieldPicksItsReading) {
  EXPECT_EQ(field_from<std::size_t>("1.0"), std::nullopt);
  EXPECT_EQ(field_from<double>("1.0"), 1.0);
  EXPECT_EQ(field_from<bool>("true"), true);
  EXPECT_EQ(field_from<std::string>("1.0"), "1.0");
  EXPECT_EQ(domain_of<std::size_t>(), "a whole number >= 0 in decimal digits");
}

TEST(NearestName, FindsASlipOfThePen) {
  const std::vector<std::string> known{"steps", "step", "learning-rate", "batch", "context"};
  EXPECT_EQ(nearest_name("stpes", known), "steps");  // two neighbours swapped: one slip
  EXPECT_EQ(nearest_name("learning_rate", known), "learning-rate");
  EXPECT_EQ(nearest_name("lerning-rat", known), "learning-rate");
  EXPECT_EQ(nearest_name("bach", known), "batch");
  EXPECT_EQ(nearest_name("step", known), "step");
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  const std::vector<std::string> known{"steps", "batch"};
  EXPECT_EQ(nearest_name("temperature", known), std::nullopt);
  EXPECT_EQ(nearest_name("", known), std::nullopt);
  EXPECT_EQ(nearest_name("bxxxh", known), std::nullopt);
  EXPECT_EQ(nearest_name("steps", {}), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(1 << 20, 's'), known), std::nullopt);
}

}  // namespace
}  // namespace dikkat
