// Attention for a few queries of one head (a token at a time, say): lanes are keys for the scores and channels for the
// output, a row after the other.
#if defined(DIKKAT_FAST_ATTENTION_LONE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ATTENTION_LONE_INL_H
#undef DIKKAT_FAST_ATTENTION_LONE_INL_H
#else
#define DIKKAT_FAST_ATTENTION_LONE_INL_H
#endif

#include "dikkat/kernels/fast/attention_group-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// Keys whose rows are turned into columns at a time.
inline constexpr std::size_t kLoneKeys = 128;

constexpr std::size_t whole_sixteens(std::size_t keys) { return (keys + 15) / 16 * 16; }

// scores[j] for j in [0, keys): (dot products) * scale, without slopes and masks.
template <class T>
void lone_scores(const AttentionShape& shape, const T* q, const HeadRows<const T>& k, KeyRange keys, T* columns,
                 T* scores) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  for (std::size_t j = keys.begin; j < keys.end; j += kLoneKeys) {
    const std::size_t n = std::min(kLoneKeys, keys.end - j);
    transpose(k.data + j * k.stride, k.stride, n, shape.width, columns, kLoneKeys);
    for (std::size_t i = 0; i < n;) {
      const std::size_t left = (n - i + step - 1) / step;
      const std::size_t vectors = left >= kRowVectors ? kRowVectors : next_vectors(left);
      const std::size_t valid = std::min(n - i, vectors * step);
      run_rows<T, 1>({.a = q,
                      .a_row = 0,
                      .a_k = 1,
                      .b = columns + i,
                      .b_k = kLoneKeys,
                      .depth = shape.width,
                      .c = scores + j + i,
                      .c_row = 0,
                      .last = valid - (vectors - 1) * step,
                      .begin = Begin::zero,
                      .end = End::scale,
                      .bias = nullptr,
                      .factor = static_cast<T>(shape.scale)},
                     vectors, valid < vectors * step);
      i += valid;
    }
  }
}

// weights[j] for the absolute key index j; what is hidden within the first and last sixteen becomes 0.
template <class T>
RowSums<T> lone_weights(const AttentionQuery<T>& query, const T* q, const HeadRows<const T>& k, T* columns,
                        T* weights) {
  const auto [begin, end] = query.visible;
  if (begin >= end) return {T{0}, T{0}};
  lone_scores(query.shape, q, k, query.visible, columns, weights);
  if (!query.shape.slopes.empty()) {
    const T slope = static_cast<T>(query.shape.slopes[query.head]);
    for (std::size_t j = begin; j < end; ++j) {
      const std::size_t distance = query.position > j ? query.position - j : j - query.position;
      weights[j] = fma(slope, -static_cast<T>(distance), weights[j]);
    }
  }
  const std::size_t from = begin / 16 * 16;
  const std::size_t to = whole_sixteens(end);
  std::fill(weights + from, weights + begin, -std::numeric_limits<T>::infinity());
  std::fill(weights + end, weights + to, -std::numeric_limits<T>::infinity());
  const Tag16<T> d;
  const std::size_t step = hn::Lanes(d);
  auto largest = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (std::size_t j = from; j < to; j += step) largest = hn::Max(largest, hn::Load(d, weights + j));
  const T max = hn::GetLane(hn::MaxOfLanes(d, largest)) + T{0};
  Partials16<T> partials;
  for (std::size_t j = from; j < to; j += 16) {
    for (std::size_t part = 0; part < kParts16<T>; ++part) {
      T* w = weights + j + part * step;
      const auto e = exponential(hn::Sub(hn::Load(d, w), hn::Set(d, max)));
      hn::Store(e, d, w);
      partials.part[part] = hn::Add(partials.part[part], e);
    }
  }
  const T sum = partials.total();
  const auto reciprocal = hn::Set(d, T{1} / sum);
  for (std::size_t j = from; j < to; j += step)
    hn::Store(hn::Mul(hn::Load(d, weights + j), reciprocal), d, weights + j);
  return {max, sum};
}

// weights *= keep over the visible keys.
template <class T>
void lone_dropout(const AttentionQuery<T>& query, T* weights) {
  const KeepRule<T> rule(query.shape.dropout);
  const PhiloxKeys keys(random::substream(query.shape.dropout_stream, query.head).key);
  HWY_ALIGN T keep[kDrawBlock];
  for (std::size_t block = query.visible.begin / kDrawBlock; block * kDrawBlock < query.visible.end; ++block) {
    keep_factors64(keys, rule, query.draws, block, keep);
    const std::size_t from = std::max(query.visible.begin, block * kDrawBlock);
    const std::size_t to = std::min(query.visible.end, (block + 1) * kDrawBlock);
    for (std::size_t j = from; j < to; ++j) weights[j] = weights[j] * keep[j - block * kDrawBlock];
  }
}

// out (D) from the weights of the visible keys.
template <class T>
void lone_mix(const AttentionQuery<T>& query, const T* weights, const HeadRows<const T>& v, T* out) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t width = query.shape.width;
  for (std::size_t d = 0; d < width;) {
    const std::size_t left = (width - d + step - 1) / step;
    const std::size_t vectors = left >= kRowVectors ? kRowVectors : next_vectors(left);
    const std::size_t valid = std::min(width - d, vectors * step);
    run_rows<T, 1>({.a = weights + query.visible.begin,
                    .a_row = 0,
                    .a_k = 1,
                    .b = v.data + query.visible.begin * v.stride + d,
                    .b_k = v.stride,
                    .depth = query.visible.end - query.visible.begin,
                    .c = out + d,
                    .c_row = 0,
                    .last = valid - (vectors - 1) * step,
                    .begin = Begin::zero,
                    .end = End::store,
                    .bias = nullptr,
                    .factor = T{1}},
                   vectors, valid < vectors * step);
    d += valid;
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ATTENTION_LONE_INL_H
