#include "dikkat/lessons/self_attention_words.h"

#include <fmt/format.h>

#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/kernels/normal_fill.h"
#include "dikkat/text/utf8.h"

namespace dikkat::lessons {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

Matrix projection(const kernels::Executor& executor, const WordAttention& options, std::string_view which) {
  Matrix matrix(options.width, options.heads * options.head_width);
  const double deviation = std::sqrt(2.0 / static_cast<double>(options.width + options.head_width));
  kernels::normal_fill<double>(executor, random::stream(options.seed, "attend projection", which), deviation,
                               matrix.values.data(), matrix.values.size());
  return matrix;
}

void require_width(bool fits, std::size_t given, const char* key) {
  if (fits) return;
  throw Error(ErrorKind::usage,
              fmt::format("--{} takes a whole number from 1 to {}, not {}", key, kMostAttendedWidth, given),
              {.key = key, .hint = "choose one of these"});
}

}  // namespace

std::vector<std::string> words_of(std::string_view text, const std::string& name) {
  std::string buffer;
  const std::string_view clean = text::clean_text(text, buffer, name);
  std::vector<std::string> words;
  for (std::size_t from = clean.find_first_not_of(kBlanks); from != std::string_view::npos;) {
    const std::size_t end = std::min(clean.find_first_of(kBlanks, from), clean.size());
    words.emplace_back(clean.substr(from, end - from));
    from = clean.find_first_not_of(kBlanks, end);
  }
  return words;
}

void check_length(std::size_t tokens, std::string_view what) {
  if (tokens == 0) {
    throw Error(ErrorKind::usage, fmt::format("a text of no {} has nothing to attend to", what),
                {.key = "SENTENCE", .hint = "give at least one"});
  }
  if (tokens > kMostAttendedTokens) {
    throw Error(
        ErrorKind::limit,
        fmt::format("{} {} are too many for one table: attend takes {} at most", tokens, what, kMostAttendedTokens),
        {.key = "SENTENCE", .hint = "give a shorter text"});
  }
}

void check(const WordAttention& options, std::size_t words) {
  check_length(words, "words");
  const auto fits = [](std::size_t width) { return width >= 1 && width <= kMostAttendedWidth; };
  require_width(fits(options.width), options.width, "width");
  require_width(fits(options.heads), options.heads, "heads");
  require_width(fits(options.head_width), options.head_width, "head-width");
  if (options.heads * options.head_width > kMostAttendedWidth) {
    throw Error(ErrorKind::limit,
                fmt::format("{} heads of width {} are {} wide together, above {}", options.heads, options.head_width,
                            options.heads * options.head_width, kMostAttendedWidth),
                {.key = "head-width", .hint = "make them fewer or narrower"});
  }
  if (words * words * options.heads > kMostAttendedWeights) {
    throw Error(ErrorKind::limit,
                fmt::format("{} words and {} heads have {} weights, above {}", words, options.heads,
                            words * words * options.heads, kMostAttendedWeights),
                {.key = "heads", .hint = "take fewer heads or a shorter sentence"});
  }
}

Attended attention_on_words(const kernels::Executor& executor, const std::vector<std::string>& words,
                            const WordAttention& options) {
  check(options, words.size());
  Matrix x(words.size(), options.width);
  for (std::size_t r = 0; r < words.size(); ++r) {
    kernels::normal_fill<double>(executor, random::stream(options.seed, "attend word", words[r]), 1.0, x.row(r).data(),
                                 options.width);
  }
  return self_attention(executor, x,
                        {projection(executor, options, "query"), projection(executor, options, "key"),
                         projection(executor, options, "value")},
                        {.heads = options.heads, .mask = options.mask});
}

}  // namespace dikkat::lessons
