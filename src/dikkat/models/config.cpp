#include "dikkat/models/config.h"

#include <cmath>
#include <limits>
#include <string>

#include "dikkat/base/error.h"

namespace dikkat::models {
namespace {

bool is_series(const Config& config) { return config.task != Task::next_token; }

bool pools_by_query(const Config& config) {
  return is_series(config) && config.pooling == PoolingKind::attention_query;
}

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

void check_absent(const std::string& field, std::size_t value, const std::string& why) {
  if (value != 0) refuse(field, std::to_string(value) + " where " + why, "give 0");
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
  const double ends = 2 * real(config.vocabulary) + real(config.context) + real(config.channels) + 1;
  const double pooling = pools_by_query(config) ? 2 * heads * (real(config.width) + 1) : 0;
  const double read_out = (real(config.width) + heads) * real(config.outputs);
  if (real(config.layers) * block + real(config.width) * ends + pooling + read_out < 0x1.0p48) return;
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

void check_text(const Config& config) {
  check_size("vocabulary", config.vocabulary, 1);
  check_absent("channels", config.channels, "a text has none");
  check_absent("outputs", config.outputs, "a model of text has one for each token of its vocabulary");
}

void check_series(const Config& config) {
  check_absent("vocabulary", config.vocabulary, "a series has none");
  check_size("channels", config.channels, 1);
  check_size("outputs", config.outputs, 1);
  if (config.task == Task::regress && config.outputs != 1) {
    refuse("outputs", std::to_string(config.outputs) + " is too many: a series has one number to learn", "give 1");
  }
  if (config.input == InputKind::raw && config.width != config.channels) {
    refuse("width",
           std::to_string(config.width) + " is not the number of channels, " + std::to_string(config.channels) +
               ", and raw input is not mapped",
           "give width " + std::to_string(config.channels) + ", or input embedded");
  }
}

void check_heads(const Config& config) {
  if (config.head_width == 0 && config.width % config.heads != 0) {
    refuse("width", std::to_string(config.width) + " is not a multiple of " + std::to_string(config.heads) + " heads",
           "give width " + nearest_multiples(config.width, config.heads) + ", heads " +
               nearest_divisors(config.width, config.heads) + ", or a head-width of its own");
  }
}

// What only blocks ask of heads.
void check_block_heads(const Config& config) {
  if (config.heads % config.kv_heads_or_default() != 0) {
    refuse("kv-heads", std::to_string(config.kv_heads) + " does not divide " + std::to_string(config.heads) + " heads",
           "give " + nearest_divisors(config.heads, config.kv_heads));
  }
  if (config.position == PositionKind::rotary && config.head_width_or_default() % 2 != 0) {
    refuse("head-width",
           "rotary positions turn pairs of channels; " + std::to_string(config.head_width_or_default()) + " is odd",
           "give head-width " + nearest_multiples(config.head_width_or_default(), 2) + ", or another position");
  }
}

// Schemes that act inside attention have nothing to act on.
void check_without_blocks(const Config& config) {
  if (config.position == PositionKind::rotary || config.position == PositionKind::alibi) {
    refuse("position", std::string(text_of(config.position)) + " acts in the blocks, and there are none",
           "give none, learned or sinusoidal, or at least one layer");
  }
}

}  // namespace

void check(const Config& config) {
  is_series(config) ? check_series(config) : check_text(config);
  check_size("context", config.context, 1);
  check_size("width", config.width, 1);
  check_size("layers", config.layers, is_series(config) ? 0 : 1);
  check_size("heads", config.heads, 1);
  check_size("kv-heads", config.kv_heads, 0);
  check_size("head-width", config.head_width, 0);
  check_size("mlp-width", config.mlp_width, 0);
  check_size("window", config.window, 0);
  if (config.layers > 0 || pools_by_query(config)) check_heads(config);
  config.layers > 0 ? check_block_heads(config) : check_without_blocks(config);
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

namespace {

// Without embedding and output.
std::size_t body_count(const Config& config, std::size_t positions) {
  const std::size_t c = config.width;
  const std::size_t f = config.mlp_width_or_default();
  const std::size_t queries = config.heads * config.head_width_or_default();
  const std::size_t joint = queries + 2 * config.kv_heads_or_default() * config.head_width_or_default();
  const std::size_t up = kernels::input_width(config.activation, f);

  const bool norm_bias = config.norm_bias && config.norm == NormKind::layer;
  const std::size_t norm = config.norm == NormKind::none ? 0 : (norm_bias ? 2 * c : c);
  const std::size_t attention = c * joint + queries * c + (config.attention_bias ? joint + c : 0);
  const std::size_t mlp = c * up + f * c + (config.mlp_bias ? up + c : 0);

  std::size_t total = config.layers * (2 * norm + attention + mlp);
  if (config.position == PositionKind::learned) total += positions * c;
  if (config.placement == Placement::pre) total += norm;
  return total;
}

std::size_t text_count(const Config& config) {
  std::size_t total = config.vocabulary * config.width + body_count(config, config.context);
  if (config.output == OutputKind::free) total += config.width * config.vocabulary;
  if (config.output_bias) total += config.vocabulary;
  return total;
}

std::size_t series_count(const Config& config) {
  const std::size_t c = config.width;
  const std::size_t token = config.pooling == PoolingKind::class_token ? 1 : 0;
  const std::size_t queries = config.heads * config.head_width_or_default();
  const std::size_t pooled = pools_by_query(config) ? queries : c;

  std::size_t total = body_count(config, config.context + token) + token * c + pooled * config.outputs;
  if (config.input == InputKind::embedded) total += config.channels * c;
  if (pools_by_query(config)) total += c * 2 * queries + queries;
  if (config.output_bias) total += config.outputs;
  return total;
}

}  // namespace

std::size_t parameter_count(const Config& config) {
  return is_series(config) ? series_count(config) : text_count(config);
}

}  // namespace dikkat::models
