#include "dikkat/formats/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/text/utf8.h"

namespace dikkat::formats {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMostNpyHeaderBytes = 65'535;
constexpr std::size_t kMostDimensions = 64;  // as in NumPy 2
constexpr std::size_t kMostCount = std::size_t{1} << 62U;

// --- writing ---

std::string shape_literal(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

void append_little_endian(std::string& out, std::uint32_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xFFU);
}

std::string prefix_of(std::string_view descr, bool column_by_column, const std::vector<std::size_t>& shape) {
  std::string literal = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr,
                                    column_by_column ? "True" : "False", shape_literal(shape));
  constexpr std::size_t kBefore = kMagic.size() + 4;
  const std::size_t whole = (kBefore + literal.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  literal.resize(whole - kBefore - 1, ' ');
  literal += '\n';
  if (literal.size() > kMostNpyHeaderBytes)
    throw Error(ErrorKind::internal, "an array of too many axes for a .npy file");
  std::string out(kMagic);
  out += "\x01\x00"sv;
  append_little_endian(out, static_cast<std::uint32_t>(literal.size()), 2);
  return out + literal;
}

// --- reading ---

// The header's Python literal, read strictly.
class HeaderText {
 public:
  HeaderText(std::string_view text, std::size_t origin, const std::string& file)
      : text_(text), origin_(origin), file_(file) {}

  NpyHeader read() {
    NpyHeader header;
    bool has[3] = {};
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        once(has[0], key);
        header.number = number();
      } else if (key == "fortran_order") {
        once(has[1], key);
        header.column_by_column = truth();
      } else if (key == "shape") {
        once(has[2], key);
        header.shape = sizes();
      } else {
        refuse("unknown key '" + label_of(key) + "'");
      }
      if (take('}')) break;
      expect(',');
    }
    skip_blanks();
    if (at_ != text_.size()) refuse("something after the end of the header's literal");
    if (!has[0] || !has[1] || !has[2]) refuse("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  [[noreturn]] void refuse(std::string rule) const {
    throw Error(ErrorKind::malformed, "the header of this .npy file is broken: " + std::move(rule),
                {.file = file_, .offset = origin_ + at_, .hint = "write the file again with numpy.save"});
  }
  [[noreturn]] void refuse_kind(const std::string& what, const std::string& remedy) const {
    throw Error(ErrorKind::incompatible, what + " are not read",
                {.file = file_, .offset = origin_ + at_, .hint = remedy});
  }
  void once(bool& seen, const std::string& key) const {
    if (std::exchange(seen, true)) refuse("'" + key + "' twice");
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse(fmt::format("expected '{}'", wanted));
  }
  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') refuse("expected a quoted name");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("a quoted name without end");
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    if (name.find('\\') != std::string_view::npos) refuse("an escape in a quoted name");
    at_ = end + 1;
    return std::string(name);
  }
  NpyNumber number() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') refuse_kind("records", "save each field as an array of its own");
    const std::string name = quoted();
    if (const auto known = enum_named<NpyNumber>(name)) return *known;
    // One byte has no order; NumPy writes '|', old versions '<'.
    if (name == "<u1" || name == "<i1" || name == "<b1") return *enum_named<NpyNumber>("|" + name.substr(1));
    if (name.starts_with('>'))
      refuse_kind("big-endian numbers", "save the array as little-endian, such as a.astype('<f4')");
    if (name.find('O') != std::string::npos) refuse_kind("Python objects", "save plain numbers; pickles can run code");
    refuse_kind("numbers of kind '" + label_of(name) + "'", "save the array as float32 or float64");
  }
  bool truth() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair{"True"sv, true}, std::pair{"False"sv, false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    refuse("expected True or False");
  }
  std::vector<std::size_t> sizes() {
    std::vector<std::size_t> shape;
    expect('(');
    while (!take(')')) {
      shape.push_back(size());
      if (shape.size() > kMostDimensions) refuse(fmt::format("more than {} axes", kMostDimensions));
      if (take(')')) {
        if (shape.size() == 1) refuse("a shape of one axis is written (n,)");
        break;
      }
      expect(',');
    }
    return shape;
  }
  std::size_t size() {
    skip_blanks();
    std::size_t end = at_;
    while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
    const auto value = count_from(text_.substr(at_, end - at_));
    if (!value || *value > kMostCount) refuse("a size is no whole number of reasonable length");
    at_ = end;
    return *value;
  }

  std::string_view text_;
  std::size_t origin_;
  const std::string& file_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse(const std::string& file, std::size_t offset, std::string what) {
  throw Error(ErrorKind::malformed, std::move(what),
              {.file = file, .offset = offset, .hint = "write the file again with numpy.save"});
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Bytes of the header's length: it depends on the version.
std::size_t length_bytes(std::string_view text, const std::string& file) {
  if (!text.starts_with(kMagic)) refuse(file, 0, "this is no .npy file");
  if (text.size() < kMagic.size() + 2) refuse(file, text.size(), "the .npy file ends in its first bytes");
  const int major = static_cast<unsigned char>(text[kMagic.size()]);
  const int minor = static_cast<unsigned char>(text[kMagic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(ErrorKind::incompatible, fmt::format("version {}.{} of the .npy format is not known", major, minor),
                {.file = file, .offset = kMagic.size(), .hint = "save the array with another version of NumPy"});
  }
  return major == 1 ? 2 : 4;
}

// Elements of `view` with the axes the other way round.
template <class T>
Tensor reversed_axes(const NpyView& view) {
  std::vector<std::size_t> sizes(view.header.shape.rbegin(), view.header.shape.rend());
  Tensor tensor = Tensor::empty(Shape(sizes), dtype_of<T>::value);
  std::memcpy(tensor.raw(), view.data.data(), view.data.size());
  for (std::size_t a = 0; a < sizes.size() / 2; ++a) tensor = tensor.transpose(a, sizes.size() - 1 - a);
  return tensor.clone();
}

}  // namespace

std::size_t bytes_of(NpyNumber number) {
  const std::string_view name = text_of(number);
  return static_cast<std::size_t>(name.back() - '0');
}

NpyNumber npy_number(DType dtype) { return dtype == DType::f32 ? NpyNumber::f32 : NpyNumber::f64; }

std::size_t NpyHeader::count() const {
  std::size_t product = 1;
  for (const std::size_t size : shape) {
    if (__builtin_mul_overflow(product, size, &product) || product > kMostCount) {
      throw Error(ErrorKind::limit, "an array of more than 2^62 numbers");
    }
  }
  return product;
}

std::string npy_prefix(const NpyHeader& header) {
  return prefix_of(text_of(header.number), header.column_by_column, header.shape);
}

std::string npy_text_array(std::span<const std::string> texts) {
  std::vector<std::vector<std::uint32_t>> all;
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    std::vector<std::uint32_t>& characters = all.emplace_back();
    for (std::size_t at = 0; at < text.size();) {
      const std::uint32_t c = text::next_code_point(text, at);
      characters.push_back(c == text::kInvalid ? 0xFFFDU : c);
      if (c == text::kInvalid) ++at;
    }
    longest = std::max(longest, characters.size());
  }
  std::string out = prefix_of("<U" + std::to_string(longest), false, {texts.size()});
  for (std::vector<std::uint32_t>& characters : all) {
    characters.resize(longest, 0);
    for (const std::uint32_t c : characters) append_little_endian(out, c, 4);
  }
  return out;
}

