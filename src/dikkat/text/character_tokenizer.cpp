#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/text/ascii_run.h"
#include "dikkat/text/tokenizer.h"
#include "dikkat/text/utf8.h"

namespace dikkat::text {
namespace {

constexpr std::size_t kAscii = 128;
constexpr std::size_t kCodePoints = 0x110000;
constexpr std::size_t kPageSize = 256;
constexpr std::size_t kUnknownsNamed = 10;
constexpr Token kNone = ~Token{0};  // no code point has it: ids are below kCodePoints

// Token ids by code point: a table for ASCII, pages of 256 for the rest, of which few are ever made.
class TokenTable {
 public:
  explicit TokenTable(const std::vector<std::uint32_t>& code_points) : pages_(kPageSize, kNone) {
    ascii_.fill(kNone);
    for (std::size_t token = 0; token < code_points.size(); ++token) {
      set(code_points[token], static_cast<Token>(token));
    }
  }

  [[nodiscard]] Token ascii(char c) const { return ascii_[static_cast<unsigned char>(c) % kAscii]; }
  [[nodiscard]] Token of(std::uint32_t code_point) const {
    if (code_point < kAscii) return ascii_[code_point];
    return pages_[std::size_t{page_[code_point / kPageSize]} * kPageSize + code_point % kPageSize];
  }

 private:
  void set(std::uint32_t code_point, Token token) {
    if (code_point < kAscii) {
      ascii_[code_point] = token;
      return;
    }
    std::uint16_t& page = page_[code_point / kPageSize];
    if (page == 0) {
      page = static_cast<std::uint16_t>(pages_.size() / kPageSize);
      pages_.resize(pages_.size() + kPageSize, kNone);
    }
    pages_[std::size_t{page} * kPageSize + code_point % kPageSize] = token;
  }

  std::array<Token, kAscii> ascii_{};
  std::array<std::uint16_t, kCodePoints / kPageSize> page_{};  // 0: the page that knows nothing
  std::vector<Token> pages_;
};

// Every character has one byte that is no continuation; so this bounds the characters of any text.
std::size_t most_characters(std::string_view text) {
  const auto begins_one = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_one));
}

[[noreturn]] void refuse_unknown(const std::vector<Unknown>& first, std::size_t count) {
  const char* characters_are = count == 1 ? "character is" : "characters are";
  std::string message = fmt::format("{} {} unknown to the tokenizer:", count, characters_are);
  const char* separator = " ";
  for (const Unknown& u : first) {
    message += fmt::format("{}'{}' at line {}, column {}", separator, escaped(u.character), u.line, u.column);
    separator = "; ";
  }
  if (count > first.size()) message += fmt::format("; and {} more", count - first.size());
  throw Error(ErrorKind::incompatible, message,
              {.offset = first.front().offset,
               .key = fmt::format("line {}, column {}", first.front().line, first.front().column),
               .hint = "leave them out, or train a model whose text has them"});
}

// Finds where the unknown characters are, walking the text once however many there are.
class UnknownFinder {
 public:
  UnknownFinder(std::string_view text, std::size_t kept) : text_(text), kept_(kept) {}

  void add(std::size_t begin, std::size_t end) {
    if (count_++ >= kept_) return;
    advance(position_, text_, seen_, begin);
    seen_ = begin;
    found_.push_back({.offset = begin,
                      .line = position_.line,
                      .column = position_.column,
                      .character = std::string(text_.substr(begin, end - begin))});
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::vector<Unknown>& found() { return found_; }

 private:
  std::string_view text_;
  std::size_t kept_;
  std::size_t count_ = 0;
  std::size_t seen_ = 0;
  Position position_;
  std::vector<Unknown> found_;
};

class CharacterTokenizer final : public Tokenizer {
 public:
  explicit CharacterTokenizer(const std::vector<std::uint32_t>& code_points) : table_(code_points) {
    for (const std::uint32_t code_point : code_points) {
      bytes_ += utf8_of(code_point);
      ends_.push_back(bytes_.size());
    }
  }

  [[nodiscard]] std::string_view kind() const override { return "char"; }
  [[nodiscard]] std::size_t vocabulary() const override { return ends_.size(); }

  [[nodiscard]] std::string_view bytes_of(Token token) const override {
    if (token >= ends_.size()) {
      throw Error(ErrorKind::usage, fmt::format("token {} is outside the vocabulary of {}", token, ends_.size()));
    }
    const std::size_t begin = token == 0 ? 0 : ends_[token - 1];
    return std::string_view(bytes_).substr(begin, ends_[token] - begin);
  }

