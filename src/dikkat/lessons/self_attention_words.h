// Attention on the words of any sentence, without a model: every word has a random vector of its own, and so have the
// projections. What `dikkat attend` shows where no model is named.
//
//   vector of a word   `width` standard normals from the stream (seed, "attend word", the word): the same word has the
//                      same vector wherever it stands, and places do not matter
//   Wq, Wk, Wv         (width, heads * head_width) normals of deviation sqrt(2 / (width + head_width)), from the
//   streams
//                      (seed, "attend projection", "query" | "key" | "value")
// Counter-based (random/streams.h): a word's vector depends on no other word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/lessons/self_attention.h"

namespace dikkat::lessons {

// At blanks, tabs and line ends, as many as there are; what is between them is a word. Error{malformed} where the text
// is not UTF-8; `name` is what it is called there.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text, const std::string& name);

struct WordAttention {
  std::uint64_t seed = 1;
  std::size_t width = 16;
  std::size_t heads = 2;
  std::size_t head_width = 8;
  kernels::Mask mask = {.direction = kernels::Direction::bidirectional};
};

inline constexpr std::size_t kMostAttendedTokens = 1024;
inline constexpr std::size_t kMostAttendedWidth = 4096;                     // of vectors, and of all heads together
inline constexpr std::size_t kMostAttendedWeights = std::size_t{1} << 24U;  // of all heads

// Error{usage} for nothing to attend to, widths of 0 or above kMostAttendedWidth; Error{limit} above
// kMostAttendedTokens or kMostAttendedWeights.
void check(const WordAttention& options, std::size_t words);
// The same of a text's tokens alone. `what`: "words", "tokens".
void check_length(std::size_t tokens, std::string_view what);

[[nodiscard]] Attended attention_on_words(const kernels::Executor& executor, const std::vector<std::string>& words,
                                          const WordAttention& options);

}  // namespace dikkat::lessons
