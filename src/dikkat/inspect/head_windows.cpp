#include "dikkat/inspect/head_windows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/hash.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/random/shuffle.h"
#include "dikkat/random/streams.h"

namespace dikkat::inspect {
namespace {

constexpr std::size_t kShortestPeriod = 3;

void append(std::vector<text::Token>& to, std::span<const text::Token> from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

HeadWindows HeadWindows::spread(std::size_t wanted) const {
  const std::size_t all = count();
  if (wanted >= all) return *this;
  HeadWindows some{.length = length, .text = {}, .repeated = {}, .periods = {}};
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t w = spread_window(i, all, wanted);
    append(some.text, text_window(w));
    if (periods.empty()) continue;
    append(some.repeated, repeated_window(w));
    some.periods.push_back(periods[w]);
  }
  return some;
}

std::string HeadWindows::fingerprint() const {
  Xxh3Stream hash;
  hash.update("windows of " + std::to_string(length) + ": " + std::to_string(text.size()) + "\n");
  hash.update(std::as_bytes(std::span(text)));
  hash.update(std::as_bytes(std::span(repeated)));
  hash.update(std::as_bytes(std::span(periods)));
  return hash.hex();
}

RepeatedWindow repeat_random(std::size_t length, std::size_t vocabulary, std::uint64_t seed, std::uint64_t window) {
  const std::size_t longest = std::min(length / 2, vocabulary);
  if (longest < kShortestPeriod) return {};
  const std::size_t shortest = std::max(kShortestPeriod, (longest + 1) / 2);
  const random::Stream stream = random::substream(random::stream(seed, "repeated tokens"), window);
  const auto choices = longest - shortest + 1;
  const auto period = shortest + static_cast<std::size_t>(random::below(stream, {0, 0, 1, 0}, choices));
  std::vector<text::Token> block(vocabulary);
  std::iota(block.begin(), block.end(), text::Token{0});
  random::shuffle_first(std::span(block), period, stream);
  RepeatedWindow repeated{.tokens = std::vector<text::Token>(length), .period = period};
  for (std::size_t i = 0; i < length; ++i) repeated.tokens[i] = block[i % period];
  return repeated;
}

HeadWindows head_windows(std::span<const text::Token> tokens, const HeadWindowsOptions& options) {
  if (options.length < 2) throw Error(ErrorKind::internal, "windows of fewer than two tokens have nothing to look at");
  HeadWindows windows{.length = options.length, .text = {}, .repeated = {}, .periods = {}};
  for (const std::size_t start : windows_over(tokens, options.length, options.count, options.seed)) {
    append(windows.text, tokens.subspan(start, options.length));
    const std::size_t w = windows.count() - 1;
    const RepeatedWindow repeated = repeat_random(options.length, options.vocabulary, options.seed, w);
    if (repeated.period == 0) continue;
    append(windows.repeated, repeated.tokens);
    windows.periods.push_back(repeated.period);
  }
  return windows;
}

HeadWindows shuffled(const HeadWindows& windows, std::uint64_t seed, std::uint64_t draw) {
  HeadWindows other{.length = windows.length, .text = windows.text, .repeated = {}, .periods = {}};
  random::shuffle_first(std::span(other.text), other.text.size(),
                        random::substream(random::stream(seed, "shuffled tokens"), draw));
  return other;
}

}  // namespace dikkat::inspect