  [[nodiscard]] std::string to_json() const override {
    Json characters = Json::array();
    for (Token token = 0; token < vocabulary(); ++token) characters.push(bytes_of(token));
    Json document = Json::object();
    document.set("kind", kind()).set("characters", std::move(characters));
    return text_of(document);
  }

  using Tokenizer::encode;
  std::vector<Unknown> encode(std::string_view text, UnknownPolicy policy, std::vector<Token>& tokens) const override {
    const std::size_t had = tokens.size();
    tokens.resize(had + most_characters(text));
    const bool refuse = policy == UnknownPolicy::refuse;
    UnknownFinder unknown(text, refuse ? kUnknownsNamed : text.size());
    const std::size_t put = encode_into(text, std::span(tokens).subspan(had), unknown);
    if (refuse && unknown.count() != 0) {
      tokens.resize(had);
      refuse_unknown(unknown.found(), unknown.count());
    }
    tokens.resize(had + put);
    return std::move(unknown.found());
  }

 private:
  // Tokens written to `room`, which holds one for each character counted before. The text may lie in a file that
  // somebody writes to meanwhile: then there can be more of them.
  std::size_t encode_into(std::string_view text, std::span<Token> room, UnknownFinder& unknown) const {
    Token* const begin = room.data();
    Token* const end = begin + room.size();
    Token* out = begin;
    for (std::size_t at = 0; at < text.size();) {
      if (static_cast<std::size_t>(end - out) >= kAsciiRun && ascii_run_at(text, at) &&
          encode_ascii_run(text.data() + at, out)) {
        at += kAsciiRun;
        out += kAsciiRun;
        continue;
      }
      if (out == end) {
        throw Error(ErrorKind::io, "the text changed while it was read", {.hint = "leave the file alone meanwhile"});
      }
      const std::size_t character = at;
      const std::uint32_t code_point = next_code_point(text, at);
      if (code_point == kInvalid) ++at;
      const Token token = code_point == kInvalid ? kNone : table_.of(code_point);
      if (token == kNone) {
        unknown.add(character, at);
      } else {
        *out++ = token;
      }
    }
    return static_cast<std::size_t>(out - begin);
  }

  // False if one of the characters is unknown; then `out` holds nothing of use.
  bool encode_ascii_run(const char* text, Token* out) const {
    Token any = 0;
    for (std::size_t i = 0; i < kAsciiRun; ++i) any |= out[i] = table_.ascii(text[i]);
    return any != kNone;
  }

  TokenTable table_;
  std::string bytes_;              // of all characters, joined
  std::vector<std::size_t> ends_;  // where each ends in it
};

// The code points seen, as a set of flags.
class SeenCharacters {
 public:
  void add(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      if (ascii_run_at(text, at)) {
        for (std::size_t i = 0; i < kAsciiRun; ++i) flags_[static_cast<unsigned char>(text[at + i])] = 1;
        at += kAsciiRun;
        continue;
      }
      const std::uint32_t code_point = next_code_point(text, at);
      if (code_point == kInvalid) {
        throw Error(ErrorKind::malformed, "invalid UTF-8", {.offset = at, .hint = "use the byte tokenizer"});
      }
      flags_[code_point] = 1;
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> code_points() const {
    std::vector<std::uint32_t> found;
    for (std::size_t c = 0; c < kCodePoints; ++c) {
      if (flags_[c] != 0) found.push_back(static_cast<std::uint32_t>(c));
    }
    return found;
  }

 private:
  std::vector<char> flags_ = std::vector<char>(kCodePoints);
};

}  // namespace

std::unique_ptr<Tokenizer> character_tokenizer(std::span<const std::string_view> texts) {
  SeenCharacters seen;
  for (const std::string_view text : texts) seen.add(text);
  std::vector<std::uint32_t> found = seen.code_points();
  if (found.size() < 2) {
    const std::string rule = found.empty() ? "the text is empty"
                                           : fmt::format("the text has one distinct character, '{}', nothing to learn",
                                                         escaped(utf8_of(found[0])));
    throw Error(ErrorKind::malformed, rule, {.hint = "give a text with at least two different characters"});
  }
  return character_tokenizer(std::move(found));
}

std::unique_ptr<Tokenizer> character_tokenizer(std::string_view text) {
  return character_tokenizer(std::span(&text, 1));
}

std::unique_ptr<Tokenizer> character_tokenizer(std::vector<std::uint32_t> code_points) {
  const auto misplaced = std::adjacent_find(code_points.begin(), code_points.end(), std::greater_equal<>());
  if (code_points.size() < 2 || misplaced != code_points.end()) {
    throw Error(ErrorKind::internal, "a character tokenizer needs two or more code points, ascending, each once");
  }
  return std::make_unique<CharacterTokenizer>(code_points);
}

}  // namespace dikkat::text
