#include "dikkat/inspect/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/random/shuffle.h"

namespace dikkat::inspect {
namespace {

// A set of `count` numbers below `bound`, each set equally likely, ascending (Floyd; Bentley 1987).
std::set<std::uint64_t> drawn_set(std::uint64_t bound, std::uint64_t count, random::Stream stream) {
  std::set<std::uint64_t> drawn;
  for (std::uint64_t last = bound - count; last < bound; ++last) {
    const random::Counter counter{static_cast<std::uint32_t>(last), static_cast<std::uint32_t>(last >> 32U), 0, 0};
    const std::uint64_t number = random::below(stream, counter, last + 1);
    if (!drawn.insert(number).second) drawn.insert(last);
  }
  return drawn;
}

}  // namespace

std::size_t windows_held(std::size_t tokens, std::size_t length) { return tokens == 0 ? 0 : (tokens - 1) / length; }

std::vector<std::size_t> windows_over(std::span<const text::Token> tokens, std::size_t length, std::size_t count,
                                      std::uint64_t seed) {
  if (length == 0 || count == 0) throw Error(ErrorKind::internal, "windows of no tokens, or none");
  const std::size_t held = windows_held(tokens.size(), length);
  if (held == 0) {
    throw Error(ErrorKind::malformed,
                fmt::format("a text of {} {} holds no window of {} and what follows", tokens.size(),
                            tokens.size() == 1 ? "token" : "tokens", length),
                {.hint = tokens.size() < 2
                             ? "give a longer text"
                             : fmt::format("give a longer text, or take windows of at most {}", tokens.size() - 1)});
  }
  count = std::min(count, held);
  // Windows shrunk to one place each leave so many places: a set of them, and the windows blown up again.
  const std::size_t free = tokens.size() - 1 - count * length;
  std::vector<std::size_t> starts;
  starts.reserve(count);
  for (const std::uint64_t place : drawn_set(free + count, count, random::stream(seed, "inspect windows"))) {
    starts.push_back(static_cast<std::size_t>(place) + starts.size() * (length - 1));
  }
  return starts;
}

std::vector<std::size_t> drawn_order(random::Stream stream, std::uint32_t place, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  random::shuffle(std::span(order), stream, [place](std::size_t i) {
    return random::Counter{place, static_cast<std::uint32_t>(i + 1), 0, 0};
  });
  return order;
}

void fill(std::span<const text::Token> tokens, std::span<const std::size_t> starts, std::size_t length,
          data::Batch& batch) {
  batch.inputs.clear();
  batch.targets.clear();
  batch.lengths.assign(starts.size(), length);
  for (const std::size_t start : starts) {
    if (start >= tokens.size() || length >= tokens.size() - start) {
      throw Error(ErrorKind::internal,
                  fmt::format("window of {} at {} reaches past {} tokens", length, start, tokens.size()));
    }
    const std::span<const text::Token> inputs = tokens.subspan(start, length);
    batch.inputs.insert(batch.inputs.end(), inputs.begin(), inputs.end());
    for (const text::Token target : tokens.subspan(start + 1, length)) {
      batch.targets.push_back(static_cast<std::int32_t>(target));
    }
  }
  batch.rows.lay_out(batch.lengths, length);
}

}  // namespace dikkat::inspect
