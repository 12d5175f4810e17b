#include "dikkat/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"

namespace dikkat::formats {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kPrefixBytes = 8;

// Bits of one element.
constexpr std::array<std::pair<std::string_view, std::size_t>, 22> kDtypes{
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
     {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
     {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
     {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};

std::optional<std::uint64_t> times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// --- writing ---

std::vector<const NamedTensor*> in_file_order(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> ordered;
  for (const NamedTensor& tensor : tensors) ordered.push_back(&tensor);
  std::sort(ordered.begin(), ordered.end(), [](const NamedTensor* a, const NamedTensor* b) {
    const std::size_t a_bytes = bytes_of(a->value.dtype());
    const std::size_t b_bytes = bytes_of(b->value.dtype());
    return a_bytes != b_bytes ? a_bytes > b_bytes : a->name < b->name;
  });
  return ordered;
}

void check_names(std::span<const NamedTensor> tensors) {
  std::vector<std::string_view> names;
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name.empty() || tensor.name == kMetadata || !is_utf8(tensor.name)) {
      throw Error(ErrorKind::internal, "'" + label_of(tensor.name) + "' cannot name a tensor in a safetensors file");
    }
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw Error(ErrorKind::internal, "two tensors named '" + label_of(*twice) + "'");
}

std::string header_of(const std::vector<const NamedTensor*>& ordered) {
  Json header = Json::object();
  header.append(std::string(kMetadata), Json::object().set("format", "pt"));
  std::uint64_t begin = 0;
  for (const NamedTensor* tensor : ordered) {
    Json shape = Json::array();
    for (const std::size_t size : tensor->value.shape()) shape.push(size);
    const std::uint64_t end = begin + tensor->value.bytes();
    Json entry = Json::object();
    entry.append("dtype", name_of(tensor->value.dtype()));
    entry.append("shape", std::move(shape));
    entry.append("data_offsets", Json::array().push(begin).push(end));
    header.append(tensor->name, std::move(entry));
    begin = end;
  }
  std::string text = text_of(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

// --- reading ---

// Takes the header's events one by one, so that a hostile header costs no more than the tensors it truly names.
class HeaderReader final : public JsonHandler {
 public:
  HeaderReader(std::uint64_t data_bytes, const std::string& file) : data_bytes_(data_bytes), file_(file) {}

  void begin_object(std::size_t offset) override {
    if (place_ == Place::start) {
      place_ = Place::top;
    } else if (place_ == Place::top) {
      place_ = current_.name == kMetadata ? Place::metadata : Place::entry;
      seen_ = {};
      dimensions_ = 0;
      offsets_ = 0;
    } else {
      refuse("an object where none belongs", offset);
    }
  }

  void key(std::string& name, std::size_t offset) override {
    if (place_ == Place::top) {
      current_.name = std::move(name);
      return;
    }
    if (place_ != Place::entry) return;
    const auto known = std::find(kFields.begin(), kFields.end(), name);
    if (known == kFields.end()) refuse("unknown key '" + label_of(name) + "'", offset);
    field_ = static_cast<std::size_t>(known - kFields.begin());
    seen_[field_] = true;
  }

  void end_object(std::size_t offset) override {
    if (place_ == Place::entry) finish_entry(offset);
    place_ = Place::top;
  }

  void begin_array(std::size_t offset) override {
    if (place_ == Place::entry && field_ == kShape) {
      place_ = Place::shape;
    } else if (place_ == Place::entry && field_ == kOffsets) {
      place_ = Place::offsets;
    } else {
      refuse("a list where none belongs", offset);
    }
  }

  void end_array(std::size_t) override { place_ = Place::entry; }

  void scalar(Json value, std::size_t offset) override {
    switch (place_) {
      case Place::metadata:
        if (value.kind() != Json::Kind::string) refuse("metadata that is not text", offset);
        return;
      case Place::entry:
        if (field_ != kDtype) refuse("'" + std::string(kFields[field_]) + "' is not a list", offset);
        return take_dtype(value, offset);
      case Place::shape: return take_size(value, offset);
      case Place::offsets: return take_offset(value, offset);
      case Place::start:
      case Place::top: refuse("expected an object", offset);
    }
  }

  std::vector<StoredTensor> take() { return std::move(tensors_); }

 private:
  enum class Place : std::uint8_t { start, top, metadata, entry, shape, offsets };
  static constexpr std::array<std::string_view, 3> kFields{"dtype", "shape", "data_offsets"};
  static constexpr std::size_t kDtype = 0;
  static constexpr std::size_t kShape = 1;
  static constexpr std::size_t kOffsets = 2;

  [[noreturn]] void refuse(std::string rule, std::size_t offset) const {
    const std::string where = current_.name.empty() ? "" : "tensor '" + label_of(current_.name) + "': ";
    throw Error(ErrorKind::malformed, where + std::move(rule), {.file = file_, .offset = offset});
  }

  void take_dtype(const Json& value, std::size_t offset) {
    const auto* name = value.as<std::string>();
    const auto known =
        name == nullptr ? kDtypes.end()
                        : std::find_if(kDtypes.begin(), kDtypes.end(), [&](const auto& d) { return d.first == *name; });
    if (known == kDtypes.end()) refuse("unknown dtype" + (name == nullptr ? "" : " '" + label_of(*name) + "'"), offset);
    current_.dtype = known->first;
    current_.bits = known->second;
  }

  std::uint64_t exact(const Json& value, std::size_t offset) const {
    const auto* count = value.as<std::uint64_t>();
    if (count == nullptr) refuse("expected an exact whole number >= 0", offset);
    if (*count > kMostInteger) refuse("whole number beyond 48 bits", offset);
    return *count;
  }

  void take_size(const Json& value, std::size_t offset) {
    if (dimensions_ == kMaxRank) refuse("more than " + std::to_string(kMaxRank) + " dimensions", offset);
    sizes_[dimensions_++] = exact(value, offset);
  }

  void take_offset(const Json& value, std::size_t offset) {
    if (offsets_ == 2) refuse("more than two data offsets", offset);
    (offsets_++ == 0 ? current_.begin : current_.end) = exact(value, offset);
  }

  void finish_entry(std::size_t offset) {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      if (!seen_[i]) refuse("'" + std::string(kFields[i]) + "' is missing", offset);
    }
    if (current_.name.empty()) refuse("tensor without a name", offset);
    if (offsets_ != 2) refuse("expected two data offsets", offset);
    if (current_.begin > current_.end) refuse("data offsets run backwards", offset);
    if (current_.end > data_bytes_) refuse("data end beyond the file", offset);
    const std::uint64_t bytes = current_.end - current_.begin;
    if (stored_bytes(offset) != bytes) refuse("data offsets differ from the shape's size", offset);
    // Tensors must cover the data without overlap, so together they can't have more bytes than it.
    if (bytes > data_bytes_ - claimed_bytes_) refuse("data overlaps another tensor's", offset);
    claimed_bytes_ += bytes;
    current_.shape = Shape(std::span<const std::size_t>(sizes_.data(), dimensions_));
    tensors_.push_back(std::move(current_));
    current_ = {};
  }

  std::uint64_t stored_bytes(std::size_t offset) const {
    std::optional<std::uint64_t> bits = 1;
    for (std::size_t i = 0; i < dimensions_ && bits; ++i) bits = times(*bits, sizes_[i]);
    if (bits) bits = times(*bits, current_.bits);
    if (!bits) refuse("size overflows", offset);
    if (*bits % 8 != 0) refuse("size is no whole number of bytes", offset);
    return *bits / 8;
  }

  std::uint64_t data_bytes_;
  const std::string& file_;
  Place place_ = Place::start;
  StoredTensor current_;
  std::array<std::size_t, kMaxRank> sizes_{};
  std::size_t dimensions_ = 0;
  std::size_t offsets_ = 0;
  std::size_t field_ = 0;
  std::array<bool, 3> seen_{};
  std::uint64_t claimed_bytes_ = 0;
  std::vector<StoredTensor> tensors_;
};

void check_coverage(const std::vector<StoredTensor>& tensors, std::uint64_t data_bytes, const std::string& file) {
  std::vector<const StoredTensor*> ordered;
  for (const StoredTensor& tensor : tensors) ordered.push_back(&tensor);
  std::sort(ordered.begin(), ordered.end(), [](const StoredTensor* a, const StoredTensor* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t at = 0;
  for (const StoredTensor* tensor : ordered) {
    if (tensor->begin != at) {
      const char* rule = tensor->begin > at ? "a gap in the data before it" : "its data overlaps another tensor's";
      throw Error(ErrorKind::malformed, "tensor '" + label_of(tensor->name) + "': " + rule,
                  {.file = file, .key = "data offset " + std::to_string(tensor->begin)});
    }
    at = tensor->end;
  }
  if (at != data_bytes) {
    throw Error(ErrorKind::malformed, std::to_string(data_bytes - at) + " bytes after the last tensor's data",
                {.file = file, .key = "data offset " + std::to_string(at)});
  }
}

std::uint64_t header_bytes(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kPrefixBytes) {
    throw Error(ErrorKind::malformed, "too short for a safetensors file: " + std::to_string(bytes.size()) + " bytes",
                {.file = file, .offset = bytes.size()});
  }
  std::uint64_t count = 0;
  std::memcpy(&count, bytes.data(), kPrefixBytes);
  if (count > kMostHeaderBytes) {
    throw Error(ErrorKind::malformed,
                "header of " + std::to_string(count) + " bytes; the limit is " + std::to_string(kMostHeaderBytes),
                {.file = file, .offset = 0});
  }
  if (count > bytes.size() - kPrefixBytes) {
    throw Error(ErrorKind::malformed, "file ends within the header of " + std::to_string(count) + " bytes",
                {.file = file, .offset = bytes.size()});
  }
  return count;
}

}  // namespace

void write_safetensors(std::span<const NamedTensor> tensors, const Sink& sink) {
  check_names(tensors);
  const std::vector<const NamedTensor*> ordered = in_file_order(tensors);
  const std::string header = header_of(ordered);
  const std::uint64_t count = header.size();
  sink(std::as_bytes(std::span(&count, 1)));
  sink(std::as_bytes(std::span(header)));
  for (const NamedTensor* tensor : ordered) {
    const Tensor value = tensor->value.contiguous() ? tensor->value : tensor->value.clone();
    sink({value.raw(), value.bytes()});
  }
}

SafetensorsHeader read_safetensors_header(std::span<const std::byte> file_bytes, const std::string& file) {
  const std::uint64_t count = header_bytes(file_bytes, file);
  const std::string_view text(reinterpret_cast<const char*>(file_bytes.data()) + kPrefixBytes, count);
  if (!text.starts_with('{')) {
    throw Error(ErrorKind::malformed, "header does not begin with '{'", {.file = file, .offset = kPrefixBytes});
  }
  const std::uint64_t data_begin = kPrefixBytes + count;
  const std::uint64_t data_bytes = file_bytes.size() - data_begin;
  HeaderReader reader(data_bytes, file);
  read_json(text, file, reader,
            {.bytes = kMostHeaderBytes, .members = kMostTensors, .values = 16 * kMostTensors, .origin = kPrefixBytes});
  SafetensorsHeader header{.tensors = reader.take(), .data_begin = data_begin};
  check_coverage(header.tensors, data_bytes, file);
  std::sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return header;
}

SafetensorsFile::SafetensorsFile(MappedFile mapped, std::string file)
    : mapped_(std::move(mapped)), file_(std::move(file)), header_(read_safetensors_header(mapped_.bytes(), file_)) {}

Tensor SafetensorsFile::read(std::string_view name) const {
  const auto& list = header_.tensors;
  const auto found = std::lower_bound(list.begin(), list.end(), name,
                                      [](const StoredTensor& t, std::string_view n) { return t.name < n; });
  if (found == list.end() || found->name != name) {
    throw Error(ErrorKind::incompatible, "no tensor '" + label_of(name) + "'", {.file = file_});
  }
  return read(*found);
}

std::vector<NamedTensor> SafetensorsFile::read_all() const {
  std::vector<NamedTensor> tensors;
  tensors.reserve(header_.tensors.size());
  for (const StoredTensor& stored : header_.tensors) tensors.push_back({stored.name, read(stored)});
  return tensors;
}

Tensor SafetensorsFile::read(const StoredTensor& stored) const {
  if (stored.dtype != name_of(DType::f32) && stored.dtype != name_of(DType::f64)) {
    throw Error(ErrorKind::incompatible,
                "tensor '" + label_of(stored.name) + "' is " + std::string(stored.dtype) + "; F32 and F64 are read",
                {.file = file_});
  }
  Tensor tensor = Tensor::empty(stored.shape, stored.dtype == name_of(DType::f32) ? DType::f32 : DType::f64);
  const auto bytes = mapped_.bytes().subspan(header_.data_begin + stored.begin, stored.end - stored.begin);
  if (!bytes.empty()) std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace dikkat::formats
