#include "dikkat/random/numpy_compatible.h"

#include <bit>
#include <cmath>

namespace dikkat::random {
namespace {

constexpr std::uint32_t kPoolHash = 0x43B0D7E5U;
constexpr std::uint32_t kPoolHashStep = 0x931E8875U;
constexpr std::uint32_t kStateHash = 0x8B51F9DDU;
constexpr std::uint32_t kStateHashStep = 0x58F38DEDU;
constexpr std::uint32_t kMixLeft = 0xCA01F9DDU;
constexpr std::uint32_t kMixRight = 0x4973F715U;

constexpr Word128 kMultiplier = {0x2360ED051FC65DA4U, 0x4385DF649FCCF645U};

// One word hashed; the constant moves on with every word.
std::uint32_t hashed(std::uint32_t word, std::uint32_t& constant, std::uint32_t step) {
  word ^= constant;
  constant *= step;
  word *= constant;
  return word ^ (word >> 16U);
}

std::uint32_t mixed(std::uint32_t into, std::uint32_t word) {
  const std::uint32_t result = kMixLeft * into - kMixRight * word;
  return result ^ (result >> 16U);
}

Word128 product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a_low = a & 0xFFFFFFFFU;
  const std::uint64_t a_high = a >> 32U;
  const std::uint64_t b_low = b & 0xFFFFFFFFU;
  const std::uint64_t b_high = b >> 32U;
  const std::uint64_t middle = a_high * b_low + (a_low * b_low >> 32U);
  const std::uint64_t carry = (middle & 0xFFFFFFFFU) + a_low * b_high;
  return {a_high * b_high + (middle >> 32U) + (carry >> 32U), a * b};
}

// Both modulo 2^128.
Word128 times(const Word128& a, const Word128& b) {
  Word128 result = product(a.low, b.low);
  result.high += a.high * b.low + a.low * b.high;
  return result;
}
Word128 plus(const Word128& a, const Word128& b) {
  const std::uint64_t low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1U : 0U), low};
}

constexpr std::size_t kLayers = 256;
constexpr long double kLastEdge = 3.6541528853610087963519472518L;  // r: where the lowest layer's tail begins
constexpr long double kMagnitudes = 0x1p52L;

// Layer i > 0 reaches from 0 to x_i: x_255 = r, and x_(i-1) follows from x_i, since all have one area; x_0 = 0. Layer 0
// is the lowest strip with the tail beyond r.
struct Layers {
  std::array<std::uint64_t, kLayers> inside{};  // a magnitude below it is under the curve for certain
  std::array<double, kLayers> width{};          // of one unit of magnitude
  std::array<double, kLayers> height{};         // of the curve exp(-x^2/2) at the layer's edge
};

long double curve(long double x) { return std::exp(-0.5L * x * x); }

Layers made_layers() {
  const long double half_pi_root = 1.2533141373155002512078826424L;  // sqrt(pi / 2)
  const long double area = kLastEdge * curve(kLastEdge) + half_pi_root * std::erfc(kLastEdge / std::sqrt(2.0L));
  const long double base = area / curve(kLastEdge);  // width the lowest layer would have as a rectangle
  const auto set = [](Layers& layers, std::size_t i, long double edge, long double width, long double height) {
    layers.inside[i] = static_cast<std::uint64_t>(edge / width * kMagnitudes);
    layers.width[i] = static_cast<double>(width / kMagnitudes);
    layers.height[i] = static_cast<double>(height);
  };
  Layers layers;
  set(layers, 0, kLastEdge, base, 1.0L);
  long double edge = kLastEdge;
  for (std::size_t i = kLayers - 1; i > 0; --i) {
    const long double above = i == 1 ? 0.0L : std::sqrt(-2.0L * std::log(area / edge + curve(edge)));
    set(layers, i, above, edge, curve(edge));
    edge = above;
  }
  return layers;
}

const Layers& layers() {
  static const Layers made = made_layers();
  return made;
}

// -log(1 - u), exact near 0.
double exponential_of(double uniform) { return static_cast<double>(-std::log1p(-static_cast<long double>(uniform))); }

}  // namespace

