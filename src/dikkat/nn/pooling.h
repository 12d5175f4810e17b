// How the steps of a series become one vector.
//   last             the last step's row; (C)
//   mean             the mean over the steps; (C)
//   attention_query  one learned query a head over keys and values of the steps (ops/pooling.h); (H D)
//   class_token      a learned row is put after the last step, goes through the blocks and is read out; (C)
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dikkat/base/fields.h"
#include "dikkat/nn/parameter.h"

namespace dikkat::nn {

enum class PoolingKind : std::uint8_t { last, mean, attention_query, class_token };

struct PoolingOptions {
  std::size_t width = 0;       // C
  std::size_t heads = 1;       // H, attention_query only
  std::size_t head_width = 1;  // D, attention_query only
  Init projection = {};
  Init query = {};
  Init token = {};
};

class Pooling {
 public:
  virtual ~Pooling() = default;
  // Width of what comes out: C, or H D.
  [[nodiscard]] virtual std::size_t width() const = 0;
  // Rows added after each sample's steps: 1 for class_token, else 0. The batch's rows are laid out with them.
  [[nodiscard]] virtual std::size_t extra_rows() const { return 0; }
  // Before the blocks: x (R,C), the extra rows zero -> with the learned rows in place.
  [[nodiscard]] virtual Variable begin(Context& /*context*/, const Variable& x) const { return x; }
  // After the blocks and the final norm: x (R,C) -> (B, width()).
  [[nodiscard]] virtual Variable pool(Context& context, const Variable& x) const = 0;
};

// Parameters pooling.*: key_value.weight (C, 2 H D) and query (H D) for attention_query, token (C) for class_token.
// Shows its pattern, (R,H), at the tap as "pooling.pattern".
[[nodiscard]] std::unique_ptr<Pooling> make_pooling(PoolingKind kind, ParameterStore& store,
                                                    const PoolingOptions& options);

}  // namespace dikkat::nn

namespace dikkat {

template <>
struct EnumNames<nn::PoolingKind> {
  static constexpr std::array<std::pair<nn::PoolingKind, std::string_view>, 4> names{
      {{nn::PoolingKind::last, "last"},
       {nn::PoolingKind::mean, "mean"},
       {nn::PoolingKind::attention_query, "attention-query"},
       {nn::PoolingKind::class_token, "class-token"}}};
};

}  // namespace dikkat
