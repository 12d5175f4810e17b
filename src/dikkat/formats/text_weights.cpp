#include "dikkat/formats/text_weights.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"

namespace dikkat::formats {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16U;
constexpr std::size_t kLongestNumber = 32;

template <class T>
void write_line(const NamedTensor& tensor, const Sink& sink) {
  const Tensor value = tensor.value.contiguous() ? tensor.value : tensor.value.clone();
  std::string piece;
  std::array<char, kLongestNumber> digits{};
  bool first = true;
  for (const T number : value.span<T>()) {
    if (!std::isfinite(number)) {
      throw Error(ErrorKind::numeric, "'" + label_of(tensor.name) + "' holds a value that is not finite");
    }
    if (!first) piece += ' ';
    first = false;
    piece.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
    if (piece.size() >= kPieceBytes) {
      sink(std::as_bytes(std::span(piece)));
      piece.clear();
    }
  }
  piece += '\n';
  sink(std::as_bytes(std::span(piece)));
}

// One line of the file.
class LineReader {
 public:
  LineReader(std::string_view line, std::size_t number, const std::string& file)
      : line_(line), number_(number), file_(file) {}

  template <class T>
  void into(std::span<T> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) expect_blank(values.size(), i);
      values[i] = number<T>(values.size(), i);
    }
    if (at_ != line_.size()) refuse("expected " + std::to_string(values.size()) + " numbers, got more");
  }

 private:
  [[noreturn]] void refuse(std::string rule) const {
    throw Error(ErrorKind::malformed, std::move(rule),
                {.file = file_, .key = "line " + std::to_string(number_) + ", column " + std::to_string(at_ + 1)});
  }
  [[noreturn]] void refuse_end(std::size_t wanted, std::size_t got) const {
    refuse("expected " + std::to_string(wanted) + " numbers, got " + std::to_string(got));
  }

  void expect_blank(std::size_t wanted, std::size_t got) {
    if (at_ == line_.size()) refuse_end(wanted, got);
    if (line_[at_] != ' ') refuse("expected one blank between numbers");
    ++at_;
  }

  template <class T>
  T number(std::size_t wanted, std::size_t got) {
    if (at_ == line_.size()) refuse_end(wanted, got);
    T value = 0;
    const char* begin = line_.data() + at_;
    const auto [end, code] = std::from_chars(begin, line_.data() + line_.size(), value);
    if (code == std::errc::result_out_of_range) refuse("number beyond the range of its type");
    if (code != std::errc{} || !std::isfinite(value)) refuse("expected a finite decimal number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string_view line_;
  std::size_t number_;
  const std::string& file_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse_lines(std::size_t wanted, const std::string& got, const std::string& file) {
  throw Error(ErrorKind::malformed, "expected " + std::to_string(wanted) + " lines, one a tensor, got " + got,
              {.file = file});
}

}  // namespace

void write_text_weights(std::span<const NamedTensor> tensors, const Sink& sink) {
  for (const NamedTensor& tensor : tensors) {
    with_number(tensor.value.dtype(), [&]<class T>() { write_line<T>(tensor, sink); });
  }
}

std::vector<Tensor> read_text_weights(std::string_view text, std::span<const Shape> shapes, DType dtype,
                                      const std::string& file) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (text.empty()) refuse_lines(shapes.size(), std::to_string(i), file);
    const std::size_t end = std::min(text.find('\n'), text.size());
    // A number and its blank take two bytes or more: no memory for what the line cannot hold.
    if (shapes[i].count() > end / 2 + 1) {
      throw Error(ErrorKind::malformed, "line too short for " + std::to_string(shapes[i].count()) + " numbers",
                  {.file = file, .key = "line " + std::to_string(i + 1)});
    }
    Tensor tensor = Tensor::empty(shapes[i], dtype);
    LineReader line(text.substr(0, end), i + 1, file);
    with_number(dtype, [&]<class T>() { line.into<T>(tensor.span<T>()); });
    tensors.push_back(std::move(tensor));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!text.empty()) refuse_lines(shapes.size(), "more", file);
  return tensors;
}

}  // namespace dikkat::formats
