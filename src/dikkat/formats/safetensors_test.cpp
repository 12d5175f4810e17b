#include "dikkat/formats/safetensors.h"

#include <gmock/gmock.h>

#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "dikkat/base/testing.h"

namespace dikkat::formats {
namespace {

using dikkat::testing::error_of;
using dikkat::testing::TemporaryFolder;
using ::testing::HasSubstr;

NamedTensor floats(std::string name, const Shape& shape, const std::vector<float>& values) {
  return {std::move(name), Tensor::of<float>(shape, values)};
}

NamedTensor doubles(std::string name, const Shape& shape, const std::vector<double>& values) {
  return {std::move(name), Tensor::of<double>(shape, values)};
}

std::string written(const std::vector<NamedTensor>& tensors) {
  std::string bytes;
  write_safetensors(tensors, [&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return bytes;
}

void put(const std::filesystem::path& path, std::string_view bytes) {
  FileWriter writer(path);
  writer.write(bytes);
  writer.finish();
}

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += rest;
  return bytes;
}

// A file of this header and so many bytes of data.
std::string file_of(std::string_view header, std::size_t data_bytes = 0) {
  return with_length(header.size(), header) + std::string(data_bytes, '\0');
}

SafetensorsHeader header_in(std::string_view bytes) {
  return read_safetensors_header(std::as_bytes(std::span(bytes)), "w.safetensors");
}

Error refusal_of(std::string_view bytes) {
  return error_of([&] { static_cast<void>(header_in(bytes)); });
}

TEST(Safetensors, WritesTheBytesOfTheFormat) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"z":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},"b":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string data("\0\0\0\0\0\0\xF0\x3F\0\0\0\x40\0\0\x80\xBF", 16);  // 1.0, 2.0f, -1.0f
  EXPECT_EQ(written({floats("b", {0, 3}, {}), floats("a", {1, 2}, {2.0F, -1.0F}), doubles("z", {}, {1.0})}),
            with_length(padded.size(), padded) + data);
}

TEST(Safetensors, TensorsComeBackToTheBit) {
  const TemporaryFolder folder;
  const float nan = std::bit_cast<float>(0x7FC00123U);
  const std::vector<float> values{0.1F, -0.0F, std::numeric_limits<float>::infinity(), nan, 1e-45F, 3.0F};
  put(folder / "w", written({floats("blocks.0.w", {2, 3}, values), doubles("d", {1}, {0.1}), floats("none", {0}, {})}));
  const SafetensorsFile file(folder / "w");
  const auto tensors = file.read_all();
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].name, "blocks.0.w");
  EXPECT_EQ(tensors[0].value.shape(), (Shape{2, 3}));
  EXPECT_EQ(std::memcmp(tensors[0].value.raw(), values.data(), 24), 0);
  EXPECT_EQ(tensors[1].value.span<double>()[0], 0.1);
  EXPECT_EQ(tensors[2].value.shape(), (Shape{0}));
  EXPECT_EQ(first_nonfinite(tensors), "blocks.0.w");
  EXPECT_EQ(file.read("d").dtype(), DType::f64);
  EXPECT_EQ(error_of([&] { static_cast<void>(file.read("e")); }).kind(), ErrorKind::incompatible);
}

TEST(Safetensors, ViewsAreWrittenRowByRow) {
  const Tensor matrix = Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(written({{"t", matrix.transpose(0, 1)}}), written({floats("t", {2, 2}, {1, 3, 2, 4})}));
}

