#include "dikkat/formats/text_weights.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/base/size_text.h"

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

  // Reads all numbers of the line and keeps as many as `values` holds; returns how many there are.
  template <class T>
  std::size_t into(std::span<T> values) {
    std::size_t count = 0;
    while (at_ != line_.size()) {
      if (count > 0) expect_blank();
      const T value = number<T>();
      if (count < values.size()) values[count] = value;
      ++count;
    }
    return count;
  }

 private:
  [[noreturn]] void refuse(std::string rule) const {
    throw Error(ErrorKind::malformed, std::move(rule),
                {.file = file_,
                 .key = "line " + std::to_string(number_) + ", column " + std::to_string(at_ + 1),
                 .hint = "mend it, or write the file anew"});
  }

  void expect_blank() {
    if (line_[at_] != ' ') refuse("expected one blank between numbers");
    ++at_;
  }

  template <class T>
  T number() {
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

// The first thing by which a file of valid numbers does not fit the shapes.
struct Misfit {
  std::size_t line;
  std::string rule;
};

}  // namespace

void write_text_weights(std::span<const NamedTensor> tensors, const Sink& sink) {
  for (const NamedTensor& tensor : tensors) {
    with_number(tensor.value.dtype(), [&]<class T>() { write_line<T>(tensor, sink); });
  }
}

std::vector<Tensor> read_text_weights(std::string_view text, std::span<const Shape> shapes, DType dtype,
                                      const std::string& file) {
  std::vector<Tensor> tensors;
  std::optional<Misfit> misfit;
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool wanted = lines < shapes.size();
    // A number and its blank take two bytes or more: no memory for what the line cannot hold.
    const bool may_fit = wanted && shapes[lines].count() <= end / 2 + 1;
    Tensor tensor = Tensor::empty(may_fit ? shapes[lines] : Shape{0}, dtype);
    LineReader line(text.substr(0, end), ++lines, file);
    const std::size_t got = with_number(dtype, [&]<class T>() { return line.into<T>(tensor.span<T>()); });
    if (!misfit && wanted && got != shapes[lines - 1].count()) {
      misfit = {lines, "expected " + counted(shapes[lines - 1].count(), "number") + ", got " + std::to_string(got)};
    }
    if (!misfit) tensors.push_back(std::move(tensor));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!misfit && lines != shapes.size()) {
    misfit = {std::min(lines, shapes.size()) + 1,
              "expected " + counted(shapes.size(), "line") + ", one a tensor, got " + std::to_string(lines)};
  }
  if (misfit) {
    throw Error(ErrorKind::incompatible, "the weights do not fit the model: " + misfit->rule,
                {.file = file, .key = "line " + std::to_string(misfit->line)});
  }
  return tensors;
}

}  // namespace dikkat::formats
