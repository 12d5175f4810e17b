// XXH3-128: the fingerprint of texts, tokenizers and checkpoint files. Fast, and good against accident; not against
// malice (see sha256.h). Seed 0; written as the 32 hex digits of its canonical, big-endian form, as `xxhsum -H2` does.
// Source: the XXH3 specification of the xxHash library.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dikkat {

[[nodiscard]] std::string xxh3_128_hex(std::span<const std::byte> bytes);
[[nodiscard]] inline std::string xxh3_128_hex(std::string_view text) {
  return xxh3_128_hex(std::as_bytes(std::span(text)));
}

// The same over bytes that arrive in pieces; how they were cut does not matter.
class Xxh3Stream {
 public:
  Xxh3Stream();
  ~Xxh3Stream();
  Xxh3Stream(Xxh3Stream&&) noexcept;
  Xxh3Stream& operator=(Xxh3Stream&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // Of everything so far; more may follow.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dikkat
