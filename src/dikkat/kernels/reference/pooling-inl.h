// Plain bodies of pooling.h: the law in loops. What is done to one sample is written once for every kind of number; the
// fast body takes a vector whose elements are samples of equal length for that number.
#if defined(DIKKAT_REFERENCE_POOLING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_POOLING_INL_H
#undef DIKKAT_REFERENCE_POOLING_INL_H
#else
#define DIKKAT_REFERENCE_POOLING_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <limits>

#include "dikkat/kernels/pooling.h"
#include "dikkat/kernels/reference/maths-inl.h"
#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// What pooling asks of a number V beyond + - * /: a float, a double, a vector of them, or Lanes.
template <class V>
struct PoolingNumber {
  static HWY_INLINE V constant(double value) { return Arithmetic<V>::set(value); }
  static HWY_INLINE V multiply_add(V a, V b, V c) { return Arithmetic<V>::multiply_add(a, b, c); }
  static HWY_INLINE V larger(V a, V b) { return Arithmetic<V>::larger(a, b); }
  // a where x is finite, otherwise b
  static HWY_INLINE V if_finite(V x, V a, V b) {
    return Arithmetic<V>::select((x - x) == Arithmetic<V>::set(0.0), a, b);
  }
};
template <class T, std::size_t N>
struct PoolingNumber<Lanes<T, N>> {
  using V = Lanes<T, N>;
  static HWY_INLINE V constant(double value) { return number<V>(value); }
  static HWY_INLINE V multiply_add(const V& a, const V& b, const V& c) { return fma(a, b, c); }
  static HWY_INLINE V larger(const V& a, const V& b) { return maximum(a, b); }
  static HWY_INLINE V if_finite(const V& x, const V& a, const V& b) {
    return if_positive(number<V>(1) + (x - x), a, b);  // 1, or NaN
  }
};

// Neumaier's sum. What an addition loses is found by Knuth's six operations instead of by comparing the summands: the
// same value (it is exact either way) without a branch.
template <class V>
struct CompensatedSum {
  V sum, lost;

  // Written out: a constructor that the compiler makes would lack the instruction set.
  HWY_INLINE CompensatedSum() : sum(PoolingNumber<V>::constant(0)), lost(PoolingNumber<V>::constant(0)) {}
  HWY_INLINE void add(V x) {
    const V next = sum + x;
    const V added = next - sum;
    lost = lost + ((sum - (next - added)) + (x - added));
    sum = next;
  }
  HWY_INLINE V total() const { return PoolingNumber<V>::if_finite(lost, sum + lost, sum); }
};

// The 16-partial tree over term(0) ... term(n - 1).
template <class V, class Term>
HWY_INLINE V pooling_tree16(std::size_t n, Term&& term) {
  V partial[16];
  for (V& p : partial) p = PoolingNumber<V>::constant(0);
  for (std::size_t i = 0; i < n; ++i) partial[i % 16] = partial[i % 16] + term(i);
  for (std::size_t half = 8; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) partial[i] = partial[i] + partial[i + half];
  }
  return partial[0];
}

// The rows of one sample.
struct PooledSample {
  std::size_t rows;   // of the sample
  std::size_t heads;  // H
  std::size_t width;  // D
  double scale;
  RowSum sum;

  PooledSample(const PoolingShape& shape, std::size_t sample_rows)
      : rows(sample_rows), heads(shape.heads), width(shape.width), scale(shape.scale), sum(shape.sum) {}
  [[nodiscard]] std::size_t columns() const { return heads * width; }
};

