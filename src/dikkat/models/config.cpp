#include "dikkat/models/config.h"

#include <cmath>
#include <limits>
#include <string>

#include "dikkat/base/error.h"

namespace dikkat::models {
namespace {

// Above this no size is a model's: products of a few stay within 64 bits.
constexpr std::size_t kLargestSize = std::size_t{1} << 24U;

[[noreturn]] void refuse(const std::string& field, const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, field + ": " + what, {.key = field, .hint = hint});
}

void check_size(const std::string& field, std::size_t value, std::size_t least) {
  if (value < least) refuse(field, std::to_string(value) + " is too small", "give at least " + std::to_string(least));
  if (value > kLargestSize) {
    refuse(field, std::to_string(value) + " is too large", "give at most " + std::to_string(kLargestSize));
  }
}

void check_rate(const std::string& field, double value) {
  if (value >= 0 && value < 1) return;
  refuse(field, text_of(value) + " is not a probability below one", "give a number in [0, 1)");
}

// Sizes that are legal one by one may still multiply beyond 64 bits: what parameter_count adds up, in doubles.
void check_product(const Config& config) {
  const auto real = [](std::size_t size) { return static_cast<double>(size); };
  const double heads = real(config.heads) * real(config.head_width_or_default());
  const double block = real(config.width) * 4 * (heads + real(config.mlp_width_or_default()));
  const double rest = real(config.width) * (2 * real(config.vocabulary) + real(config.context));
  if (real(config.layers) * block + rest < 0x1.0p48) return;
  refuse("width", std::to_string(config.width) + " is too large with these layers, heads, vocabulary and context",
         "keep the model below 2^48 parameters");
}

// The nearest sizes to `value` that `unit` divides: "124 or 128".
std::string nearest_multiples(std::size_t value, std::size_t unit) {
  const std::size_t below = value / unit * unit;
  const std::string above = std::to_string(below + unit);
  return below == 0 ? above : std::to_string(below) + " or " + above;
}

// The nearest divisors of `value` around `near`, and 1, which always divides: "1, 4 or 8".
std::string nearest_divisors(std::size_t value, std::size_t near) {
  std::size_t below = std::min(near, value);
  while (value % below != 0) --below;
  std::size_t above = near + 1;
  while (above <= value && value % above != 0) ++above;
  std::string list = below > 1 ? "1" : "";
  const auto last = [&](std::size_t divisor) { list += (list.empty() ? "" : " or ") + std::to_string(divisor); };
  if (above > value) {
    last(below);
    return list;
  }
  list += (list.empty() ? "" : ", ") + std::to_string(below);
  last(above);
  return list;
}

}  // namespace

void check(const Config& config) {
  check_size("vocabulary", config.vocabulary, 1);
  check_size("context", config.context, 1);
  check_size("width", config.width, 1);
  check_size("layers", config.layers, 1);
  check_size("heads", config.heads, 1);
  check_size("kv-heads", config.kv_heads, 0);
  check_size("head-width", config.head_width, 0);
  check_size("mlp-width", config.mlp_width, 0);
  check_size("window", config.window, 0);
  if (config.head_width == 0 && config.width % config.heads != 0) {
    refuse("width", std::to_string(config.width) + " is not a multiple of " + std::to_string(config.heads) + " heads",
           "give width " + nearest_multiples(config.width, config.heads) + ", heads " +
               nearest_divisors(config.width, config.heads) + ", or a head-width of its own");
  }
  if (config.heads % config.kv_heads_or_default() != 0) {
    refuse("kv-heads", std::to_string(config.kv_heads) + " does not divide " + std::to_string(config.heads) + " heads",
           "give " + nearest_divisors(config.heads, config.kv_heads));
  }
  if (config.position == PositionKind::rotary && config.head_width_or_default() % 2 != 0) {
    refuse("head-width",
           "rotary positions turn pairs of channels; " + std::to_string(config.head_width_or_default()) + " is odd",
           "give head-width " + nearest_multiples(config.head_width_or_default(), 2) + ", or another position");
  }
  if (!(config.rotary_base > 1) || std::isinf(config.rotary_base)) {
    refuse("rotary-base", text_of(config.rotary_base) + " is not a number above 1", "give 10000");
  }
  if (!(config.norm_epsilon > 0) || std::isinf(config.norm_epsilon)) {
    refuse("norm-epsilon", text_of(config.norm_epsilon) + " is not a positive number", "give 1e-5");
  }
  check_rate("dropout", config.dropout);
  check_rate("attention-dropout", config.attention_dropout);
  check_product(config);
}

std::size_t parameter_count(const Config& config) {
  const std::size_t c = config.width;
  const std::size_t f = config.mlp_width_or_default();
  const std::size_t queries = config.heads * config.head_width_or_default();
  const std::size_t joint = queries + 2 * config.kv_heads_or_default() * config.head_width_or_default();
  const std::size_t up = kernels::input_width(config.activation, f);

  const bool norm_bias = config.norm_bias && config.norm == NormKind::layer;
  const std::size_t norm = config.norm == NormKind::none ? 0 : (norm_bias ? 2 * c : c);
  const std::size_t attention = c * joint + queries * c + (config.attention_bias ? joint + c : 0);
  const std::size_t mlp = c * up + f * c + (config.mlp_bias ? up + c : 0);
  const bool final_norm = config.placement == Placement::pre;

  std::size_t total = config.vocabulary * c + config.layers * (2 * norm + attention + mlp);
  if (config.position == PositionKind::learned) total += config.context * c;
  if (final_norm) total += norm;
  if (config.output == OutputKind::free) total += c * config.vocabulary;
  if (config.output_bias) total += config.vocabulary;
  return total;
}

}  // namespace dikkat::models
