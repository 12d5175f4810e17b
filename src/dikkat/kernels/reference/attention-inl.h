// Plain bodies of attention.h: the law in loops, for every kind of number.
#if defined(DIKKAT_REFERENCE_ATTENTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_ATTENTION_INL_H
#undef DIKKAT_REFERENCE_ATTENTION_INL_H
#else
#define DIKKAT_REFERENCE_ATTENTION_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dikkat/kernels/attention.h"
#include "dikkat/kernels/reference/maths-inl.h"
#include "dikkat/kernels/reference/number-inl.h"
#include "dikkat/kernels/reference/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// One sample: where its rows lie and at which position its first query stands.
struct AttentionSample {
  std::size_t query_row, queries;
  std::size_t key_row, keys;
  std::size_t first_position;
  std::uint32_t number;  // within the step
};

inline AttentionSample attention_sample(const AttentionShape& shape, std::size_t b) {
  const auto& first_row = shape.rows->first_row;
  AttentionSample s{first_row[b], first_row[b + 1] - first_row[b], 0, 0, 0, 0};
  const bool own_keys = !shape.key_first_row.empty();
  s.key_row = own_keys ? shape.key_first_row[b] : s.query_row;
  s.keys = own_keys ? shape.key_first_row[b + 1] - s.key_row : s.queries;
  s.first_position = s.keys > s.queries ? s.keys - s.queries : 0;
  if (s.queries != 0) s.number = shape.rows->sample[s.query_row];
  return s;
}

// One query row of one head.
template <class T>
struct AttentionQuery {
  const AttentionShape& shape;
  std::size_t head;
  std::size_t position;
  KeyRange visible;
  RowOfDraws draws;

  AttentionQuery(const AttentionShape& the_shape, const AttentionSample& s, std::size_t h, std::size_t i)
      : shape(the_shape),
        head(h),
        position(s.first_position + i),
        visible(the_shape.mask.visible(position, s.keys)),
        draws{static_cast<std::uint32_t>(position), s.number, the_shape.step} {}

  // s_j of one key
  [[nodiscard]] T score(const T* q, const T* k, std::size_t j) const {
    T s = number<T>(0);
    for (std::size_t d = 0; d < shape.width; ++d) s = fma(q[d], k[d], s);
    s = s * number<T>(shape.scale);
    if (shape.slopes.empty()) return s;
    const std::size_t distance = position > j ? position - j : j - position;
    return fma(number<T>(shape.slopes[head]), number<T>(-static_cast<double>(distance)), s);
  }
  // the keep factor of one key's weight
  [[nodiscard]] T keep(std::size_t j) const {
    return keep_factor_plain<T>(random::substream(shape.dropout_stream, head), KeepRule<T>(shape.dropout), draws, j);
  }
};

// weights[j - begin] = p_j for the visible keys; returns m and Z.
template <class T>
struct RowSums {
  T max, sum;
};
template <class T>
RowSums<T> attention_weights(const AttentionQuery<T>& query, const T* q, const T* k, std::size_t k_stride, T* weights) {
  const auto [begin, end] = query.visible;
  if (begin >= end) return {number<T>(0), number<T>(0)};
  T max = number<T>(-std::numeric_limits<double>::infinity());
  for (std::size_t j = begin; j < end; ++j) {
    weights[j - begin] = query.score(q, k + j * k_stride, j);
    max = maximum(max, weights[j - begin]);
  }
  max = max + number<T>(0);  // -0 becomes +0, so that m does not tell in which order it was sought
  for (std::size_t j = begin; j < end; ++j) weights[j - begin] = exponential(weights[j - begin] - max);
  const T sum = tree16<T>(begin, end, [&](std::size_t j) { return weights[j - begin]; });
  const T reciprocal = number<T>(1) / sum;
  for (std::size_t j = begin; j < end; ++j) weights[j - begin] = weights[j - begin] * reciprocal;
  return {max, sum};
}

// out_d from the weights of the visible keys, before dropout.
template <class T>
void attention_mix_row(const AttentionQuery<T>& query, const T* weights, const T* v, std::size_t v_stride, T* out) {
  const std::size_t width = query.shape.width;
  std::fill(out, out + width, number<T>(0));
  for (std::size_t j = query.visible.begin; j < query.visible.end; ++j) {
    T p = weights[j - query.visible.begin];
    if (query.shape.dropout != 0) p = p * query.keep(j);
    for (std::size_t d = 0; d < width; ++d) out[d] = fma(p, v[j * v_stride + d], out[d]);
  }
}

// scratch: as many values as a sample has keys.
template <class T>
void attention_forward_plain(const AttentionShape& shape, const AttentionForward<T>& t, T* scratch) {
  const std::size_t per_group = shape.heads / shape.kv_heads;
  for (std::size_t b = 0; b < shape.rows->samples(); ++b) {
    const AttentionSample s = attention_sample(shape, b);
    for (std::size_t h = 0; h < shape.heads; ++h) {
      const std::size_t g = h / per_group;
      const T* k = t.k.data + s.key_row * t.k.stride + g * shape.width;
      const T* v = t.v.data + s.key_row * t.v.stride + g * shape.width;
      for (std::size_t i = 0; i < s.queries; ++i) {
        const std::size_t row = s.query_row + i;
        const AttentionQuery<T> query(shape, s, h, i);
        const RowSums<T> sums =
            attention_weights(query, t.q.data + row * t.q.stride + h * shape.width, k, t.k.stride, scratch);
        if (t.max != nullptr) t.max[row * shape.heads + h] = sums.max;
        if (t.sum != nullptr) t.sum[row * shape.heads + h] = sums.sum;
        attention_mix_row(query, scratch, v, t.v.stride, t.out.data + row * t.out.stride + h * shape.width);
      }
    }
  }
}

