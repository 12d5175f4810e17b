// NumPy's .npy: one array, a short header before its numbers.
//
//   "\x93NUMPY" | u8 major, u8 minor | header length: u16 (version 1.0) or u32 (2.0, 3.0), little-endian | header |
//   data header: a Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, blanks, a line feed
//   What precedes the data is padded to a multiple of 64 bytes. Version 3.0 has its header in UTF-8, the others in
//   Latin-1.
//
// Source: numpy/lib/format, "NEP 1". Written: version 1.0, little-endian, row by row. Read: all three versions; files
// are hostile. Never read: Python objects (pickles run code), records, big-endian numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/fields.h"
#include "dikkat/base/file.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::formats {

// Kinds of number, by NumPy's names for them.
enum class NpyNumber : std::uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64, boolean };
[[nodiscard]] std::size_t bytes_of(NpyNumber number);
[[nodiscard]] NpyNumber npy_number(DType dtype);

struct NpyHeader {
  NpyNumber number = NpyNumber::f32;
  std::vector<std::size_t> shape;  // empty: a single number
  bool column_by_column = false;   // fortran_order: the first axis is the fastest

  [[nodiscard]] std::size_t count() const;  // of numbers; Error{limit} beyond 2^62
};

// All that precedes the numbers.
[[nodiscard]] std::string npy_prefix(const NpyHeader& header);
// The same for an array of texts of so many characters each (dtype '<U'), and its data: UTF-32, zeros at the end.
[[nodiscard]] std::string npy_text_array(std::span<const std::string> texts);
// A whole file: the tensor, whatever its strides.
[[nodiscard]] std::string npy_bytes(const Tensor& tensor);

// An array in a file that was read: views its bytes.
struct NpyView {
  NpyHeader header;
  std::span<const std::byte> data;  // exactly count() numbers
};
// Error{malformed} with byte: no magic, a version that is unknown, a header beyond the file or the limit, anything in
// it that is not the literal above with these three keys, sizes that overflow, too little or too much data.
// Error{incompatible}: a kind of number that is never read, with what to do. `file` is named in errors.
[[nodiscard]] NpyView read_npy(std::span<const std::byte> bytes, const std::string& file);
// Of f32 and f64 with at most six axes, row by row; Error{incompatible} for others.
[[nodiscard]] Tensor tensor_of(const NpyView& view, const std::string& file);
[[nodiscard]] Tensor read_npy_tensor(const std::filesystem::path& path);

}  // namespace dikkat::formats

namespace dikkat {

template <>
struct EnumNames<formats::NpyNumber> {
  static constexpr std::array<std::pair<formats::NpyNumber, std::string_view>, 12> names{
      {{formats::NpyNumber::u8, "|u1"},
       {formats::NpyNumber::i8, "|i1"},
       {formats::NpyNumber::u16, "<u2"},
       {formats::NpyNumber::i16, "<i2"},
       {formats::NpyNumber::u32, "<u4"},
       {formats::NpyNumber::i32, "<i4"},
       {formats::NpyNumber::u64, "<u8"},
       {formats::NpyNumber::i64, "<i8"},
       {formats::NpyNumber::f16, "<f2"},
       {formats::NpyNumber::f32, "<f4"},
       {formats::NpyNumber::f64, "<f8"},
       {formats::NpyNumber::boolean, "|b1"}}};
};

}  // namespace dikkat
