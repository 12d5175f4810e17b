// Self-attention on matrices small enough to print, in double, by the house's own kernels: what the lesson on
// self-attention and `dikkat attend` show.
//
//   Q = X Wq, K = X Wk, V = X Wv;  weights = softmax(Q K^T / sqrt(dk)), row by row;  output = weights V
//
// With H heads the columns of Q, K and V are H chunks; each chunk attends alone, the outputs stand side by side, and
// Wo, where there is one, mixes them. (Vaswani et al., "Attention is all you need", 2017, eq. 1 and 3.2.2.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/mask.h"

namespace dikkat::lessons {

// Row-major.
struct Matrix {
  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count) {}

  [[nodiscard]] double operator()(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
  [[nodiscard]] double& operator()(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  [[nodiscard]] std::span<const double> row(std::size_t r) const {
    return std::span(values).subspan(r * columns, columns);
  }
  [[nodiscard]] std::span<double> row(std::size_t r) { return std::span(values).subspan(r * columns, columns); }
  [[nodiscard]] bool empty() const { return values.empty(); }
  friend bool operator==(const Matrix&, const Matrix&) = default;

  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;
};

[[nodiscard]] Matrix product(const kernels::Executor& executor, const Matrix& a, const Matrix& b);
// Of each row.
[[nodiscard]] Matrix softmax(const kernels::Executor& executor, Matrix scores);
// Each matrix's columns after those of the one before; equal row counts.
[[nodiscard]] Matrix side_by_side(std::span<const Matrix> parts);
[[nodiscard]] Matrix mean_of(std::span<const Matrix> equal_shaped);
// Rows in the order that `order` names.
[[nodiscard]] Matrix rows_in_order(const Matrix& matrix, std::span<const std::size_t> order);

// X's width times H chunks of dk (queries and keys) or dv (values).
struct Projections {
  Matrix query, key, value;
  Matrix output = {};  // (H dv, any); empty: the heads' outputs stay side by side
};

enum class Scaling : std::uint8_t { by_root_of_width, none };

struct AttentionSetting {
  std::size_t heads = 1;
  kernels::Mask mask = {.direction = kernels::Direction::bidirectional};
  Scaling scaling = Scaling::by_root_of_width;
};

struct Attended {
  Matrix queries, keys, values;  // (n, H dk), (n, H dk), (n, H dv)
  std::vector<Matrix> weights;   // one (n,n) for each head; what the mask hides is exactly 0
  Matrix heads;                  // (n, H dv) the heads' outputs side by side
  Matrix output;                 // heads times Wo, or heads
};
// Error{internal} where shapes do not fit.
[[nodiscard]] Attended self_attention(const kernels::Executor& executor, const Matrix& x,
                                      const Projections& projections, const AttentionSetting& setting = {});

// The scores of one head before the mask, scaled as the setting says.
[[nodiscard]] Matrix scores_of(const kernels::Executor& executor, const Attended& attended,
                               const AttentionSetting& setting, std::size_t head = 0);

// Figures of a weight matrix: the mean of its rows' entropies, in nats; each row's largest column; how far two lie
// apart.
[[nodiscard]] double mean_row_entropy(const kernels::Executor& executor, const Matrix& weights);
[[nodiscard]] std::vector<std::size_t> row_maxima(const Matrix& weights);
struct Distance {
  double mean = 0;  // of |a - b|
  double largest = 0;
};
[[nodiscard]] Distance distance(const Matrix& a, const Matrix& b);

}  // namespace dikkat::lessons
