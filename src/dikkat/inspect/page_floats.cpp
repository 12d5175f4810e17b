#include "dikkat/inspect/page_floats.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace dikkat::inspect {
namespace {

constexpr std::uint32_t kFractionBits = 23;
constexpr std::uint32_t kLongestUnary = 16;

std::uint32_t exponent_of(float value) { return (std::bit_cast<std::uint32_t>(value) >> kFractionBits) & 0xffU; }

std::byte low_byte(std::uint32_t word) { return static_cast<std::byte>(word & 0xffU); }

class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& out) : out_(out) {}

  void write(std::uint32_t value, unsigned count) {
    pending_ = (pending_ << count) | value;
    for (held_ += count; held_ >= 8; held_ -= 8) {
      out_.push_back(low_byte(static_cast<std::uint32_t>(pending_ >> (held_ - 8))));
    }
  }
  void finish() {
    if (held_ != 0) write(0, 8 - held_);
  }

 private:
  std::vector<std::byte>& out_;
  std::uint64_t pending_ = 0;
  unsigned held_ = 0;  // bits of pending_ not yet written
};

void write_distance(BitWriter& bits, std::uint32_t distance) {
  const std::uint32_t ones = std::min(distance / 2, kLongestUnary);
  bits.write((1U << ones) - 1U, ones);
  if (ones == kLongestUnary) return bits.write(distance, 8);
  bits.write(distance % 2, 2);  // the zero that ends the unary part, then the lowest bit
}

}  // namespace

std::vector<std::byte> packed_floats(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, exponent_of(value));
  std::vector<std::byte> out;
  out.reserve(1 + values.size() * 7 / 2);
  out.push_back(low_byte(largest));
  for (const float value : values) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign_and_fraction = ((word >> 31U) << kFractionBits) | (word & 0x7fffffU);
    for (const unsigned shift : {16U, 8U, 0U}) out.push_back(low_byte(sign_and_fraction >> shift));
  }
  BitWriter bits(out);
  for (const float value : values) write_distance(bits, largest - exponent_of(value));
  bits.finish();
  return out;
}

std::string base64(std::span<const std::byte> bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 3; ++b) {
      word = (word << 8U) | (b < count ? std::to_integer<std::uint32_t>(bytes[i + b]) : 0U);
    }
    for (std::size_t d = 0; d < 4; ++d) text += d <= count ? kDigits[(word >> (18 - 6 * d)) & 63U] : '=';
  }
  return text;
}

}  // namespace dikkat::inspect
