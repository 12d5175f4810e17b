// Arrays that NumPy wrote are read, what we write is what NumPy writes, and hostile headers are refused.
#include "dikkat/formats/npy.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "dikkat/base/testing.h"

namespace dikkat::formats {
namespace {

using dikkat::testing::content_of;
using dikkat::testing::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(DIKKAT_SOURCE_DIR) / "tests/golden" / ("npy_" + name + ".npy");
}

NpyView read(std::string_view text) { return read_npy(std::as_bytes(std::span(text)), "a.npy"); }

// Element i, row by row, as the maker has it.
template <class T>
void expect_halves(const Tensor& tensor, const Shape& shape) {
  ASSERT_EQ(tensor.shape(), shape);
  ASSERT_EQ(tensor.dtype(), dtype_of<T>::value);
  for (std::size_t i = 0; i < tensor.count(); ++i) {
    EXPECT_EQ(tensor.span<T>()[i], static_cast<T>(i) / 2 - 1) << "element " << i;
  }
}

TEST(Npy, ReadsWhatNumpyWrote) {
  expect_halves<float>(read_npy_tensor(golden("f32")), {2, 3});
  expect_halves<double>(read_npy_tensor(golden("f64_version_2")), {2, 3});
  expect_halves<double>(read_npy_tensor(golden("f64_version_3")), {2, 3});
  expect_halves<double>(read_npy_tensor(golden("f64_fortran")), {2, 3, 4});
  expect_halves<float>(read_npy_tensor(golden("f32_empty")), {0, 3});
  const Tensor scalar = read_npy_tensor(golden("f64_scalar"));
  EXPECT_EQ(scalar.shape().rank(), 0U);
  EXPECT_EQ(scalar.data<double>()[0], -0.5);
}

TEST(Npy, ReadsWholeNumbersAsTheyAre) {
  const std::string bytes = content_of(golden("i32"));
  const NpyView view = read(bytes);
  EXPECT_EQ(view.header.number, NpyNumber::i32);
  EXPECT_THAT(view.header.shape, ElementsAre(4));
  std::array<std::int32_t, 4> values{};
  std::memcpy(values.data(), view.data.data(), view.data.size());
  EXPECT_THAT(values, ElementsAre(-1, 0, 1, 2));
  EXPECT_EQ(read(content_of(golden("u8"))).header.number, NpyNumber::u8);
  EXPECT_EQ(error_of([&] { (void)read_npy_tensor(golden("i32")); }).kind(), ErrorKind::incompatible);
}

TEST(Npy, WritesWhatNumpyWrites) {
  const Tensor halves = Tensor::empty({2, 3}, DType::f32);
  for (std::size_t i = 0; i < 6; ++i) halves.data<float>()[i] = static_cast<float>(i) / 2 - 1;
  EXPECT_EQ(npy_bytes(halves), content_of(golden("f32")));
  EXPECT_EQ(npy_bytes(Tensor::zeros({0, 3}, DType::f32)), content_of(golden("f32_empty")));
  EXPECT_EQ(npy_bytes(halves.transpose(0, 1)).size(), content_of(golden("f32")).size());
  expect_halves<float>(tensor_of(read(npy_bytes(halves.transpose(0, 1))), "").transpose(0, 1).clone(), {2, 3});
  const std::vector<std::string> texts = {"a", "çé", "\U0001f600\u200b<"};
  EXPECT_EQ(npy_text_array(texts), content_of(golden("texts")));
  EXPECT_THAT(npy_text_array(std::vector<std::string>{"\xE7"}), HasSubstr("'<U1'")) << "one replacement character";
  EXPECT_EQ(npy_text_array(std::vector<std::string>{"\xE7"}).substr(128), "\xFD\xFF\0\0"sv);
}

TEST(Npy, PrefixesAreMultiplesOf64) {
  for (std::size_t axes = 0; axes < 40; ++axes) {
    const NpyHeader header{.number = NpyNumber::u8, .shape = std::vector<std::size_t>(axes, 1)};
    const std::string prefix = npy_prefix(header);
    EXPECT_EQ(prefix.size() % 64, 0U);
    EXPECT_EQ(prefix.back(), '\n');
    EXPECT_EQ(read(prefix + "x").header.shape, header.shape);
  }
}

TEST(Npy, NamesWhatIsNeverRead) {
  const auto refusal = [](const std::string& name) { return error_of([&] { (void)read_npy_tensor(golden(name)); }); };
  EXPECT_THAT(refusal("f32_big_endian").what(), HasSubstr("big-endian numbers are not read"));
  EXPECT_THAT(refusal("objects").what(), HasSubstr("Python objects are not read"));
  EXPECT_THAT(refusal("records").what(), HasSubstr("records are not read"));
  EXPECT_THAT(refusal("texts").what(), HasSubstr("'<U3' are not read"));
  for (const char* name : {"f32_big_endian", "objects", "records", "texts"}) {
    EXPECT_EQ(refusal(name).kind(), ErrorKind::incompatible);
  }
}

// A file of version 1.0 with this header and so many bytes of data.
std::string npy_of(std::string_view header, std::size_t data) {
  std::string text = "\x93NUMPY\x01"s + '\0';
  text += static_cast<char>(header.size() & 0xFFU);
  text += static_cast<char>(header.size() >> 8U);
  return text + std::string(header) + std::string(data, '\0');
}

TEST(Npy, TakesTheLiteralInAnyOrderAndSpacing) {
  EXPECT_EQ(read(npy_of("{\"shape\":(2,),'fortran_order' : True,'descr':'<f8'}", 16)).header.shape.front(), 2U);
  EXPECT_EQ(read(npy_of("{'descr': '<u1', 'fortran_order': False, 'shape': (3,), }", 3)).header.number, NpyNumber::u8);
}

TEST(Npy, RefusesHostileHeaders) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  ASSERT_EQ(read(npy_of(good, 24)).header.count(), 6U);
  const auto with = [](const std::string& shape) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"", "expected '{'"},
      {"{", "expected a quoted name"},
      {"{}", "missing"},
      {"{'descr': '<f4', 'shape': (2, 3)}", "missing"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "unknown key 'more'"},
      {"{'descr: '<f4'}", "expected ':'"},
      {"{'descr", "without end"},
      {"{'de\\x73cr': '<f4'}", "escape"},
      {"{'descr' '<f4'}", "expected ':'"},
      {"{'descr': '<f4' 'shape': (2, 3)}", "expected ','"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "True or False"},
      {good + " evil", "after the end"},
      {with("(2, 3"), "whole number"},
      {with("(2 3)"), "expected ','"},
      {with("[2, 3]"), "expected '('"},
      {with("(6)"), "one axis is written (n,)"},
      {with("(-2, 3)"), "whole number"},
      {with("(2.0, 3)"), "expected ','"},
      {with("(02, 3)"), "whole number"},
      {with("(2, 99999999999999999999)"), "whole number"},
      {with("(18446744073709551615, 3)"), "whole number"},
      {with("(2, 4)"), "asks for other than the 24 bytes"},
      {with("(2, 2)"), "asks for other than the 24 bytes"},
      {with("()"), "asks for other than the 24 bytes"},
      {with("(" + std::string(300, '1') + ",)"), "whole number"},
  };
  for (const auto& [header, rule] : headers) {
    const Error error = error_of([&] { (void)read(npy_of(header, 24)); });
    EXPECT_EQ(error.kind(), ErrorKind::malformed) << header;
    EXPECT_THAT(error.what(), HasSubstr(rule)) << header;
    EXPECT_TRUE(error.place().offset.has_value()) << header;
  }
  std::string axes = "(";
  for (int i = 0; i < 65; ++i) axes += "1, ";
  EXPECT_THAT(error_of([&] { (void)read(npy_of(with(axes + ")"), 4)); }).what(), HasSubstr("more than 64 axes"));
  const std::string huge = "(2305843009213693952, 2305843009213693952)";
  EXPECT_EQ(error_of([&] { (void)read(npy_of(with(huge), 24)); }).kind(), ErrorKind::limit);
  EXPECT_EQ(error_of([&] { (void)read(npy_of(with("(4611686018427387904,)"), 0)); }).kind(), ErrorKind::malformed)
      << "times four bytes it does not fit";
}

TEST(Npy, RefusesEveryCutAndForeignFiles) {
  const std::string whole = content_of(golden("f32"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(error_of([&] { (void)read(whole.substr(0, size)); }).kind(), ErrorKind::malformed) << size;
  }
  EXPECT_EQ(error_of([&] { (void)read(whole + "x"); }).kind(), ErrorKind::malformed);
  EXPECT_THAT(error_of([] { (void)read("PK\x03\x04 and more of a zip"); }).what(), HasSubstr("this is no .npy file"));
  std::string version = whole;
  version[6] = 4;
  EXPECT_THAT(error_of([&] { (void)read(version); }).what(), HasSubstr("version 4.0"));
  std::string long_header = whole;
  long_header[6] = 2;
  for (int i = 8; i < 12; ++i) long_header[static_cast<std::size_t>(i)] = '\xFF';
  EXPECT_THAT(error_of([&] { (void)read(long_header); }).what(), HasSubstr("a header of 4294967295 bytes"));
}

}  // namespace
}  // namespace dikkat::formats
