// How the page stores numbers: exact 32-bit floats, smaller than their four bytes, as text that needs no escaping.
//
// Packed: one byte E, the largest biased exponent of the block; three bytes for each value, sign and 23 bits of
// fraction, most significant first; then for each value, as bits from the most significant of each byte on, the
// distance of its exponent from E in a Rice code: distance / 2 in unary (ones ended by a zero), then distance % 2.
// Sixteen ones stand without a zero and are followed by the whole distance in 8 bits. Normal values take 27.5 bits on
// average, none more than 48. Base64 (RFC 4648, with padding) makes text of it. web/page/floats.js reads both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dikkat::inspect {

[[nodiscard]] std::vector<std::byte> packed_floats(std::span<const float> values);
[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

}  // namespace dikkat::inspect