std::optional<std::vector<std::uint32_t>> entropy_words(std::string_view decimal) {
  if (decimal.empty() || decimal.size() > kMostSeedDigits || (decimal.size() > 1 && decimal.front() == '0')) return {};
  std::vector<std::uint32_t> words{0};
  for (const char digit : decimal) {
    if (digit < '0' || digit > '9') return {};
    auto carry = static_cast<std::uint64_t>(digit - '0');
    for (std::uint32_t& word : words) {
      carry += std::uint64_t{word} * 10;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    if (carry != 0) words.push_back(static_cast<std::uint32_t>(carry));
  }
  return words;
}

std::vector<std::uint32_t> entropy_words(std::uint64_t seed) {
  std::vector<std::uint32_t> words{static_cast<std::uint32_t>(seed)};
  if (seed >> 32U != 0) words.push_back(static_cast<std::uint32_t>(seed >> 32U));
  return words;
}

SeedSequence::SeedSequence(std::span<const std::uint32_t> entropy) {
  std::uint32_t constant = kPoolHash;
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    pool_[i] = hashed(i < entropy.size() ? entropy[i] : 0, constant, kPoolHashStep);
  }
  for (std::size_t from = 0; from < pool_.size(); ++from) {
    for (std::size_t to = 0; to < pool_.size(); ++to) {
      if (from != to) pool_[to] = mixed(pool_[to], hashed(pool_[from], constant, kPoolHashStep));
    }
  }
  for (std::size_t i = pool_.size(); i < entropy.size(); ++i) {
    for (std::uint32_t& word : pool_) word = mixed(word, hashed(entropy[i], constant, kPoolHashStep));
  }
}

std::vector<std::uint32_t> SeedSequence::state(std::size_t count) const {
  std::vector<std::uint32_t> words;
  std::uint32_t constant = kStateHash;
  for (std::size_t i = 0; i < count; ++i) words.push_back(hashed(pool_[i % pool_.size()], constant, kStateHashStep));
  return words;
}

Pcg64::Pcg64(const SeedSequence& seeds) {
  const std::vector<std::uint32_t> words = seeds.state(8);
  const auto word = [&](std::size_t i) { return std::uint64_t{words[2 * i + 1]} << 32U | words[2 * i]; };
  const Word128 start = {word(0), word(1)};
  increment_ = {word(2) << 1U | word(3) >> 63U, word(3) << 1U | 1U};
  step();
  state_ = plus(state_, start);
  step();
}

void Pcg64::step() { state_ = plus(times(state_, kMultiplier), increment_); }

std::uint64_t Pcg64::next() {
  step();
  return std::rotr(state_.high ^ state_.low, static_cast<int>(state_.high >> 58U));
}

double NumpyGenerator::uniform() { return static_cast<double>(raw() >> 11U) * 0x1p-53; }

// A word's lowest 8 bits are the layer, the next its sign, the next 52 the magnitude.
double NumpyGenerator::normal() {
  const Layers& table = layers();
  for (;;) {
    const std::uint64_t word = raw();
    const std::size_t layer = word & 0xFFU;
    const std::uint64_t magnitude = (word >> 9U) & 0xFFFFFFFFFFFFFU;
    const double distance = static_cast<double>(magnitude) * table.width[layer];
    const double x = (word >> 8U & 1U) != 0 ? -distance : distance;
    if (magnitude < table.inside[layer]) return x;
    if (layer == 0) return tail(magnitude);
    const double above = table.height[layer - 1];
    const double below = table.height[layer];
    if ((above - below) * uniform() + below < static_cast<double>(curve(static_cast<long double>(x)))) return x;
  }
}

// Marsaglia 1964: beyond r by two exponentials; the sign is a bit of the magnitude.
double NumpyGenerator::tail(std::uint64_t magnitude) {
  constexpr auto kEdge = static_cast<double>(kLastEdge);
  for (;;) {
    const double beyond = exponential_of(uniform()) * static_cast<double>(1.0L / kLastEdge);
    const double height = exponential_of(uniform());
    if (height + height > beyond * beyond) return (magnitude >> 8U & 1U) != 0 ? -(kEdge + beyond) : kEdge + beyond;
  }
}

void NumpyGenerator::fill_normal(double deviation, std::span<double> out) {
  for (double& value : out) value = deviation * normal();
}

}  // namespace dikkat::random