// pattern (rows, H) of one sample.
template <class V>
HWY_INLINE void pool_pattern(const PooledSample& s, const V* key_values, const V* query, V* pattern) {
  using A = PoolingNumber<V>;
  const std::size_t stride = 2 * s.columns();
  const V scale = A::constant(s.scale);
  for (std::size_t h = 0; h < s.heads; ++h) {
    const V* q = query + h * s.width;
    V max = A::constant(-std::numeric_limits<double>::infinity());
    for (std::size_t t = 0; t < s.rows; ++t) {
      const V* k = key_values + t * stride + h * s.width;
      V score = A::constant(0);
      for (std::size_t d = 0; d < s.width; ++d) score = A::multiply_add(q[d], k[d], score);
      score = score * scale;
      pattern[t * s.heads + h] = score;
      max = A::larger(max, score);
    }
    max = max + A::constant(0);  // -0 becomes +0, so that m does not tell in which order it was sought
    for (std::size_t t = 0; t < s.rows; ++t) {
      pattern[t * s.heads + h] = exponential(pattern[t * s.heads + h] - max);
    }
    const auto weight = [&](std::size_t t) { return pattern[t * s.heads + h]; };
    V sum;
    if (s.sum == RowSum::chain) {
      sum = pooling_tree16<V>(s.rows, weight);
    } else {
      CompensatedSum<V> all;
      for (std::size_t t = 0; t < s.rows; ++t) all.add(weight(t));
      sum = all.total();
    }
    const V reciprocal = A::constant(1) / sum;
    for (std::size_t t = 0; t < s.rows; ++t) pattern[t * s.heads + h] = pattern[t * s.heads + h] * reciprocal;
  }
}

// out (H D) of one sample.
template <class V>
HWY_INLINE void pool_values(const PooledSample& s, const V* pattern, const V* key_values, V* out) {
  using A = PoolingNumber<V>;
  const std::size_t stride = 2 * s.columns();
  for (std::size_t h = 0; h < s.heads; ++h) {
    for (std::size_t c = h * s.width; c < (h + 1) * s.width; ++c) {
      const V* v = key_values + s.columns() + c;
      if (s.sum == RowSum::chain) {
        V sum = A::constant(0);
        for (std::size_t t = 0; t < s.rows; ++t) sum = A::multiply_add(pattern[t * s.heads + h], v[t * stride], sum);
        out[c] = sum;
      } else {
        CompensatedSum<V> sum;
        for (std::size_t t = 0; t < s.rows; ++t) sum.add(pattern[t * s.heads + h] * v[t * stride]);
        out[c] = sum.total();
      }
    }
  }
}

// One sample's part of PoolingBackward.
template <class V>
struct SampleBackward {
  const V *key_values, *query, *pattern, *out, *d_out;
  V *d_key_values, *d_scores;
};

template <class V>
HWY_INLINE void pool_backward(const PooledSample& s, const SampleBackward<V>& t) {
  using A = PoolingNumber<V>;
  const V scale = A::constant(s.scale);
  for (std::size_t h = 0; h < s.heads; ++h) {
    const std::size_t at = h * s.width;
    const V delta = pooling_tree16<V>(s.width, [&](std::size_t d) { return t.d_out[at + d] * t.out[at + d]; });
    for (std::size_t row = 0; row < s.rows; ++row) {
      const std::size_t key = row * 2 * s.columns() + at;
      const std::size_t value = key + s.columns();
      const V weight = t.pattern[row * s.heads + h];
      V d_weight = A::constant(0);
      for (std::size_t d = 0; d < s.width; ++d) {
        d_weight = A::multiply_add(t.d_out[at + d], t.key_values[value + d], d_weight);
      }
      const V d_score = (weight * (d_weight - delta)) * scale;
      t.d_scores[row * s.heads + h] = d_score;
      for (std::size_t d = 0; d < s.width; ++d) {
        t.d_key_values[key + d] = d_score * t.query[at + d];
        t.d_key_values[value + d] = weight * t.d_out[at + d];
      }
    }
  }
}

// Samples [begin, end) by the plain loops.
template <class T>
void pooling_forward_plain(const PoolingShape& shape, const PoolingForward<T>& t, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const std::size_t first = shape.rows->first_row[b];
    const PooledSample sample(shape, shape.rows->first_row[b + 1] - first);
    const T* key_values = t.key_values + first * 2 * shape.columns();
    T* pattern = t.pattern + first * shape.heads;
    pool_pattern(sample, key_values, t.query, pattern);
    pool_values(sample, pattern, key_values, t.out + b * shape.columns());
  }
}

