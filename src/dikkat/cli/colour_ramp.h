// From a share in [0,1] to the colour of a heat map, dark violet over red and orange to pale yellow: ever brighter, so
// that it reads without hues, too.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "dikkat/cli/heat_map.h"

namespace dikkat::cli {

using Rgb = std::array<std::uint8_t, 3>;
[[nodiscard]] Rgb ramp(double share);
// The nearest of xterm's 240 fixed colours (16 to 255).
[[nodiscard]] unsigned nearest_of_256(const Rgb& colour);

enum class Letters : std::uint8_t { none, readable };
// What stands in an SGR sequence to make this the colour of the ground, with letters readable on it; of letters alone.
// Empty for depth none and for NaN.
[[nodiscard]] std::string ground_codes(double share, ColourDepth depth, Letters letters);
[[nodiscard]] std::string letter_codes(double share, ColourDepth depth);

}  // namespace dikkat::cli
