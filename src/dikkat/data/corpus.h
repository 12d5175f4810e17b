// Texts become one stream of tokens with a fixed split: the first floor(0.9 n) tokens train, the rest validate.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dikkat/text/tokenizer.h"

namespace dikkat::data {

enum class Split : std::uint8_t { train, validation, all };

struct Corpus {
  std::vector<text::Token> tokens;
  std::size_t train_count = 0;  // floor(0.9 n)
  std::string fingerprint;      // 32 hex digits: XXH3-128 over the texts' bytes, joined in order, each preceded by its length

  [[nodiscard]] std::span<const text::Token> part(Split split) const;
};

// The texts as they stand (cleaned for the character tokenizer), in memory together. "-" is standard input. Error{io},
// Error{malformed} as MappedFile and clean_text; Error{malformed} when all are empty.
class Texts {
 public:
  enum class Cleaning : std::uint8_t { characters, none };
  Texts(const std::vector<std::filesystem::path>& paths, Cleaning cleaning);
  ~Texts();
  Texts(Texts&&) noexcept;

  [[nodiscard]] const std::vector<std::string_view>& views() const;
  [[nodiscard]] std::string fingerprint() const;

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

// The tokenizer of the texts' whole vocabulary, and the corpus of the texts by a tokenizer (unknown characters refused,
// with file, line and column).
[[nodiscard]] std::unique_ptr<text::Tokenizer> character_tokenizer_of(const Texts& texts);
[[nodiscard]] Corpus tokenized(const Texts& texts, const text::Tokenizer& tokenizer);

// Before step 0: Error{malformed} when a training window (context + 1 tokens) does not fit the training part or the
// validation part has no window, naming the largest context that works.
void check_windows(const Corpus& corpus, std::size_t context);

}  // namespace dikkat::data
