#include "dikkat/lessons/self_attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "dikkat/base/error.h"
#include "dikkat/kernels/attention.h"
#include "dikkat/kernels/maths.h"
#include "dikkat/kernels/matmul.h"
#include "dikkat/kernels/softmax.h"

namespace dikkat::lessons {
namespace {

void require(bool fits, const char* what) {
  if (!fits) throw Error(ErrorKind::internal, std::string("self-attention: ") + what + " do not fit each other");
}

kernels::Matrix<const double> view(const Matrix& m) { return {m.values.data(), m.rows, m.columns, m.columns}; }
kernels::Matrix<double> view(Matrix& m) { return {m.values.data(), m.rows, m.columns, m.columns}; }

double scale_of(std::size_t width, Scaling scaling) {
  return scaling == Scaling::none ? 1.0 : 1.0 / std::sqrt(static_cast<double>(width));
}

// (n, H, n) as the kernel lays maps out -> one matrix a head.
std::vector<Matrix> maps_of(const std::vector<double>& pattern, std::size_t n, std::size_t heads) {
  std::vector<Matrix> maps(heads, Matrix(n, n));
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t h = 0; h < heads; ++h) {
      std::copy_n(pattern.data() + (r * heads + h) * n, n, maps[h].row(r).data());
    }
  }
  return maps;
}

}  // namespace

Matrix product(const kernels::Executor& executor, const Matrix& a, const Matrix& b) {
  require(a.columns == b.rows, "the matrices of a product");
  Matrix out(a.rows, b.columns);
  kernels::matmul<double>(executor, view(a), view(b), view(out));
  return out;
}

Matrix softmax(const kernels::Executor& executor, Matrix scores) {
  double* values = scores.values.data();
  kernels::softmax_forward<double>(executor, values, values, scores.rows, scores.columns);
  return scores;
}

Matrix side_by_side(std::span<const Matrix> parts) {
  std::size_t columns = 0;
  for (const Matrix& part : parts) {
    require(part.rows == parts.front().rows, "matrices side by side");
    columns += part.columns;
  }
  Matrix all(parts.front().rows, columns);
  for (std::size_t r = 0; r < all.rows; ++r) {
    double* to = all.row(r).data();
    for (const Matrix& part : parts) to = std::copy_n(part.row(r).data(), part.columns, to);
  }
  return all;
}

Matrix mean_of(std::span<const Matrix> equal_shaped) {
  Matrix mean = equal_shaped.front();
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    double sum = 0;
    for (const Matrix& matrix : equal_shaped) sum += matrix.values[i];
    mean.values[i] = sum / static_cast<double>(equal_shaped.size());
  }
  return mean;
}

Matrix rows_in_order(const Matrix& matrix, std::span<const std::size_t> order) {
  Matrix ordered(order.size(), matrix.columns);
  for (std::size_t r = 0; r < order.size(); ++r) {
    std::copy_n(matrix.row(order[r]).data(), matrix.columns, ordered.row(r).data());
  }
  return ordered;
}

Attended self_attention(const kernels::Executor& executor, const Matrix& x, const Projections& projections,
                        const AttentionSetting& setting) {
  const std::size_t n = x.rows;
  const std::size_t heads = setting.heads;
  require(projections.query.columns == projections.key.columns && heads != 0 &&
              projections.query.columns % heads == 0 && projections.value.columns % heads == 0,
          "the widths of queries, keys, values and the number of heads");
  Attended result{.queries = product(executor, x, projections.query),
                  .keys = product(executor, x, projections.key),
                  .values = product(executor, x, projections.value),
                  .weights = {},
                  .heads = Matrix(n, projections.value.columns),
                  .output = {}};
  kernels::Rows rows;
  rows.lay_out(std::array{n}, n);
  const std::size_t key_width = result.keys.columns / heads;
  kernels::AttentionShape shape{.heads = heads,
                                .kv_heads = heads,
                                .width = key_width,
                                .scale = scale_of(key_width, setting.scaling),
                                .mask = setting.mask,
                                .rows = &rows};
  std::vector<double> pattern(n * heads * n);
  kernels::attention_pattern<double>(executor, shape, {result.queries.values.data(), result.queries.columns},
                                     {result.keys.values.data(), result.keys.columns}, pattern, n);
  shape.width = result.values.columns / heads;
  kernels::attention_mix<double>(executor, shape, pattern, n, {result.values.values.data(), result.values.columns},
                                 {result.heads.values.data(), result.heads.columns});
  result.weights = maps_of(pattern, n, heads);
  result.output = projections.output.empty() ? result.heads : product(executor, result.heads, projections.output);
  return result;
}

Matrix scores_of(const kernels::Executor& executor, const Attended& attended, const AttentionSetting& setting,
                 std::size_t head) {
  const std::size_t width = attended.keys.columns / setting.heads;
  const auto part = [&](const Matrix& all) {
    return kernels::Matrix<const double>{all.values.data() + head * width, all.rows, width, all.columns};
  };
  Matrix scores(attended.queries.rows, attended.keys.rows);
  kernels::matmul<double>(executor, part(attended.queries), part(attended.keys).transposed(), view(scores));
  for (double& score : scores.values) score *= scale_of(width, setting.scaling);
  return scores;
}

double mean_row_entropy(const kernels::Executor& executor, const Matrix& weights) {
  std::vector<double> logarithms(weights.values.size());
  kernels::evaluate<double>(executor, kernels::Function::logarithm, weights.values.data(), logarithms.data(),
                            logarithms.size());
  double sum = 0;
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    const double w = weights.values[i];
    if (w > 0) sum -= w * logarithms[i];  // 0 log 0 is 0
  }
  return sum / static_cast<double>(weights.rows);
}

std::vector<std::size_t> row_maxima(const Matrix& weights) {
  std::vector<std::size_t> largest;
  for (std::size_t r = 0; r < weights.rows; ++r) {
    const auto row = weights.row(r);
    largest.push_back(static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return largest;
}

Distance distance(const Matrix& a, const Matrix& b) {
  require(a.rows == b.rows && a.columns == b.columns, "matrices that are compared");
  Distance result;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double apart = std::abs(a.values[i] - b.values[i]);
    result.mean += apart;
    result.largest = std::max(result.largest, apart);
  }
  if (!a.values.empty()) result.mean /= static_cast<double>(a.values.size());
  return result;
}

}  // namespace dikkat::lessons
