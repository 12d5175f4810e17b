// How positions enter a model: three seams, and attention names none of the schemes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "dikkat/base/fields.h"
#include "dikkat/nn/parameter.h"

namespace dikkat::nn {

// Where queries and keys stand in a joint projection: the first `heads` heads of `width` columns.
struct RotatedHeads {
  std::size_t heads = 0;  // H + G
  std::size_t width = 0;  // D
};

class Position {
 public:
  virtual ~Position() = default;
  // After the model's parameters have been laid out: tables in the model's number.
  virtual void prepare(const kernels::Executor& /*executor*/, DType /*dtype*/) {}
  // Seam 1: x (R,C), the tokens' embedding -> with positions added.
  [[nodiscard]] virtual Variable add_to_embedding(Context& /*context*/, const Variable& x) const { return x; }
  // Seam 2: rotates the queries and keys of qkv (R, ...).
  [[nodiscard]] virtual Variable rotate(Context& /*context*/, const Variable& qkv,
                                        const RotatedHeads& /*heads*/) const {
    return qkv;
  }
  // Seam 3: slope of each head's linear penalty on distance; empty for none.
  [[nodiscard]] virtual std::span<const double> slopes() const { return {}; }
};

// The schemes, by name. To add one: a file of its own here, a line in this list and in the names below, and a case in
// position.cpp.
enum class PositionKind : std::uint8_t { none, learned, sinusoidal, sinusoidal_one, rotary, alibi };

struct PositionOptions {
  std::size_t context = 0;     // T
  std::size_t width = 0;       // C
  std::size_t heads = 1;       // H
  std::size_t head_width = 1;  // D
  double rotary_base = 10000.0;
  Init learned = {};
};
[[nodiscard]] std::unique_ptr<Position> make_position(PositionKind kind, ParameterStore& store,
                                                      const PositionOptions& options);

// Table position_embedding.weight (T,C), learned.
[[nodiscard]] std::unique_ptr<Position> learned_position(ParameterStore& store, const PositionOptions& options);
// Vaswani et al. 2017, section 3.5: channel 2i: sin(t / 10000^(2i/C)), channel 2i+1: cos of the same.
[[nodiscard]] std::unique_ptr<Position> sinusoidal_position(const PositionOptions& options);
// One frequency: channel 0: sin(pi t / (T-1)), channel 1: cos of the same, nothing in the others.
[[nodiscard]] std::unique_ptr<Position> single_sinusoid_position(const PositionOptions& options);
// kernels/rotary.h; head_width even.
[[nodiscard]] std::unique_ptr<Position> rotary_position(const PositionOptions& options);
// Press, Smith, Lewis 2022: slopes 2^(-8 h / H), h = 1..H, for H a power of two; otherwise those of the next lower
// power followed by every other slope of the next higher one.
[[nodiscard]] std::unique_ptr<Position> alibi_position(const PositionOptions& options);

}  // namespace dikkat::nn

namespace dikkat {

template <>
struct EnumNames<nn::PositionKind> {
  static constexpr std::array<std::pair<nn::PositionKind, std::string_view>, 6> names{
      {{nn::PositionKind::none, "none"},
       {nn::PositionKind::learned, "learned"},
       {nn::PositionKind::sinusoidal, "sinusoidal"},
       {nn::PositionKind::sinusoidal_one, "sinusoidal_one"},
       {nn::PositionKind::rotary, "rotary"},
       {nn::PositionKind::alibi, "alibi"}}};
};

}  // namespace dikkat