template <class T>
void attention_pattern_plain(const AttentionShape& shape, Heads<const T> q, Heads<const T> k, T* pattern,
                             std::size_t keys) {
  const std::size_t per_group = shape.heads / shape.kv_heads;
  for (std::size_t b = 0; b < shape.rows->samples(); ++b) {
    const AttentionSample s = attention_sample(shape, b);
    for (std::size_t i = 0; i < s.queries; ++i) {
      for (std::size_t h = 0; h < shape.heads; ++h) {
        const std::size_t row = s.query_row + i;
        T* to = pattern + (row * shape.heads + h) * keys;
        std::fill(to, to + keys, number<T>(0));
        const AttentionQuery<T> query(shape, s, h, i);
        attention_weights(query, q.data + row * q.stride + h * shape.width,
                          k.data + s.key_row * k.stride + h / per_group * shape.width, k.stride,
                          to + query.visible.begin);
      }
    }
  }
}

template <class T>
void attention_mix_plain(const AttentionShape& shape, const T* pattern, std::size_t keys, Heads<const T> v,
                         Heads<T> out) {
  const std::size_t per_group = shape.heads / shape.kv_heads;
  for (std::size_t b = 0; b < shape.rows->samples(); ++b) {
    const AttentionSample s = attention_sample(shape, b);
    for (std::size_t i = 0; i < s.queries; ++i) {
      for (std::size_t h = 0; h < shape.heads; ++h) {
        const std::size_t row = s.query_row + i;
        const AttentionQuery<T> query(shape, s, h, i);
        attention_mix_row(query, pattern + (row * shape.heads + h) * keys + query.visible.begin,
                          v.data + s.key_row * v.stride + h / per_group * shape.width, v.stride,
                          out.data + row * out.stride + h * shape.width);
      }
    }
  }
}

// One head of one sample: d_q rows are assigned; dk and dv (S, D) take the chains over this head's queries.
template <class T>
void attention_backward_head_plain(const AttentionShape& shape, const AttentionBackward<T>& t, const AttentionSample& s,
                                   std::size_t h, T* dk, T* dv) {
  const std::size_t width = shape.width;
  const std::size_t g = h / (shape.heads / shape.kv_heads);
  for (std::size_t i = 0; i < s.queries; ++i) {
    const std::size_t row = s.query_row + i;
    const AttentionQuery<T> query(shape, s, h, i);
    const T* q = t.q.data + row * t.q.stride + h * width;
    const T* d_out = t.d_out.data + row * t.d_out.stride + h * width;
    const T* out = t.out.data + row * t.out.stride + h * width;
    T* dq = t.d_q.data + row * t.d_q.stride + h * width;
    std::fill(dq, dq + width, number<T>(0));
    const T delta = tree16<T>(0, width, [&](std::size_t d) { return d_out[d] * out[d]; });
    const T reciprocal = number<T>(1) / t.sum[row * shape.heads + h];
    for (std::size_t j = query.visible.begin; j < query.visible.end; ++j) {
      const T* k = t.k.data + (s.key_row + j) * t.k.stride + g * width;
      const T* v = t.v.data + (s.key_row + j) * t.v.stride + g * width;
      const T p = exponential(query.score(q, k, j) - t.max[row * shape.heads + h]) * reciprocal;
      const T keep = shape.dropout != 0 ? query.keep(j) : number<T>(1);
      T dp = number<T>(0);
      for (std::size_t d = 0; d < width; ++d) dp = fma(d_out[d], v[d], dp);
      const T ds = p * (dp * keep - delta);
      const T dropped = p * keep;
      for (std::size_t d = 0; d < width; ++d) {
        dq[d] = fma(ds, k[d], dq[d]);
        dk[j * width + d] = fma(ds, q[d], dk[j * width + d]);
        dv[j * width + d] = fma(dropped, d_out[d], dv[j * width + d]);
      }
    }
    for (std::size_t d = 0; d < width; ++d) dq[d] = dq[d] * number<T>(shape.scale);
  }
}

// scratch: twice as many values as a sample's keys times the head width.
template <class T>
void attention_backward_plain(const AttentionShape& shape, const AttentionBackward<T>& t, T* scratch) {
  const std::size_t width = shape.width;
  const std::size_t per_group = shape.heads / shape.kv_heads;
  for (std::size_t b = 0; b < shape.rows->samples(); ++b) {
    const AttentionSample s = attention_sample(shape, b);
    T* dk = scratch;
    T* dv = scratch + s.keys * width;
    for (std::size_t h = 0; h < shape.heads; ++h) {
      std::fill(scratch, scratch + 2 * s.keys * width, number<T>(0));
      attention_backward_head_plain(shape, t, s, h, dk, dv);
      const bool first = h % per_group == 0;
      for (std::size_t j = 0; j < s.keys; ++j) {
        T* d_k = t.d_k.data + (s.key_row + j) * t.d_k.stride + h / per_group * width;
        T* d_v = t.d_v.data + (s.key_row + j) * t.d_v.stride + h / per_group * width;
        for (std::size_t d = 0; d < width; ++d) {
          const T scaled = dk[j * width + d] * number<T>(shape.scale);
          d_k[d] = first ? scaled : d_k[d] + scaled;
          d_v[d] = first ? dv[j * width + d] : d_v[d] + dv[j * width + d];
        }
      }
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_ATTENTION_INL_H
