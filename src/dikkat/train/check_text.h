// What can be wrong with a text before it is trained on.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "dikkat/data/corpus.h"
#include "dikkat/text/tokenizer.h"
#include "dikkat/train/check_finding.h"
#include "dikkat/train/settings.h"

namespace dikkat::train {

// encoding: not UTF-8 (offset, line, column), UTF-16; byte order marks at the start and inside; NUL; U+FFFD; UTF-8 that
// was taken for Latin-1 and encoded again. line-ends: CR LF, CR, and both mixed.
[[nodiscard]] Findings check_bytes(std::string_view bytes, const std::string& name, TokenizerKind tokenizer);

// Of the tokens as they are split:
//   size          neither part may be shorter than a window; a validation part of few windows says little
//   vocabulary    tokens that stand in the validation part only, which training never sees
//   duplicates    the share of the validation part that stands in the training part word for word: windows of
//                 kDuplicateTokens, and lines of at least kDuplicateLine tokens
//   amount        how often each token will be seen
inline constexpr std::size_t kDuplicateTokens = 48;
inline constexpr std::size_t kDuplicateLine = 24;
[[nodiscard]] Findings check_corpus(const data::Corpus& corpus, const text::Tokenizer& tokenizer,
                                    const models::Config& model, const Settings& settings, const std::string& name);

// Share (0 to 1) of `validation` that stands in `train`, in windows of `length` that do not overlap.
[[nodiscard]] double share_of_windows_in(std::span<const text::Token> train, std::span<const text::Token> validation,
                                         std::size_t length);
// The same of lines of at least `shortest` tokens, by their tokens; 0 if there are none. `line_end`: the token between.
[[nodiscard]] double share_of_lines_in(std::span<const text::Token> train, std::span<const text::Token> validation,
                                       text::Token line_end, std::size_t shortest);

}  // namespace dikkat::train
