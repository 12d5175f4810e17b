// Texts become one stream of tokens with a fixed split: the first floor(0.9 n) tokens train, the rest validate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/text/tokenizer.h"

namespace dikkat::data {

enum class Split : std::uint8_t { train, validation, all };

struct Corpus {
  std::vector<text::Token> tokens;
  std::size_t train_count = 0;  // floor(0.9 n)
  std::string fingerprint;      // see Texts::fingerprint
  std::size_t skipped = 0;      // unknown characters that were left out

  [[nodiscard]] std::span<const text::Token> part(Split split) const;
};

// The texts in memory together, cleaned for the character tokenizer (see clean_text) or as they are. "-" is standard
// input, once. Error{io}, Error{malformed} as MappedFile and clean_text; Error{malformed} when all are empty;
// Error{limit} for more than kLargestStandardInput bytes of standard input.
inline constexpr std::size_t kLargestStandardInput = std::size_t{4} << 30U;

class Texts {
 public:
  enum class Cleaning : std::uint8_t { characters, none };
  Texts(const std::vector<std::filesystem::path>& paths, Cleaning cleaning);
  ~Texts();
  Texts(Texts&&) noexcept;

  [[nodiscard]] const std::vector<std::string_view>& views() const;
  // The bytes of text `index` before any cleaning (what of standard input is to be kept, for instance).
  [[nodiscard]] std::string_view raw(std::size_t index) const;
  // What errors call text `index`: its path, or "standard input".
  [[nodiscard]] const std::string& name(std::size_t index) const;
  // 32 hex digits: XXH3-128 over the raw bytes of all texts in order, each preceded by its length as 64-bit
  // little-endian. Names do not enter.
  [[nodiscard]] std::string fingerprint() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

// The tokenizer of the texts' whole vocabulary, and the corpus of the texts by a tokenizer (unknown characters refused,
// with file, line and column, or skipped and counted).
[[nodiscard]] std::unique_ptr<text::Tokenizer> character_tokenizer_of(const Texts& texts);
[[nodiscard]] Corpus tokenized(const Texts& texts, const text::Tokenizer& tokenizer,
                               text::UnknownPolicy unknown = text::UnknownPolicy::refuse);

// Before step 0: a window is context + 1 tokens, and one must fit the training part and one the validation part.
// Error{malformed} naming the largest context that works, if any does; `name` is what the error calls the text.
void check_windows(const Corpus& corpus, std::size_t context, const std::string& name = {});

}  // namespace dikkat::data
