// What is written is a zip that another reader (minizip's own) takes apart into the same arrays, its sums checked.
#include "dikkat/formats/npz.h"

#include <gmock/gmock.h>
#include <minizip/unzip.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "dikkat/base/testing.h"

namespace dikkat::formats {
namespace {

using dikkat::testing::content_of;
using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every entry, its CRC-32 compared.
std::vector<std::pair<std::string, std::string>> entries_of(const std::filesystem::path& path) {
  std::vector<std::pair<std::string, std::string>> entries;
  const unzFile file = unzOpen64(path.c_str());
  if (file == nullptr) {
    ADD_FAILURE() << "no zip: " << path;
    return entries;
  }
  for (int code = unzGoToFirstFile(file); code == UNZ_OK; code = unzGoToNextFile(file)) {
    unz_file_info64 information;
    char name[256];
    EXPECT_EQ(unzGetCurrentFileInfo64(file, &information, name, sizeof name, nullptr, 0, nullptr, 0), UNZ_OK);
    EXPECT_EQ(information.compression_method, 0U) << "stored";
    EXPECT_EQ(unzOpenCurrentFile(file), UNZ_OK);
    std::string content(information.uncompressed_size, '\0');
    EXPECT_EQ(unzReadCurrentFile(file, content.data(), static_cast<unsigned>(content.size())),
              static_cast<int>(content.size()));
    EXPECT_EQ(unzCloseCurrentFile(file), UNZ_OK) << "the sum of " << name;
    entries.emplace_back(name, std::move(content));
  }
  unzClose(file);
  return entries;
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

Tensor counting(const Shape& shape) {
  const Tensor tensor = Tensor::empty(shape, DType::f32);
  for (std::size_t i = 0; i < tensor.count(); ++i) tensor.data<float>()[i] = static_cast<float>(i);
  return tensor;
}

TEST(Npz, HoldsItsArrays) {
  const TemporaryFolder folder;
  const Tensor map = counting({3, 5});
  const std::vector<std::int32_t> tokens = {7, 8, 9};
  {
    NpzWriter npz(folder / "a.npz");
    npz.add("blocks.0.attention.pattern", map.transpose(0, 1));
    npz.add("tokens", NpyNumber::i32, std::span<const std::int32_t>(tokens));
    npz.add_texts("texts", std::vector<std::string>{"<script>", "\n"});
    npz.finish();
  }
  const auto entries = entries_of(folder / "a.npz");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].first, "blocks.0.attention.pattern.npy");
  EXPECT_EQ(entries[0].second, npy_bytes(map.transpose(0, 1)));
  EXPECT_EQ(entries[1].first, "tokens.npy");
  EXPECT_EQ(entries[1].second.substr(128), std::string("\7\0\0\0\10\0\0\0\11\0\0\0", 12));
  EXPECT_EQ(entries[2].second, npy_text_array(std::vector<std::string>{"<script>", "\n"}));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

// Pieces of every size, so that headers are gone back to before, across and after what is already on the disk.
TEST(Npz, PiecesMakeTheSameBytes) {
  const TemporaryFolder folder;
  const Tensor large = counting({700'000});  // 2.8 MB
  const std::span<const std::byte> bytes(large.raw(), large.bytes());
  std::string expected;
  for (const std::size_t piece : {large.bytes(), std::size_t{1'000'003}, std::size_t{65'536}, std::size_t{4'099}}) {
    NpzWriter npz(folder / "a.npz");
    for (std::size_t before = 0; before < 3; ++before) {
      npz.add("small " + std::to_string(before), counting({100'000 * before}));
    }
    npz.begin("large", {.number = NpyNumber::f32, .shape = {700'000}});
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      npz.write(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    }
    npz.end();
    npz.finish();
    if (expected.empty()) expected = content_of(folder / "a.npz");
    EXPECT_EQ(content_of(folder / "a.npz"), expected) << "pieces of " << piece;
  }
  EXPECT_EQ(entries_of(folder / "a.npz").back().second, npy_bytes(large));
}

TEST(Npz, LeavesNothingOfWhatIsNotFinished) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.npz") << "old";
  {
    NpzWriter npz(folder / "a.npz");
    npz.add("large", counting({1'000'000}));
  }
  EXPECT_EQ(content_of(folder / "a.npz"), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
  const Error error = error_of([&] { NpzWriter(folder / "no" / "a.npz"); });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.place().file, (folder / "no" / "a.npz").string());
}

TEST(Npz, AFullDiskIsNamed) {
  const Error error = error_of([] {
    NpzWriter npz("/dev/full/a.npz");
    npz.finish();
  });
  EXPECT_EQ(error.kind(), ErrorKind::io);
}

TEST(Npz, RefusesArraysThatAreNotWhatTheyWereSaidToBe) {
  const TemporaryFolder folder;
  NpzWriter npz(folder / "a.npz");
  npz.add("x", counting({2}));
  EXPECT_THAT(error_of([&] { npz.add("x", counting({2})); }).what(), HasSubstr("'x'"));
  npz.begin("y", {.number = NpyNumber::f32, .shape = {2}});
  EXPECT_EQ(error_of([&] { npz.end(); }).kind(), ErrorKind::internal) << "too few";
  const std::vector<std::byte> nine(9);
  EXPECT_EQ(error_of([&] { npz.write(nine); }).kind(), ErrorKind::internal) << "too many";
  EXPECT_EQ(error_of([&] { npz.finish(); }).kind(), ErrorKind::internal) << "still open";
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t number = 0;
  for (std::size_t i = width; i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes.at(at + i));
  return number;
}

std::string bytes_of(const std::filesystem::path& path, std::uint64_t from, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  return bytes;
}

// More than 4 GiB in one array, and an array that begins behind them: the directory's fields of 64 bits
// (APPNOTE 4.5.3), read by hand because minizip 1.1 does not find them where long has 64 bits.
TEST(Npz, GoesBeyondFourGibibytes) {
  if (std::getenv("DIKKAT_FULL") == nullptr) GTEST_SKIP() << "writes 4 GiB; set DIKKAT_FULL=1";
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.npz";
  constexpr std::uint64_t kBytes = (std::uint64_t{1} << 32U) + 12;
  NpzWriter npz(path);
  npz.begin("large", {.number = NpyNumber::u8, .shape = {kBytes}});
  const std::vector<std::byte> piece(1U << 24U);
  for (std::uint64_t written = 0; written < kBytes;) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), kBytes - written));
    npz.write(std::span(piece).first(now));
    written += now;
  }
  npz.end();
  npz.add("after", counting({3}));
  npz.finish();

  constexpr std::size_t kTail = 400, kEntry = 46,
                        kExtra = 4;  // what precedes an entry's name, and an extra field's data
  const std::string tail = bytes_of(path, std::filesystem::file_size(path) - kTail, kTail);
  const std::size_t large = tail.find("PK\x01\x02"), after = tail.rfind("PK\x01\x02");
  ASSERT_LT(large, after);
  const auto extra_of = [&](std::size_t entry) { return entry + kEntry + number_at(tail, entry + 28, 2) + kExtra; };
  EXPECT_EQ(number_at(tail, large + 24, 4), 0xFFFFFFFFU);
  EXPECT_EQ(number_at(tail, extra_of(large), 8), kBytes + 128);
  EXPECT_EQ(number_at(tail, extra_of(large) + 8, 8), kBytes + 128);
  EXPECT_EQ(number_at(tail, after + 42, 4), 0xFFFFFFFFU);
  const std::string local = bytes_of(path, number_at(tail, extra_of(after), 8), 300);
  EXPECT_EQ(local.substr(0, 4), "PK\x03\x04");
  const std::size_t content = 30 + number_at(local, 26, 2) + number_at(local, 28, 2);
  EXPECT_EQ(local.substr(content, 140), npy_bytes(counting({3})));
}

}  // namespace
}  // namespace dikkat::formats