template <class T>
void pooling_mix_plain(const PoolingShape& shape, const T* pattern, const T* key_values, T* out) {
  for (std::size_t b = 0; b < shape.rows->samples(); ++b) {
    const std::size_t first = shape.rows->first_row[b];
    const PooledSample sample(shape, shape.rows->first_row[b + 1] - first);
    pool_values(sample, pattern + first * shape.heads, key_values + first * 2 * shape.columns(),
                out + b * shape.columns());
  }
}

template <class T>
void pooling_backward_plain(const PoolingShape& shape, const PoolingBackward<T>& t, std::size_t begin,
                            std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    const std::size_t first = shape.rows->first_row[b];
    const PooledSample sample(shape, shape.rows->first_row[b + 1] - first);
    pool_backward<T>(sample, {.key_values = t.key_values + first * 2 * shape.columns(),
                              .query = t.query,
                              .pattern = t.pattern + first * shape.heads,
                              .out = t.out + b * shape.columns(),
                              .d_out = t.d_out + b * shape.columns(),
                              .d_key_values = t.d_key_values + first * 2 * shape.columns(),
                              .d_scores = t.d_scores + first * shape.heads});
  }
}

template <class T>
void pooling_query_gradient_plain(const PoolingShape& shape, const PoolingQuery<T>& t,
                                  std::span<const std::size_t> chunks) {
  for (std::size_t c = 0; c < shape.columns(); ++c) {
    for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
      T sum = number<T>(0);
      for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r) {
        sum = fma(t.d_scores[r * shape.heads + c / shape.width], t.key_values[r * 2 * shape.columns() + c], sum);
      }
      t.d_query[c] = t.d_query[c] + sum;
    }
  }
}

template <class T>
void mean_pooling_forward_plain(const Rows& rows, const T* x, T* y, std::size_t columns) {
  for (std::size_t b = 0; b < rows.samples(); ++b, y += columns) {
    const std::size_t first = rows.first_row[b];
    const std::size_t last = rows.first_row[b + 1];
    for (std::size_t c = 0; c < columns; ++c) {
      T sum = number<T>(0);
      for (std::size_t r = first; r < last; ++r) sum = sum + x[r * columns + c];
      y[c] = first == last ? sum : sum / number<T>(static_cast<double>(last - first));
    }
  }
}

template <class T>
void mean_pooling_backward_plain(const Rows& rows, const T* dy, T* dx, std::size_t columns, Store store) {
  for (std::size_t b = 0; b < rows.samples(); ++b, dy += columns) {
    const std::size_t first = rows.first_row[b];
    const std::size_t last = rows.first_row[b + 1];
    for (std::size_t r = first; r < last; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const T d = dy[c] / number<T>(static_cast<double>(last - first));
        dx[r * columns + c] = store == Store::add ? dx[r * columns + c] + d : d;
      }
    }
  }
}

template <class T>
void last_pooling_forward_plain(const Rows& rows, const T* x, T* y, std::size_t columns) {
  for (std::size_t b = 0; b < rows.samples(); ++b, y += columns) {
    const bool empty = rows.first_row[b] == rows.first_row[b + 1];
    for (std::size_t c = 0; c < columns; ++c) {
      y[c] = empty ? number<T>(0) : x[(rows.first_row[b + 1] - 1) * columns + c];
    }
  }
}

template <class T>
void last_pooling_backward_plain(const Rows& rows, const T* dy, T* dx, std::size_t columns, Store store) {
  for (std::size_t b = 0; b < rows.samples(); ++b, dy += columns) {
    const std::size_t first = rows.first_row[b];
    const std::size_t last = rows.first_row[b + 1];
    if (store == Store::assign) std::fill(dx + first * columns, dx + last * columns, number<T>(0));
    if (first == last) continue;
    T* to = dx + (last - 1) * columns;
    for (std::size_t c = 0; c < columns; ++c) to[c] = store == Store::add ? to[c] + dy[c] : dy[c];
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_POOLING_INL_H
