#include "dikkat/inspect/head_null_file.h"

#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include "dikkat/base/file.h"
#include "dikkat/base/testing.h"

namespace dikkat::inspect {
namespace {

class NullFile : public ::testing::Test {
 protected:
  NullFile() {
    for (std::size_t i = 0; i < 3 * 2 * 2 * 11; ++i) null_.values.push_back(static_cast<float>(i) / 7);
    null_.values[5] = std::numeric_limits<float>::quiet_NaN();
    write_null(path_, kKey, null_);
  }
  [[nodiscard]] HeadNull shape() const {
    HeadNull shape = null_;
    shape.values.clear();
    return shape;
  }
  void rewrite(const std::string& content) const { std::ofstream(path_, std::ios::binary) << content; }
  [[nodiscard]] std::string content() const { return read_small_file(path_, 1 << 20); }

  const std::string kKey = std::string(32, 'a');
  dikkat::testing::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "nulls" / "a";
  HeadNull null_{.draws = 3, .layers = 2, .heads = 2, .columns = 11, .values = {}};
};

TEST_F(NullFile, ReadsBackToTheBit) {
  const StoredNull stored = read_null(path_, kKey, shape());
  ASSERT_TRUE(stored.null.has_value()) << stored.damage;
  EXPECT_EQ(std::memcmp(stored.null->values.data(), null_.values.data(), null_.values.size() * 4), 0);
  EXPECT_EQ(stored.null->columns, 11U);
}

TEST_F(NullFile, IsNotThereWithoutAWord) {
  const StoredNull stored = read_null(folder_ / "none", kKey, shape());
  EXPECT_FALSE(stored.null.has_value());
  EXPECT_EQ(stored.damage, "");
}

// Every bit of the file, one at a time: damage, each time said.
TEST_F(NullFile, NoticesEveryFlippedBit) {
  const std::string good = content();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    rewrite(bad);
    const StoredNull stored = read_null(path_, kKey, shape());
    ASSERT_FALSE(stored.null.has_value()) << "byte " << i;
    ASSERT_NE(stored.damage, "");
  }
}

TEST_F(NullFile, NoticesAnotherLength) {
  const std::string good = content();
  for (const std::string& bad : {good.substr(0, good.size() - 1), good + "x", std::string(), good + good}) {
    rewrite(bad);
    EXPECT_FALSE(read_null(path_, kKey, shape()).null.has_value());
  }
}

TEST_F(NullFile, IsNotTakenForAnotherKeyOrShape) {
  EXPECT_FALSE(read_null(path_, std::string(32, 'b'), shape()).null.has_value());
  HeadNull other = shape();
  std::swap(other.draws, other.layers);
  EXPECT_FALSE(read_null(path_, kKey, other).null.has_value());
}

TEST_F(NullFile, IsReplacedWhole) {
  null_.values[0] = 42;
  write_null(path_, kKey, null_);
  EXPECT_EQ(read_null(path_, kKey, shape()).null->values[0], 42.0F);
}

TEST_F(NullFile, SaysWhereItCannotBeWritten) {
  rewrite("a file");
  const Error error = dikkat::testing::error_of([&] { write_null(path_ / "below" / "a", kKey, null_); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
}

TEST(NullKey, HangsOnEverythingThatMakesTheNull) {
  const models::Config config{.vocabulary = 20, .context = 8, .width = 8, .layers = 1, .heads = 2};
  const HeadWindows windows{.length = 2, .text = {1, 2, 3, 4}, .repeated = {}, .periods = {}};
  std::set<std::string> keys{null_key(config, DType::f32, windows, {})};
  const auto add = [&](const std::string& key) { EXPECT_TRUE(keys.insert(key).second); };
  add(null_key(config, DType::f64, windows, {}));
  add(null_key(config, DType::f32, windows, {.draws = 199}));
  add(null_key(config, DType::f32, windows, {.seed = 2}));
  models::Config other = config;
  other.heads = 4;
  add(null_key(other, DType::f32, windows, {}));
  other = config;
  other.init = models::InitKind::book;
  add(null_key(other, DType::f32, windows, {}));
  HeadWindows text = windows;
  text.text[2] = 9;
  add(null_key(config, DType::f32, text, {}));
  EXPECT_EQ(null_key(config, DType::f32, windows, {}), *keys.find(null_key(config, DType::f32, windows, {})));
}

}  // namespace
}  // namespace dikkat::inspect
