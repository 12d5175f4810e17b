#include "dikkat/base/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace dikkat {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::array<char, 16> kHex{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Length of the well-formed character at `at` (Unicode 15, table 3-7); 0 if there is none.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4 || !continues(text, at + 1)) return 0;
  if (lead < 0xE0) return 2;
  const unsigned second = byte(at + 1);
  if (!continues(text, at + 2)) return 0;
  if (lead < 0xF0) return (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ? 0 : 3;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return continues(text, at + 3) ? 4 : 0;
}

void append_escape(char byte, std::string& out) {
  const auto code = static_cast<unsigned char>(byte);
  switch (byte) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  out += "\\u00";
  out += kHex[code >> 4U];
  out += kHex[code & 15U];
}

void append_real(double value, std::string& out) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

class Writer {
 public:
  Writer(JsonLayout layout, std::string& out) : layout_(layout), out_(out) {}

  void value(const Json& json) {
    switch (json.kind()) {
      case Json::Kind::null: out_ += "null"; break;
      case Json::Kind::boolean: out_ += *json.as<bool>() ? "true" : "false"; break;
      case Json::Kind::count: out_ += std::to_string(*json.as<std::uint64_t>()); break;
      case Json::Kind::integer: out_ += std::to_string(*json.as<std::int64_t>()); break;
      case Json::Kind::real: append_real(*json.as<double>(), out_); break;
      case Json::Kind::string: append_json_string(*json.as<std::string>(), out_); break;
      case Json::Kind::array: items(json.items()); break;
      case Json::Kind::object: members(json.members()); break;
    }
  }

 private:
  void items(const std::vector<Json>& list) {
    out_ += '[';
    const char* separator = "";
    for (const Json& item : list) {
      out_ += separator;
      value(item);
      separator = layout_ == JsonLayout::line ? "," : ", ";
    }
    out_ += ']';
  }

  void members(const std::vector<JsonMember>& list) {
    out_ += '{';
    ++depth_;
    const char* separator = "";
    for (const auto& [key, member] : list) {
      out_ += separator;
      new_line();
      append_json_string(key, out_);
      out_ += layout_ == JsonLayout::line ? ":" : ": ";
      value(member);
      separator = ",";
    }
    --depth_;
    if (!list.empty()) new_line();
    out_ += '}';
  }

  void new_line() {
    if (layout_ == JsonLayout::line) return;
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  JsonLayout layout_;
  std::string& out_;
  std::size_t depth_ = 0;
};

const char* name_of(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::null: return "null";
    case Json::Kind::boolean: return "true or false";
    case Json::Kind::count: return "a whole number >= 0";
    case Json::Kind::integer: return "a signed whole number";
    case Json::Kind::real: return "a number with point or exponent";
    case Json::Kind::string: return "text";
    case Json::Kind::array: return "a list";
    case Json::Kind::object: return "an object";
  }
  return "?";
}

}  // namespace

Json::Json() = default;
Json::~Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::Json(std::string value) : value_(std::move(value)) {}

