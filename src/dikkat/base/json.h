// JSON, read strictly: what a lenient reader would guess at is refused.
//
//   refused: duplicate keys, nesting deeper than the limit, invalid UTF-8, a byte order mark, NUL bytes, anything after
//   the value, numbers beyond double's range, files beyond the limit. Integers stay exact: 1.0 and 1e3 are reals and
//   never pass for a count; -3 is an integer and never passes for one either.
//
// Every refusal is Error{malformed} with file, byte offset where there is one, and the key's path ("model.width").
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"

namespace dikkat {

struct JsonMember;

// A JSON value. Objects keep the order in which their members were set.
class Json {
 public:
  // A whole number >= 0 is a count, a negative one an integer. The order is that of the alternatives of `value_`.
  enum class Kind : std::uint8_t { null, boolean, count, integer, real, string, array, object };

  Json();
  ~Json();
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  template <std::same_as<bool> B>
  Json(B value);
  template <std::unsigned_integral U>
    requires(!std::same_as<U, bool>)
  Json(U value);
  template <std::signed_integral I>
  Json(I value);
  // Error{internal} if it is not finite: JSON has no word for that.
  Json(double value);
  Json(std::string value);
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(value_.index()); }

  // Appends to an array; sets a member of an object (a key that is there is replaced in its place). Error{internal} on
  // another kind.
  Json& push(Json value);
  Json& set(std::string_view key, Json value);
  // As set, for a key known to be new: constant time.
  void append(std::string key, Json value);

  [[nodiscard]] const std::vector<Json>& items() const;          // of an array
  [[nodiscard]] const std::vector<JsonMember>& members() const;  // of an object
  [[nodiscard]] const Json* find(std::string_view key) const;    // in an object; nullptr when missing

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value_);
  }

 private:
  template <class T>
  T& need(const char* kind);

  std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string, std::vector<Json>,
               std::vector<JsonMember>>
      value_;
};

struct JsonMember {
  std::string key;
  Json value;
};

template <std::same_as<bool> B>
Json::Json(B value) : value_(value) {}
template <std::unsigned_integral U>
  requires(!std::same_as<U, bool>)
Json::Json(U value) : value_(static_cast<std::uint64_t>(value)) {}
template <std::signed_integral I>
Json::Json(I value) {
  if (value >= 0) {
    value_ = static_cast<std::uint64_t>(value);
  } else {
    value_ = static_cast<std::int64_t>(value);
  }
}

// JSON has no word for infinities and NaN: null stands for them.
[[nodiscard]] Json finite_or_null(double value);

enum class JsonLayout : std::uint8_t { line, indented };

// Shortest decimals that read back as the same double (always with a point or exponent: 1.0, -0.0), control characters
// escaped, everything else as UTF-8; bytes that are not UTF-8 become U+FFFD. `indented` ends with a line break.
[[nodiscard]] std::string text_of(const Json& json, JsonLayout layout = JsonLayout::line);
// `text` with quotes and escapes, as it stands in JSON.
void append_json_string(std::string_view text, std::string& out);
// Whether `text` is well-formed UTF-8 (no overlong forms, surrogates, or code points above U+10FFFF).
[[nodiscard]] bool is_utf8(std::string_view text);
// A name out of a file, fit for an error line: at most 80 bytes, control characters and broken UTF-8 escaped.
[[nodiscard]] std::string label_of(std::string_view name);

struct JsonLimits {
  std::size_t bytes = std::size_t{16} << 20U;
  std::size_t depth = 64;
  std::size_t members = std::size_t{1} << 18U;  // of one object
  std::size_t values = std::size_t{1} << 21U;   // in all
  std::size_t origin = 0;                       // of the text in its file, added to offsets
};

// Receives a document in order, without building it. `offset`: the byte in the file just past what was read. Throw to
// stop.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual void begin_object(std::size_t offset) = 0;
  virtual void key(std::string& name, std::size_t offset) = 0;  // may be moved from
  virtual void end_object(std::size_t offset) = 0;
  virtual void begin_array(std::size_t offset) = 0;
  virtual void end_array(std::size_t offset) = 0;
  virtual void scalar(Json value, std::size_t offset) = 0;
};

// `file` is only named in errors.
void read_json(std::string_view text, const std::string& file, JsonHandler& handler, const JsonLimits& limits = {});
[[nodiscard]] Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits = {});

// A place in a document that knows its path, so that what is missing or wrong there can be named. Views the document.
class JsonAt {
 public:
  JsonAt(const Json& value, std::string file, std::string path = {})
      : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

  [[nodiscard]] const Json& value() const { return *value_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_null() const { return value_->kind() == Json::Kind::null; }

  // Each refuses any other kind.
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::uint64_t count() const;   // a whole number >= 0 written without sign, point or exponent
  [[nodiscard]] std::int64_t integer() const;  // a whole number that fits, written without point or exponent
  [[nodiscard]] double real() const;           // any number
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] std::vector<JsonAt> items() const;
  [[nodiscard]] std::vector<std::string> keys() const;

  // The member or item; refuses when it is missing.
  [[nodiscard]] JsonAt operator[](std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
  // Refuses members other than these, with the nearest of them.
  void allow_only(const std::vector<std::string>& known) const;

  // Error{malformed} with `rule` at this place.
  [[noreturn]] void refuse(std::string rule, std::string hint = {}) const;

 private:
  const Json* value_;
  std::string file_;
  std::string path_;
};

// Settings structs (see fields.h) as objects: every field, in the order the struct names them.
template <class S>
[[nodiscard]] Json to_json(const S& settings) {
  Json object = Json::object();
  S::fields(settings, [&](const char* name, const auto& field, const char*) {
    if constexpr (NamedEnum<std::remove_cvref_t<decltype(field)>>) {
      object.set(name, text_of(field));
    } else {
      object.set(name, field);
    }
  });
  return object;
}

namespace json_detail {

template <class T>
void read_field(const JsonAt& at, T& field) {
  if constexpr (std::is_same_v<T, bool>) {
    field = at.boolean();
  } else if constexpr (NamedEnum<T>) {
    const auto value = enum_named<T>(at.string());
    if (!value) at.refuse("'" + label_of(at.string()) + "' is not " + domain_of<T>());
    field = *value;
  } else if constexpr (std::is_floating_point_v<T>) {
    field = at.real();
  } else if constexpr (std::is_integral_v<T>) {
    field = at.count();
  } else {
    field = at.string();
  }
}

}  // namespace json_detail

// Every field must be there, and nothing else.
template <class S>
[[nodiscard]] S from_json(const JsonAt& at) {
  S settings;
  std::vector<std::string> known;
  S::fields(settings, [&](const char* name, auto&, const char*) { known.emplace_back(name); });
  at.allow_only(known);
  S::fields(settings, [&](const char* name, auto& field, const char*) { json_detail::read_field(at[name], field); });
  return settings;
}

struct FieldDifference {
  std::string name;
  std::string ours;
  std::string theirs;
};

// The fields in which two settings differ, in the struct's order.
template <class S>
[[nodiscard]] std::vector<FieldDifference> differences(const S& ours, const S& theirs) {
  std::vector<FieldDifference> differing;
  const Json a = to_json(ours);
  const Json b = to_json(theirs);
  for (std::size_t i = 0; i < a.members().size(); ++i) {
    const auto& [name, value] = a.members()[i];
    std::string left = text_of(value);
    std::string right = text_of(b.members()[i].value);
    if (left != right) differing.push_back({name, std::move(left), std::move(right)});
  }
  return differing;
}

}  // namespace dikkat
