// The strict face over nlohmann-json: its event reader does the grammar, this file the rules it leaves out.
#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "dikkat/base/json.h"

namespace dikkat {
namespace {

// Walks the text and leaves behind how far the reader has come, which its events don't tell.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Cursor& a, const Cursor& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// What the library's message means, in our words: its own quotes the bytes it met, of any length and kind.
std::string_view fault_in(std::string_view message) {
  struct Fault {
    std::string_view part;
    std::string_view meaning;
  };
  constexpr std::array kFaults{
      Fault{"; expected end of input", "something stands after its end"},
      Fault{"unexpected end of input", "it ends too early"},
      Fault{"ill-formed UTF-8", "a text that is not UTF-8"},
      Fault{"missing closing quote", "a text without its closing quote"},
      Fault{"control character", "a control character in a text"},
      Fault{"invalid string", "an escape in a text that JSON does not know"},
      Fault{"invalid number", "a number that is not written as JSON's are"},
      Fault{"parsing object key", "a name in quotes is missing"},
      Fault{"invalid literal", "a word that is none of true, false and null"},
      Fault{"parsing object separator", "the colon after a name is missing"},
      Fault{"parsing object", "a comma or a closing brace is missing"},
      Fault{"parsing array", "a comma or a closing bracket is missing"},
  };
  for (const Fault& fault : kFaults) {
    if (message.find(fault.part) != std::string_view::npos) return fault.meaning;
  }
  return "a value is missing";
}

std::string reason_of(const nlohmann::json::exception& error) {
  if (error.id == 406) return "number beyond the range of a double";
  // Without the bytes it quotes, which could say anything.
  std::string message = error.what();
  const std::size_t quoted = message.find("; last read: '");
  if (quoted != std::string::npos) {
    const std::size_t rest = message.rfind('\'');
    message.erase(quoted, rest - quoted + 1);
  }
  return "not valid JSON: " + std::string(fault_in(message));
}

// Where a run of bytes outside strings (a number, a literal, blanks) grows past any sense: the library would keep a
// copy of it. Blanks at the end are dropped by the caller.
std::size_t overlong_run(std::string_view text) {
  constexpr std::size_t kLongestRun = std::size_t{1} << 20U;
  bool in_string = false;
  std::size_t begin = 0;  // of the run
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '"') {
      in_string = !in_string;
      begin = at + 1;
    } else if (in_string) {
      if (byte == '\\') ++at;
    } else if (byte == ',' || byte == ':' || byte == '[' || byte == ']' || byte == '{' || byte == '}') {
      begin = at + 1;
    } else if (at - begin > kLongestRun) {
      return at;
    }
  }
  return std::string_view::npos;
}

class Events {
 public:
  using binary_t = nlohmann::json::binary_t;

  Events(std::string_view text, const std::string& file, JsonHandler& handler, const JsonLimits& limits)
      : text_(text), file_(file), handler_(handler), limits_(limits), furthest_(text.data()) {}

  Cursor begin() { return {text_.data(), &furthest_}; }
  Cursor end() { return {text_.data() + text_.size(), &furthest_}; }

  bool null() { return scalar({}); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(std::int64_t value) { return value == 0 ? scalar(-0.0) : scalar(value); }  // -0 is no count
  bool number_unsigned(std::uint64_t value) { return scalar(value); }
  bool number_float(double value, const std::string&) { return scalar(value); }
  bool string(std::string& value) { return scalar(std::move(value)); }
  bool binary(binary_t&) { return false; }

  bool start_object(std::size_t) {
    enter();
    names_.emplace_back();
    handler_.begin_object(offset());
    return true;
  }
  bool key(std::string& name) {
    auto& names = names_.back();
    if (!names.insert(name).second) refuse("duplicate key '" + label_of(name) + "'");
    if (names.size() > limits_.members) refuse("object with more than " + std::to_string(limits_.members) + " keys");
    handler_.key(name, offset());
    return true;
  }
  bool end_object() {
    --depth_;
    names_.pop_back();
    handler_.end_object(offset());
    return true;
  }
  bool start_array(std::size_t) {
    enter();
    handler_.begin_array(offset());
    return true;
  }
  bool end_array() {
    --depth_;
    handler_.end_array(offset());
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
    // The position counts bytes read, the offending one (or the end) included.
    throw_at(reason_of(error), limits_.origin + std::min(position == 0 ? 0 : position - 1, text_.size()));
  }

  [[noreturn]] void throw_at(std::string rule, std::size_t where) const {
    throw Error(ErrorKind::malformed, std::move(rule), {.file = file_, .offset = where});
  }

 private:
  [[nodiscard]] std::size_t offset() const {
    return limits_.origin + static_cast<std::size_t>(furthest_ - text_.data());
  }
  [[noreturn]] void refuse(std::string rule) const { throw_at(std::move(rule), offset()); }

  bool scalar(Json value) {
    one_more();
    handler_.scalar(std::move(value), offset());
    return true;
  }
  void enter() {
    one_more();
    if (++depth_ > limits_.depth) refuse("JSON nested deeper than " + std::to_string(limits_.depth));
  }
  void one_more() {
    if (++values_ > limits_.values) refuse("JSON with more than " + std::to_string(limits_.values) + " values");
  }

  std::string_view text_;
  const std::string& file_;
  JsonHandler& handler_;
  const JsonLimits& limits_;
  const char* furthest_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  std::vector<std::unordered_set<std::string>> names_;  // of the open objects
};

class Builder final : public JsonHandler {
 public:
  void begin_object(std::size_t) override { open(Json::object()); }
  void key(std::string& name, std::size_t) override { keys_.push_back(std::move(name)); }
  void end_object(std::size_t) override { close(); }
  void begin_array(std::size_t) override { open(Json::array()); }
  void end_array(std::size_t) override { close(); }
  void scalar(Json value, std::size_t) override { put(std::move(value)); }

  Json take() { return std::move(root_); }

 private:
  void open(Json empty) { open_.push_back(std::move(empty)); }
  void close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    put(std::move(done));
  }
  void put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().kind() == Json::Kind::array) {
      open_.back().push(std::move(value));
    } else {
      open_.back().append(std::move(keys_.back()), std::move(value));
      keys_.pop_back();
    }
  }

  Json root_;
  std::vector<Json> open_;
  std::vector<std::string> keys_;
};

}  // namespace

void read_json(std::string_view text, const std::string& file, JsonHandler& handler, const JsonLimits& limits) {
  if (text.size() <= limits.bytes) text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  Events events(text, file, handler, limits);
  if (text.size() > limits.bytes) {
    events.throw_at("JSON of " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(limits.bytes),
                    limits.origin + limits.bytes);
  }
  // The library skips a byte order mark and takes a NUL for the end.
  if (text.starts_with("\xEF\xBB\xBF")) events.throw_at("JSON begins with a byte order mark", limits.origin);
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) events.throw_at("NUL byte in JSON", limits.origin + nul);
  const std::size_t run = overlong_run(text);
  if (run != std::string_view::npos) events.throw_at("overlong number or run of blanks in JSON", limits.origin + run);
  nlohmann::json::sax_parse(events.begin(), events.end(), &events);
}

Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits) {
  Builder builder;
  read_json(text, file, builder, limits);
  return builder.take();
}

}  // namespace dikkat