std::string npy_bytes(const Tensor& tensor) {
  const Tensor whole = tensor.clone();
  const std::string prefix =
      npy_prefix({.number = npy_number(whole.dtype()), .shape = {whole.shape().begin(), whole.shape().end()}});
  std::string out(prefix.size() + whole.bytes(), '\0');
  std::copy(prefix.begin(), prefix.end(), out.begin());
  std::memcpy(out.data() + prefix.size(), whole.raw(), whole.bytes());
  return out;
}

NpyView read_npy(std::span<const std::byte> bytes, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t width = length_bytes(text, file);
  const std::size_t begin = kMagic.size() + 2 + width;
  if (text.size() < begin) refuse(file, text.size(), "the .npy file ends in its first bytes");
  const std::size_t length = little_endian(text.substr(begin - width, width));
  if (length > kMostNpyHeaderBytes || length > text.size() - begin) {
    refuse(file, begin - width, fmt::format("a header of {} bytes, beyond the file or the limit", length));
  }
  NpyView view{.header = HeaderText(text.substr(begin, length), begin, file).read(),
               .data = bytes.subspan(begin + length)};
  std::size_t wanted = 0;
  const bool overflows = __builtin_mul_overflow(view.header.count(), bytes_of(view.header.number), &wanted);
  if (overflows || wanted != view.data.size()) {
    refuse(file, begin + length,
           fmt::format("the shape {} asks for other than the {} bytes of data that follow",
                       shape_literal(view.header.shape), view.data.size()));
  }
  return view;
}

Tensor tensor_of(const NpyView& view, const std::string& file) {
  const bool real = view.header.number == NpyNumber::f32 || view.header.number == NpyNumber::f64;
  if (!real || view.header.shape.size() > kMaxRank) {
    throw Error(ErrorKind::incompatible,
                fmt::format("an array of kind {} with {} axes is no tensor here", text_of(view.header.number),
                            view.header.shape.size()),
                {.file = file, .hint = fmt::format("save it as float32 or float64 with at most {} axes", kMaxRank)});
  }
  const DType dtype = view.header.number == NpyNumber::f32 ? DType::f32 : DType::f64;
  if (view.header.column_by_column && view.header.shape.size() > 1) {
    return with_number(dtype, [&]<class T>() { return reversed_axes<T>(view); });
  }
  const Tensor tensor = Tensor::empty(Shape(view.header.shape), dtype);
  if (!view.data.empty()) std::memcpy(tensor.raw(), view.data.data(), view.data.size());
  return tensor;
}

Tensor read_npy_tensor(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  return tensor_of(read_npy(mapped.bytes(), path.string()), path.string());
}

}  // namespace dikkat::formats