TEST(Safetensors, RefusesToWriteAmbiguousNames) {
  for (const char* name : {"", "__metadata__", "\xFF"}) {
    EXPECT_EQ(error_of([&] { static_cast<void>(written({floats(name, {1}, {1})})); }).kind(), ErrorKind::internal);
  }
  EXPECT_THAT(error_of([&] {
                static_cast<void>(written({floats("a", {1}, {1}), floats("a", {1}, {1})}));
              }).message(),
              HasSubstr("two tensors named 'a'"));
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
  EXPECT_TRUE(header_in(file_of("{}")).tensors.empty());
  EXPECT_TRUE(header_in(file_of(R"({"__metadata__":{"any":"text","b":""}}   )")).tensors.empty());
  const auto any_order = header_in(file_of(R"({"a":{"shape":[1],"data_offsets":[8,12],"dtype":"F32"},)"
                                           R"("empty":{"dtype":"F32","shape":[7,0],"data_offsets":[8,8]},)"
                                           R"("b":{"data_offsets":[0,8],"dtype":"F4","shape":[4,4]}})",
                                           12));
  ASSERT_EQ(any_order.tensors.size(), 3U);
  EXPECT_EQ(any_order.tensors[0].name, "a");
  EXPECT_EQ(any_order.tensors[1].dtype, "F4");
  EXPECT_EQ(any_order.tensors[1].shape, (Shape{4, 4}));
}

TEST(Safetensors, OtherDtypesAreListedButNotRead) {
  const TemporaryFolder folder;
  put(folder / "w", file_of(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4));
  const SafetensorsFile file(folder / "w");
  const Error error = error_of([&] { static_cast<void>(file.read_all()); });
  EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  EXPECT_THAT(error.message(), HasSubstr("BF16"));
}

struct Hostile {
  std::string what;
  std::string bytes;
  std::string rule;
};

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return R"({"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) + R"(,"data_offsets":)" +
         std::string(offsets) + "}";
}

std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets, std::size_t data_bytes) {
  return file_of("{\"a\":" + entry(dtype, shape, offsets) + "}", data_bytes);
}

