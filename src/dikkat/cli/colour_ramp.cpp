#include "dikkat/cli/colour_ramp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dikkat::cli {
namespace {

constexpr std::array<Rgb, 5> kAnchors{{{22, 14, 46}, {92, 26, 112}, {184, 50, 92}, {240, 124, 48}, {252, 240, 164}}};
// Black, blue, magenta, red, yellow, white: the order of the sixteen's brightness on most terminals.
constexpr std::array<unsigned, 6> kSixteen{0, 4, 5, 1, 3, 7};
constexpr std::array<unsigned, 6> kCubeSteps{0, 95, 135, 175, 215, 255};
constexpr double kDarkBelow = 0.6;  // white letters there, black ones above

unsigned squared_distance(const Rgb& a, const std::array<unsigned, 3>& b) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const int difference = static_cast<int>(a[i]) - static_cast<int>(b[i]);
    sum += static_cast<unsigned>(difference * difference);
  }
  return sum;
}

// Colour `index` of xterm's 256, from 16 on: a cube of 6 x 6 x 6, then 24 greys.
std::array<unsigned, 3> fixed_colour(unsigned index) {
  if (index >= 232) {
    const unsigned grey = 8 + 10 * (index - 232);
    return {grey, grey, grey};
  }
  const unsigned cube = index - 16;
  return {kCubeSteps[cube / 36], kCubeSteps[cube / 6 % 6], kCubeSteps[cube % 6]};
}

unsigned sixteen(double share) {
  const auto level = static_cast<std::size_t>(share * static_cast<double>(kSixteen.size()));
  return kSixteen[std::min(level, kSixteen.size() - 1)];
}

// `base`: 30 for letters, 40 for the ground.
std::string colour_codes(double share, ColourDepth depth, unsigned base) {
  const Rgb colour = ramp(share);
  switch (depth) {
    case ColourDepth::none: return {};
    case ColourDepth::sixteen: return std::to_string(base + sixteen(share));
    case ColourDepth::many: return fmt::format("{};5;{}", base + 8, nearest_of_256(colour));
    case ColourDepth::full: return fmt::format("{};2;{};{};{}", base + 8, colour[0], colour[1], colour[2]);
  }
  return {};
}

}  // namespace

Rgb ramp(double share) {
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(kAnchors.size() - 1);
  const std::size_t from = std::min(static_cast<std::size_t>(place), kAnchors.size() - 2);
  const double part = place - static_cast<double>(from);
  Rgb colour{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double a = kAnchors[from][i];
    const double b = kAnchors[from + 1][i];
    colour[i] = static_cast<std::uint8_t>(std::lround(a + (b - a) * part));
  }
  return colour;
}

unsigned nearest_of_256(const Rgb& colour) {
  unsigned best = 16;
  for (unsigned index = 16; index < 256; ++index) {
    if (squared_distance(colour, fixed_colour(index)) < squared_distance(colour, fixed_colour(best))) best = index;
  }
  return best;
}

std::string ground_codes(double share, ColourDepth depth, Letters letters) {
  if (depth == ColourDepth::none || std::isnan(share)) return {};
  const std::string ground = colour_codes(share, depth, 40);
  if (letters == Letters::none) return ground;
  return (share < kDarkBelow ? "97;" : "30;") + ground;
}

std::string letter_codes(double share, ColourDepth depth) {
  return std::isnan(share) ? std::string() : colour_codes(share, depth, 30);
}

}  // namespace dikkat::cli
