// SHA-256 (FIPS 180-4): the hash of the weights, which people compare across machines and may publish.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dikkat {

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // 64 hex digits of everything so far; more may follow.
  [[nodiscard]] std::string hex() const;

 private:
  static constexpr std::size_t kBlockBytes = 64;

  void compress(const std::byte* block);

  // First 32 bits of the fractional parts of the square roots of the first eight primes (section 5.3.3).
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> pending_{};  // the block being filled
  std::uint64_t total_bytes_ = 0;
};

[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);
[[nodiscard]] inline std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace dikkat