std::string two(std::string_view first, std::string_view second, std::size_t data_bytes) {
  return file_of("{\"a\":" + entry("F32", "[1]", first) + ",\"b\":" + entry("F32", "[1]", second) + "}", data_bytes);
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::vector<Hostile> hostile_files() {
  const std::string good = entry("F32", "[1]", "[0,4]");
  return {
      // 1: too short
      {"empty", "", "too short"},
      {"one byte", "\x02", "too short"},
      {"seven bytes", std::string(7, '\0'), "too short"},
      // 2: header length
      {"2^64 - 1", with_length(~std::uint64_t{0}, "{}"), "the limit is 100000000"},
      {"2^64 - 8, which wraps with the prefix", with_length(~std::uint64_t{7}, "{}"), "the limit is 100000000"},
      {"2^63", with_length(std::uint64_t{1} << 63U, "{}"), "the limit is 100000000"},
      {"one above the limit", with_length(100'000'001, "{}"), "the limit is 100000000"},
      {"beyond the file", with_length(3, "{}"), "ends within the header"},
      {"header of no bytes", with_length(0, ""), "does not begin with '{'"},
      // 3: not a JSON object in UTF-8
      {"not UTF-8", file_of("{\"\xFF\":" + good + "}", 4), "not UTF-8"},
      {"not UTF-8 outside text", file_of("{\xFF}"), "not valid JSON"},
      {"byte order mark", file_of("\xEF\xBB\xBF{}"), "does not begin with '{'"},
      {"list", file_of("[]"), "does not begin with '{'"},
      {"blank before", file_of(" {}"), "does not begin with '{'"},
      {"garbage after", file_of("{}x"), "not valid JSON"},
      {"second object after", file_of("{}{}"), "not valid JSON"},
      {"NUL after", file_of(std::string_view("{}\0", 3)), "NUL"},
      // 4: duplicates
      {"tensor twice", file_of("{\"a\":" + good + ",\"a\":" + good + "}", 4), "duplicate key 'a'"},
      {"tensor twice, once escaped", file_of("{\"a\":" + good + ",\"\\u0061\":" + good + "}", 4), "duplicate key 'a'"},
      {"metadata twice", file_of(R"({"__metadata__":{},"__metadata__":{}})"), "duplicate key '__metadata__'"},
      {"metadata key twice", file_of(R"({"__metadata__":{"k":"","k":""}})"), "duplicate key 'k'"},
      {"dtype twice", file_of(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
       "duplicate key 'dtype'"},
      // 5: offsets
      {"backwards", one("F32", "[1]", "[4,0]", 4), "backwards"},
      {"negative", one("F32", "[1]", "[-4,0]", 4), "exact whole number"},
      {"minus zero", one("F32", "[1]", "[-0,4]", 4), "exact whole number"},
      {"real", one("F32", "[1]", "[0,4.0]", 4), "exact whole number"},
      {"half", one("F32", "[1]", "[1.5,5.5]", 8), "exact whole number"},
      {"power of ten", one("F32", "[1]", "[0,1e30]", 4), "exact whole number"},
      {"text", one("F32", "[1]", "[\"0\",4]", 4), "exact whole number"},
      {"null", one("F32", "[1]", "[null,4]", 4), "exact whole number"},
      {"2^53 + 1", one("F32", "[1]", "[0,9007199254740993]", 4), "beyond 48 bits"},
      {"2^64", one("F32", "[1]", "[0,18446744073709551616]", 4), "exact whole number"},
      {"one offset", one("F32", "[1]", "[4]", 4), "expected two data offsets"},
      {"three offsets", one("F32", "[1]", "[0,4,8]", 8), "more than two data offsets"},
      {"beyond the file", one("F32", "[2]", "[0,8]", 4), "beyond the file"},
      {"shorter than the shape", one("F32", "[2]", "[0,4]", 4), "differ from the shape"},
      {"longer than the shape", one("F32", "[1]", "[0,8]", 8), "differ from the shape"},
      {"gap at the start", one("F32", "[1]", "[4,8]", 8), "a gap"},
      {"gap between", two("[0,4]", "[8,12]", 12), "a gap"},
      {"overlap", two("[0,4]", "[2,6]", 8), "overlaps"},
      {"same bytes", two("[0,4]", "[0,4]", 4), "overlaps"},
      {"same bytes with room", two("[0,4]", "[0,4]", 8), "overlaps"},
      {"empty one inside another", file_of("{\"a\":" + good + ",\"b\":" + entry("F32", "[0]", "[2,2]") + "}", 4),
       "overlaps"},
      {"trailing bytes", one("F32", "[1]", "[0,4]", 5), "1 bytes after"},
      {"data without tensors", file_of("{}", 1), "1 bytes after"},
      // 6: shapes
      {"product overflows", one("F32", "[4294967296,4294967296,2]", "[0,4]", 4), "size overflows"},
      {"bytes overflow, count does not", one("F32", "[281474976710655,65535]", "[0,4]", 4), "size overflows"},
      {"overflow before a zero", one("F32", "[4294967296,4294967296,0]", "[0,0]", 0), "size overflows"},
      {"10,000 dimensions", one("F32", "[1" + repeated(",1", 9999) + "]", "[0,4]", 4), "more than 6 dimensions"},
      {"seven dimensions", one("F32", "[1,1,1,1,1,1,1]", "[0,4]", 4), "more than 6 dimensions"},
      {"negative size", one("F32", "[-1]", "[0,4]", 4), "exact whole number"},
      {"size within a list", one("F32", "[[1]]", "[0,4]", 4), "a list where none belongs"},
      // 8: nesting
      {"lists 100,000 deep", file_of("{\"a\":" + repeated("[", 100000)), "where none belongs"},
      {"objects 100,000 deep", file_of(repeated("{\"a\":", 100000)), "unknown key 'a'"},
      {"metadata 100,000 deep", file_of("{\"__metadata__\":" + repeated("{\"a\":", 100000)), "where none belongs"},
      // 9: dtypes
      {"unknown dtype", one("F128", "[1]", "[0,4]", 4), "unknown dtype 'F128'"},
      {"dtype in lower case", one("f32", "[1]", "[0,4]", 4), "unknown dtype 'f32'"},
      {"dtype is a number", file_of(R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,4]}})", 4), "unknown dtype"},
      {"half a byte", one("F4", "[3]", "[0,2]", 2), "no whole number of bytes"},
      {"six bits", one("F6_E2M3", "[2]", "[0,2]", 2), "no whole number of bytes"},
      // structure
      {"dtype missing", file_of(R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4), "'dtype' is missing"},
      {"shape missing", file_of(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4), "'shape' is missing"},
      {"offsets missing", file_of(R"({"a":{"dtype":"F32","shape":[1]}})", 4), "'data_offsets' is missing"},
      {"unknown key", file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":0}})", 4), "unknown key 'x'"},
      {"shape is a number", one("F32", "1", "[0,4]", 4), "'shape' is not a list"},
      {"tensor is a number", file_of("{\"a\":1}"), "expected an object"},
      {"tensor is a list", file_of("{\"a\":[1]}"), "a list where none belongs"},
      {"metadata is text", file_of("{\"__metadata__\":\"x\"}"), "expected an object"},
      {"metadata of numbers", file_of("{\"__metadata__\":{\"a\":1}}"), "metadata that is not text"},
      {"tensor without name", file_of("{\"\":" + good + "}", 4), "without a name"},
  };
}