Json::Json(double value) : value_(value) {
  if (!std::isfinite(value)) throw Error(ErrorKind::internal, "a number that is not finite cannot stand in JSON");
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json Json::array() {
  Json json;
  json.value_ = std::vector<Json>{};
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = std::vector<JsonMember>{};
  return json;
}

template <class T>
T& Json::need(const char* kind) {
  T* held = std::get_if<T>(&value_);
  if (held == nullptr) {
    throw Error(ErrorKind::internal, std::string("JSON value is ") + name_of(this->kind()) + ", not " + kind);
  }
  return *held;
}

Json& Json::push(Json value) {
  need<std::vector<Json>>("a list").push_back(std::move(value));
  return *this;
}

Json& Json::set(std::string_view key, Json value) {
  auto& list = need<std::vector<JsonMember>>("an object");
  for (JsonMember& member : list) {
    if (member.key == key) {
      member.value = std::move(value);
      return *this;
    }
  }
  list.push_back({std::string(key), std::move(value)});
  return *this;
}

void Json::append(std::string key, Json value) {
  need<std::vector<JsonMember>>("an object").push_back({std::move(key), std::move(value)});
}

const std::vector<Json>& Json::items() const { return const_cast<Json*>(this)->need<std::vector<Json>>("a list"); }

const std::vector<JsonMember>& Json::members() const {
  return const_cast<Json*>(this)->need<std::vector<JsonMember>>("an object");
}

const Json* Json::find(std::string_view key) const {
  for (const JsonMember& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

namespace {

// The code point of a character of two or three bytes that steers a terminal or turns the direction of writing: U+0080
// to U+009F, U+202A to U+202E, U+2066 to U+2069. 0 for any other.
unsigned steering(std::string_view character) {
  const auto bits = [&](std::size_t at, unsigned mask) { return static_cast<unsigned char>(character[at]) & mask; };
  if (character.size() == 2) {
    const unsigned code = bits(0, 0x1FU) << 6U | bits(1, 0x3FU);
    return code < 0xA0 ? code : 0;
  }
  if (character.size() != 3) return 0;
  const unsigned code = bits(0, 0x0FU) << 12U | bits(1, 0x3FU) << 6U | bits(2, 0x3FU);
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ? code : 0;
}

void append_code_point(unsigned code, std::string& out) {
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kHex[code >> shift & 15U];
}

}  // namespace

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const char byte = text[at];
    const std::size_t length = character_at(text, at);
    if (static_cast<unsigned char>(byte) < 0x20 || byte == '"' || byte == '\\' || byte == 0x7F) {
      append_escape(byte, out);
    } else if (const unsigned code = steering(text.substr(at, length)); code != 0) {
      append_code_point(code, out);
    } else {
      out += length == 0 ? kReplacement : text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  out += '"';
}

std::string label_of(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string label;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = character_at(name, at);
    const auto byte = static_cast<unsigned char>(name[at]);
    const bool plain = length > 0 && byte >= 0x20 && byte != 0x7F && steering(name.substr(at, length)) == 0;
    if (label.size() + (plain ? length : 4) > kLongest) return label + "...";
    if (plain) {
      label += name.substr(at, length);
    } else {
      label += "\\x";
      label += kHex[byte >> 4U];
      label += kHex[byte & 15U];
    }
    at += plain ? length : 1;
  }
  return label;
}

std::string text_of(const Json& json, JsonLayout layout) {
  std::string out;
  Writer(layout, out).value(json);
  if (layout == JsonLayout::indented) out += '\n';
  return out;
}

void JsonAt::refuse(std::string rule, std::string hint) const {
  throw Error(ErrorKind::malformed, std::move(rule),
              {.file = file_, .key = path_.empty() ? "top level" : path_, .hint = std::move(hint)});
}

namespace {

[[noreturn]] void wrong_kind(const JsonAt& at, const char* wanted) {
  at.refuse(std::string("expected ") + wanted + ", got " + name_of(at.value().kind()));
}

template <class T>
const T& need(const JsonAt& at, const char* wanted) {
  const T* held = at.value().as<T>();
  if (held == nullptr) wrong_kind(at, wanted);
  return *held;
}

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? label_of(key) : path + "." + label_of(key);
}

}  // namespace

bool JsonAt::boolean() const { return need<bool>(*this, "true or false"); }
std::uint64_t JsonAt::count() const { return need<std::uint64_t>(*this, "a whole number >= 0"); }
const std::string& JsonAt::string() const { return need<std::string>(*this, "text"); }

std::int64_t JsonAt::integer() const {
  if (const auto* count = value_->as<std::uint64_t>()) {
    if (*count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse("whole number does not fit 64 bits with a sign");
    }
    return static_cast<std::int64_t>(*count);
  }
  return need<std::int64_t>(*this, "a whole number");
}

double JsonAt::real() const {
  if (const auto* count = value_->as<std::uint64_t>()) return static_cast<double>(*count);
  if (const auto* integer = value_->as<std::int64_t>()) return static_cast<double>(*integer);
  return need<double>(*this, "a number");
}

std::vector<JsonAt> JsonAt::items() const {
  const auto& list = need<std::vector<Json>>(*this, "a list");
  std::vector<JsonAt> places;
  places.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    places.emplace_back(list[i], file_, path_ + "[" + std::to_string(i) + "]");
  }
  return places;
}

std::vector<std::string> JsonAt::keys() const {
  std::vector<std::string> names;
  for (const JsonMember& member : need<std::vector<JsonMember>>(*this, "an object")) names.push_back(member.key);
  return names;
}

bool JsonAt::has(std::string_view key) const {
  need<std::vector<JsonMember>>(*this, "an object");
  return value_->find(key) != nullptr;
}

JsonAt JsonAt::operator[](std::string_view key) const {
  if (!has(key)) refuse("'" + label_of(key) + "' is missing");
  return {*value_->find(key), file_, joined(path_, key)};
}

void JsonAt::allow_only(const std::vector<std::string>& known) const {
  for (const std::string& key : keys()) {
    bool expected = false;
    for (const std::string& name : known) expected = expected || name == key;
    if (expected) continue;
    const auto near = nearest_name(key, known);
    refuse("unknown key '" + label_of(key) + "'", near ? "did you mean '" + *near + "'?" : "");
  }
}

}  // namespace dikkat
