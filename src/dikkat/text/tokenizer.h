// Text to token ids and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dikkat::text {

using Token = std::uint32_t;

// A piece of text the tokenizer has no token for.
struct Unknown {
  std::size_t offset = 0;  // byte in the text
  std::size_t line = 1;    // 1-based, as is column (in characters)
  std::size_t column = 1;
  std::string character;  // UTF-8, or the single byte where the text is not; `escaped` shows it
};

enum class UnknownPolicy : std::uint8_t { refuse, skip };

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // "char" or "byte".
  [[nodiscard]] virtual std::string_view kind() const = 0;
  [[nodiscard]] virtual std::size_t vocabulary() const = 0;
  // The bytes a token stands for; Error{usage} for an id outside the vocabulary.
  [[nodiscard]] virtual std::string_view bytes_of(Token token) const = 0;
  // Appends the text's tokens. `refuse`: Error{incompatible} naming the unknown characters with line and column (the
  // first ten, and how many there are), `tokens` as it was. `skip`: leaves them out and returns them.
  virtual std::vector<Unknown> encode(std::string_view text, UnknownPolicy policy,
                                      std::vector<Token>& tokens) const = 0;

  [[nodiscard]] std::vector<Token> encode(std::string_view text) const;
  [[nodiscard]] std::string decode(std::span<const Token> tokens) const;

  // JSON that `tokenizer_from` reads back: {"kind":"char","characters":[" ", ...]} or {"kind":"byte"}.
  [[nodiscard]] virtual std::string to_json() const = 0;
  // 32 hex digits of XXH3-128 of to_json(): two tokenizers are the same iff it is equal.
  [[nodiscard]] std::string fingerprint() const;
};

// Sorted distinct code points of the texts, which are clean (see clean_text in utf8.h). Error{malformed} for invalid
// UTF-8, no text at all, or a single distinct character.
[[nodiscard]] std::unique_ptr<Tokenizer> character_tokenizer(std::span<const std::string_view> texts);
[[nodiscard]] std::unique_ptr<Tokenizer> character_tokenizer(std::string_view text);
// Of these code points, sorted and distinct, at least two; Error{internal} otherwise.
[[nodiscard]] std::unique_ptr<Tokenizer> character_tokenizer(std::vector<std::uint32_t> code_points);
// 256 tokens, one a byte; encodes anything, round-trips anything.
[[nodiscard]] std::unique_ptr<Tokenizer> byte_tokenizer();
// Error{malformed} with key and rule, Error{incompatible} for a kind this version does not know. `file` is named in
// errors.
[[nodiscard]] std::unique_ptr<Tokenizer> tokenizer_from(std::string_view json, const std::string& file);

}  // namespace dikkat::text