TEST(SafetensorsHostile, EveryRowIsRefusedWithItsRule) {
  for (const Hostile& row : hostile_files()) {
    SCOPED_TRACE(row.what);
    const Error error = refusal_of(row.bytes);
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_THAT(error.message(), HasSubstr(row.rule));
    EXPECT_EQ(error.place().file, "w.safetensors");
    EXPECT_TRUE(error.place().offset || !error.place().key.empty());
    EXPECT_LT(std::string_view(error.what()).size(), 300U);
  }
}

// Row 7: entries that all claim the same bytes, and entries without bytes, are refused before they cost memory.
TEST(SafetensorsHostile, CrowdsAreRefusedQuickly) {
  std::string same = "{\"0\":" + entry("F32", "[1]", "[0,4]");
  std::string empty = "{\"0\":" + entry("F32", "[0]", "[0,0]");
  for (int i = 1; i < 400000; ++i) {
    same += ",\"" + std::to_string(i) + "\":" + entry("F32", "[1]", "[0,4]");
    empty += ",\"" + std::to_string(i) + "\":" + entry("F32", "[0]", "[0,0]");
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(refusal_of(file_of(same + "}", 4)).message(), HasSubstr("overlaps"));
  EXPECT_THAT(refusal_of(file_of(empty + "}")).message(), HasSubstr("more than 262144 keys"));
  const bool sanitized = std::getenv("DIKKAT_RANDOM_CASES") != nullptr;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(sanitized ? 120 : 5));  // 0.1 s
}

// Row 16.
TEST(SafetensorsHostile, CutAtEveryByte) {
  const std::string whole = written({floats("a", {2, 2}, {1, 2, 3, 4}), doubles("b", {1}, {5})});
  EXPECT_EQ(header_in(whole).tensors.size(), 2U);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(refusal_of(std::string_view(whole).substr(0, length)).kind(), ErrorKind::malformed) << length;
  }
}

// A foreign file has no checksum: a changed byte may go unnoticed, but never harms.
TEST(SafetensorsHostile, EveryChangedHeaderByteIsRefusedOrHarmless) {
  const std::string whole = written({floats("a", {2, 2}, {1, 2, 3, 4}), doubles("b", {1}, {5})});
  const std::size_t header_end = static_cast<std::size_t>(header_in(whole).data_begin);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < header_end; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U << bit));
      try {
        for (const StoredTensor& tensor : header_in(damaged).tensors) EXPECT_LE(tensor.end, whole.size() - header_end);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::malformed);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, header_end * 4);
}

TEST(WeightsHash, IsShaOfNamesTypesShapesAndBytes) {
  const std::vector<NamedTensor> weights{floats("b", {1, 2}, {2.0F, -1.0F}), doubles("a", {}, {1.0})};
  // printf 'a\0F64\0\0\0\0\0\0\0\0\360\077b\0F32\0001,2\0\0\0\0\100\0\0\200\277' | sha256sum
  EXPECT_EQ(weights_sha256(weights), "944880c6639535bd832f2893e4bf284b7f2b306fb81940bdba94504b184eacc4");
  const std::vector<NamedTensor> swapped{weights[1], weights[0]};
  EXPECT_EQ(weights_sha256(swapped), weights_sha256(weights));
  const std::vector<NamedTensor> reshaped{floats("b", {2, 1}, {2.0F, -1.0F}), weights[1]};
  EXPECT_NE(weights_sha256(reshaped), weights_sha256(weights));
}

}  // namespace
}  // namespace dikkat::formats
