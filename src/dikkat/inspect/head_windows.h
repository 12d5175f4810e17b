// What heads are looked at on: windows spread over a text, and windows of repeated random tokens, on which only
// induction can say what comes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dikkat/text/tokenizer.h"

namespace dikkat::inspect {

struct HeadWindows {
  std::size_t length = 0;             // T, of every window
  std::vector<text::Token> text;      // (W T) window after window
  std::vector<text::Token> repeated;  // (W T) likewise; empty where nothing can be repeated (see `repeat_random`)
  std::vector<std::size_t> periods;   // (W) after how many tokens each repeated window repeats itself; empty likewise

  [[nodiscard]] std::size_t count() const { return length == 0 ? 0 : text.size() / length; }
  [[nodiscard]] std::span<const text::Token> text_window(std::size_t w) const {
    return std::span(text).subspan(w * length, length);
  }
  [[nodiscard]] std::span<const text::Token> repeated_window(std::size_t w) const {
    return std::span(repeated).subspan(w * length, length);
  }
  // `count` of them, spread evenly over all.
  [[nodiscard]] HeadWindows spread(std::size_t count) const;
  // 32 hex digits of XXH3-128 over all of it.
  [[nodiscard]] std::string fingerprint() const;
};

// The window that is number i of `wanted` spread over `all`: floor(i all / wanted).
[[nodiscard]] constexpr std::size_t spread_window(std::size_t i, std::size_t all, std::size_t wanted) {
  return i * all / wanted;
}

struct HeadWindowsOptions {
  std::size_t length = 0;      // T, at least 2
  std::size_t count = 50;      // W; fewer when the text holds fewer
  std::size_t vocabulary = 0;  // V
  std::uint64_t seed = 1;
};

// Windows of the text as windows_over draws them (Error{malformed} when it holds none), and as many repeated ones.
[[nodiscard]] HeadWindows head_windows(std::span<const text::Token> tokens, const HeadWindowsOptions& options);

// One window of `length` tokens: a block of `period` distinct random tokens, over and over. A function of (seed,
// window). Every window has a period of its own, uniform in [max(3, ceil(n/2)), n], n = min(T/2, V): a head that always
// looks the same way back is no induction head and shall not pass for one. Tokens of a block are distinct, so that the
// previous occurrence of a token is one place. Shorter blocks than 3 cannot tell induction from looking at the previous
// token: with T < 6 or V < 3 there are no repeated windows (period 0).
struct RepeatedWindow {
  std::vector<text::Token> tokens;
  std::size_t period = 0;
};
[[nodiscard]] RepeatedWindow repeat_random(std::size_t length, std::size_t vocabulary, std::uint64_t seed,
                                           std::uint64_t window);

// The tokens of all text windows in another order, each order equally likely (Fisher and Yates); a function of (seed,
// draw). The repeated windows are left out.
[[nodiscard]] HeadWindows shuffled(const HeadWindows& windows, std::uint64_t seed, std::uint64_t draw);

}  // namespace dikkat::inspect
