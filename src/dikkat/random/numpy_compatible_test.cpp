// Against NumPy itself: tests/golden/self_attention_expected.json and self_attention_more.json, with their makers
// make_self_attention.py and make_self_attention_more.py beside them.
#include "dikkat/random/numpy_compatible.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"

namespace dikkat::random {
namespace {

// NumPy's own tables carry roundings that move a normal by this much at most.
constexpr double kNormalTolerance = 4e-15;

Json golden(const std::string& name) {
  const std::string file = DIKKAT_SOURCE_DIR "/tests/golden/" + name;
  return parse_json(read_small_file(file, 1U << 20U), file);
}

// 128 bits in decimal, by long division.
std::string decimal(Word128 value) {
  std::string digits;
  do {
    const std::uint64_t high_rest = value.high % 10;
    value.high /= 10;
    const std::uint64_t middle = high_rest << 32U | value.low >> 32U;
    const std::uint64_t low = (middle % 10) << 32U | (value.low & 0xFFFFFFFFU);
    value.low = (middle / 10) << 32U | low / 10;
    digits.insert(digits.begin(), static_cast<char>('0' + low % 10));
  } while (value.high != 0 || value.low != 0);
  return digits;
}

class NumpyCompatible : public ::testing::Test {
 protected:
  const Json json_ = golden("self_attention_expected.json");
  const JsonAt expected_ = JsonAt(json_, "expected")["rng"];
  const Json more_ = golden("self_attention_more.json");
};

TEST_F(NumpyCompatible, SeedSequenceGivesNumpysWords) {
  const std::vector<std::uint32_t> words = SeedSequence(entropy_words(42)).state(8);
  const auto expected = expected_["seedsequence_42_generate_state_8_u32"].items();
  ASSERT_EQ(expected.size(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], expected[i].count());
}

TEST_F(NumpyCompatible, GeneratorStartsInNumpysState) {
  const Pcg64 generator{SeedSequence(entropy_words(42))};
  EXPECT_EQ(decimal(generator.state()), expected_["pcg64_state_seed42"]["state"].string());
  EXPECT_EQ(decimal(generator.increment()), expected_["pcg64_state_seed42"]["inc"].string());
}

TEST_F(NumpyCompatible, RawWordsAreNumpys) {
  NumpyGenerator generator(42);
  for (const JsonAt& word : expected_["default_rng_42_uint64_8"].items()) EXPECT_EQ(generator.raw(), word.count());
}

TEST_F(NumpyCompatible, UniformsAreNumpysToTheBit) {
  NumpyGenerator generator(42);
  for (const JsonAt& value : expected_["default_rng_42_double_8"].items()) EXPECT_EQ(generator.uniform(), value.real());
}

TEST_F(NumpyCompatible, HundredNormalsAreNumpys) {
  NumpyGenerator generator(42);
  const auto expected = expected_["default_rng_42_standard_normal_100"].items();
  ASSERT_EQ(expected.size(), 100U);
  for (const JsonAt& value : expected) EXPECT_NEAR(generator.normal(), value.real(), kNormalTolerance);
}

// A single other path would shift every later draw. The sum of a million has roundings of its own in either program.
TEST_F(NumpyCompatible, AMillionNormalsTakeTheSamePath) {
  NumpyGenerator generator(42);
  long double sum = 0;
  for (int i = 0; i < 1'000'000; ++i) sum += generator.normal();
  EXPECT_NEAR(static_cast<double>(sum), expected_["default_rng_42_normal_1e6_sum"].real(), 1e-8);
}

// 400,000 draws: about 4,700 wedges and 100 of the tail beyond r.
TEST_F(NumpyCompatible, WedgesAndTailAreNumpys) {
  const JsonAt golden = JsonAt(more_, "more")["normals"];
  NumpyGenerator generator(golden["seed"].count());
  const auto sample = golden["sample"].items();
  double largest = 0;
  double smallest = 0;
  std::uint64_t beyond = 0;
  for (std::size_t i = 0; i < golden["count"].count(); ++i) {
    const double z = generator.normal();
    largest = std::max(largest, z);
    smallest = std::min(smallest, z);
    if (std::abs(z) > 3.6541528853610088) ++beyond;
    if (i % golden["every"].count() == 0) {
      ASSERT_NEAR(z, sample[i / golden["every"].count()].real(), kNormalTolerance) << "draw " << i;
    }
  }
  EXPECT_GT(beyond, 50U);
  EXPECT_EQ(beyond, golden["beyond_r"].count());
  EXPECT_NEAR(largest, golden["largest"].real(), kNormalTolerance);
  EXPECT_NEAR(smallest, golden["smallest"].real(), kNormalTolerance);
}

// 0 and a number of 40 digits among them: one, one, one and five entropy words.
TEST_F(NumpyCompatible, SeedsOfAnySizeAreNumpys) {
  for (const JsonAt& run : JsonAt(more_, "more")["seeds"].items()) {
    const auto entropy = entropy_words(run["seed"].string());
    ASSERT_TRUE(entropy) << run["seed"].string();
    const auto words = SeedSequence(*entropy).state(4);
    NumpyGenerator generator(*entropy);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(words[i], run["state"].items()[i].count());
      EXPECT_EQ(std::to_string(generator.raw()), run["raw"].items()[i].string());
    }
  }
}

TEST(EntropyWords, AreTheDigitsOfBase2To32LowestFirst) {
  using Words = std::vector<std::uint32_t>;
  EXPECT_EQ(entropy_words("0"), Words{0});
  EXPECT_EQ(entropy_words("4294967296"), (Words{0, 1}));
  EXPECT_EQ(entropy_words("18446744073709551617"), (Words{1, 0, 1}));
  EXPECT_EQ(entropy_words(std::uint64_t{5}), Words{5});
  EXPECT_EQ(entropy_words(0x100000002U), (Words{2, 1}));
}

TEST(EntropyWords, RefuseWhatIsNoWholeNumber) {
  for (const char* wrong : {"", "-1", "+1", "01", "1.0", "1e3", " 1", "x"}) EXPECT_FALSE(entropy_words(wrong)) << wrong;
  EXPECT_TRUE(entropy_words(std::string(kMostSeedDigits, '9')));
  EXPECT_FALSE(entropy_words(std::string(kMostSeedDigits + 1, '9')));
}

TEST(NumpyGeneratorTest, FillsInTheOrderOfItsDraws) {
  NumpyGenerator one(3);
  NumpyGenerator other(3);
  std::vector<double> filled(10);
  one.fill_normal(2.0, filled);
  for (const double value : filled) EXPECT_EQ(value, 2.0 * other.normal());
}

}  // namespace
}  // namespace dikkat::random
