// Attention over short samples of one length: lanes are heads, of one sample or of several. A group's queries, keys and
// values are turned over once so that a vector holds one number of every head; from there on the plain loops run on as
// many heads at once, without masks or broadcasts, and a causal query costs just the keys it sees.
//
// Floor: a multiply-add for every number of a head and pair of query and key; turning over and the exponentials cost as
// much again. `kucuk` (8 heads of 8, 16 rows): forward 5.8 -> 3.7 us, backward 16.8 -> 6.1 us against lanes that are
// queries (fast/attention_group-inl.h), whose masks and transposes a sample of two vectors never earns back. Tried and
// lost: samples of 64 rows of 32 (five such tensors leave the first-level cache: level forward, no faster backward).
#if defined(DIKKAT_FAST_ATTENTION_SHORT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ATTENTION_SHORT_INL_H
#undef DIKKAT_FAST_ATTENTION_SHORT_INL_H
#else
#define DIKKAT_FAST_ATTENTION_SHORT_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <span>

#include "dikkat/kernels/fast/attention_group-inl.h"
#include "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/fast/transpose-inl.h"
#include "dikkat/kernels/reference/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// The heads [first, first + count) of all samples' heads, sample after sample, in kLanes lanes : zeros where there are
// fewer.
template <class T, std::size_t kLanes>
class ShortHeads {
 public:
  using D = hn::CappedTag<T, kLanes>;
  using V = hn::Vec<D>;

  ShortHeads(const AttentionShape& shape, std::size_t first, std::size_t count)
      : shape_(shape), length_(shape.rows->first_row[1]), whole_(count == kLanes) {
    for (std::size_t lane = 0; lane < count;) {
      const std::size_t sample = (first + lane) / shape.heads;
      const std::size_t head = first + lane - sample * shape.heads;
      const std::size_t heads = std::min(shape.heads - head, count - lane);
      runs_[runs_count_++] = {lane, heads, sample * length_, head};
      lane += heads;
    }
  }

  [[nodiscard]] std::size_t length() const { return length_; }
  [[nodiscard]] std::size_t width() const { return shape_.width; }
  [[nodiscard]] const AttentionShape& shape() const { return shape_; }
  [[nodiscard]] KeyRange seen(std::size_t query) const { return shape_.mask.visible(query, length_); }

  // to (T, D, lanes)
  void turn_over(const Heads<const T>& from, T* to) const {
    if (!whole_) std::fill(to, to + length_ * width() * kLanes, T{0});
    for (const Run& run : runs()) {
      const T* row = from.data + run.row * from.stride + run.head * width();
      for (std::size_t i = 0; i < length_; ++i, row += from.stride) {
        transpose(row, width(), run.heads, width(), to + i * width() * kLanes + run.lane, kLanes);
      }
    }
  }
  // from (D, lanes) to row i of every head
  void turn_back(const T* from, std::size_t i, const Heads<T>& to) const {
    for (const Run& run : runs()) {
      transpose(from + run.lane, kLanes, width(), run.heads, to.data + (run.row + i) * to.stride + run.head * width(),
                width());
    }
  }
  // One number of row i of every head, stored (R, H).
  void gather(const T* from, std::size_t i, T* lanes) const {
    std::fill(lanes, lanes + kLanes, T{0});
    for (const Run& run : runs()) {
      const T* row = from + (run.row + i) * shape_.heads + run.head;
      for (std::size_t h = 0; h < run.heads; ++h) lanes[run.lane + h] = row[h];
    }
  }
  void scatter(V value, std::size_t i, T* to) const {
    if (to == nullptr) return;
    HWY_ALIGN T lanes[kLanes];
    hn::Store(value, D(), lanes);
    for (const Run& run : runs()) {
      T* row = to + (run.row + i) * shape_.heads + run.head;
      for (std::size_t h = 0; h < run.heads; ++h) row[h] = lanes[run.lane + h];
    }
  }
  [[nodiscard]] V slopes() const {
    HWY_ALIGN T lanes[kLanes] = {};
    for (const Run& run : runs()) {
      for (std::size_t h = 0; h < run.heads; ++h) lanes[run.lane + h] = static_cast<T>(shape_.slopes[run.head + h]);
    }
    return hn::Load(D(), lanes);
  }

 private:
  // Neighbouring heads of one sample, whose first row is `row`.
  struct Run {
    std::size_t lane, heads, row, head;
  };
  [[nodiscard]] std::span<const Run> runs() const { return {runs_, runs_count_}; }

  const AttentionShape& shape_;
  std::size_t length_;
  bool whole_;  // a head in every lane
  Run runs_[kLanes];
  std::size_t runs_count_ = 0;
};

// out[j] for j in [begin, end) from the chains over d of a[d] * b[j][d].
template <class D, class T>
HWY_INLINE void short_dot_products(D d, std::size_t width, const T* a, const T* b, std::size_t begin, std::size_t end,
                                   T* out) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const std::size_t row = width * kLanes;
  std::size_t j = begin;
  for (; j + 8 <= end; j += 8) {
    hn::Vec<D> sum[8];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) sum[i] = hn::Zero(d);
    const T* key = b + j * row;
    for (std::size_t c = 0; c < row; c += kLanes) {
      const auto left = hn::Load(d, a + c);
#pragma GCC unroll 8
      for (std::size_t i = 0; i < 8; ++i) sum[i] = hn::MulAdd(left, hn::Load(d, key + i * row + c), sum[i]);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) hn::Store(sum[i], d, out + (j + i) * kLanes);
  }
  for (; j < end; ++j) {
    auto sum = hn::Zero(d);
    for (std::size_t c = 0; c < row; c += kLanes)
      sum = hn::MulAdd(hn::Load(d, a + c), hn::Load(d, b + j * row + c), sum);
    hn::Store(sum, d, out + j * kLanes);
  }
}

// kCount neighbouring numbers: to[c] = (the chain over n of weights[n * weight_step] * rows[n][c]) * factor.
template <std::size_t kCount, class D, class T>
HWY_INLINE void short_chains(D d, const T* weights, std::size_t weight_step, const T* rows, std::size_t row,
                             std::size_t n, T factor, T* to) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  hn::Vec<D> sum[kCount];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kCount; ++i) sum[i] = hn::Zero(d);
  for (std::size_t k = 0; k < n; ++k, weights += weight_step, rows += row) {
    const auto weight = hn::Load(d, weights);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kCount; ++i) sum[i] = hn::MulAdd(weight, hn::Load(d, rows + i * kLanes), sum[i]);
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kCount; ++i) {
    hn::Store(factor == T{1} ? sum[i] : hn::Mul(sum[i], hn::Set(d, factor)), d, to + i * kLanes);
  }
}
template <class D, class T>
HWY_INLINE void short_mix(D d, std::size_t width, const T* weights, std::size_t weight_step, const T* rows,
                          std::size_t n, T factor, T* to) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const std::size_t row = width * kLanes;
  std::size_t c = 0;
  for (; c + 8 <= width; c += 8) {
    short_chains<8>(d, weights, weight_step, rows + c * kLanes, row, n, factor, to + c * kLanes);
  }
  for (; c + 4 <= width; c += 4) {
    short_chains<4>(d, weights, weight_step, rows + c * kLanes, row, n, factor, to + c * kLanes);
  }
  for (; c < width; ++c) short_chains<1>(d, weights, weight_step, rows + c * kLanes, row, n, factor, to + c * kLanes);
}

// Scores of query i (turned over) in s[j], j in seen.
template <class T, std::size_t kLanes>
HWY_INLINE void short_scores(const ShortHeads<T, kLanes>& heads, std::size_t i, KeyRange seen, const T* q, const T* k,
                             T* s) {
  using Group = ShortHeads<T, kLanes>;
  const typename Group::D d;
  short_dot_products(d, heads.width(), q, k, seen.begin, seen.end, s);
  const auto scale = hn::Set(d, static_cast<T>(heads.shape().scale));
  for (std::size_t j = seen.begin; j < seen.end; ++j)
    hn::Store(hn::Mul(hn::Load(d, s + j * kLanes), scale), d, s + j * kLanes);
  if (heads.shape().slopes.empty()) return;
  const auto slopes = heads.slopes();
  for (std::size_t j = seen.begin; j < seen.end; ++j) {
    const auto distance = hn::Set(d, -static_cast<T>(i > j ? i - j : j - i));
    hn::Store(hn::MulAdd(slopes, distance, hn::Load(d, s + j * kLanes)), d, s + j * kLanes);
  }
}

// Sixteen partial sums and their tree, of vectors.
template <class D>
struct ShortPartials {
  hn::Vec<D> partial[16];
  HWY_INLINE explicit ShortPartials(D d) {
    for (auto& p : partial) p = hn::Zero(d);
  }
  HWY_INLINE hn::Vec<D> total() {
#pragma GCC unroll 4
    for (std::size_t half = 8; half != 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) partial[i] = hn::Add(partial[i], partial[i + half]);
    }
    return partial[0];
  }
};

// Values of scratch for samples of so many rows.
template <class T>
std::size_t attention_short_scratch(std::size_t width, std::size_t length) {
  const std::size_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  return (8 * length * width + 2 * length * length + 2 * width + 16) * lanes;
}

template <std::size_t kLanes, class T>
void short_forward(const AttentionShape& shape, const AttentionForward<T>& t, std::size_t first, std::size_t count,
                   T* scratch) {
  const ShortHeads<T, kLanes> heads(shape, first, count);
  const typename ShortHeads<T, kLanes>::D d;
  const std::size_t row = heads.width() * kLanes;
  T* q = scratch;
  T* k = q + heads.length() * row;
  T* v = k + heads.length() * row;
  T* weights = v + heads.length() * row;
  T* out = weights + heads.length() * kLanes;
  heads.turn_over(t.q, q);
  heads.turn_over(t.k, k);
  heads.turn_over(t.v, v);
  for (std::size_t i = 0; i < heads.length(); ++i) {
    const KeyRange seen = heads.seen(i);
    auto max = hn::Zero(d);
    auto sum = hn::Zero(d);
    if (seen.begin < seen.end) {
      short_scores(heads, i, seen, q + i * row, k, weights);
      max = hn::Load(d, weights + seen.begin * kLanes);
      for (std::size_t j = seen.begin + 1; j < seen.end; ++j) max = hn::Max(max, hn::Load(d, weights + j * kLanes));
      max = hn::Add(max, hn::Zero(d));
      ShortPartials<decltype(d)> partials(d);
      for (std::size_t j = seen.begin; j < seen.end; ++j) {
        const auto e = exponential(hn::Sub(hn::Load(d, weights + j * kLanes), max));
        hn::Store(e, d, weights + j * kLanes);
        partials.partial[j % 16] = hn::Add(partials.partial[j % 16], e);
      }
      sum = partials.total();
      const auto reciprocal = hn::Div(hn::Set(d, T{1}), sum);
      for (std::size_t j = seen.begin; j < seen.end; ++j) {
        hn::Store(hn::Mul(hn::Load(d, weights + j * kLanes), reciprocal), d, weights + j * kLanes);
      }
    }
    heads.scatter(max, i, t.max);
    heads.scatter(sum, i, t.sum);
    const std::size_t n = seen.begin < seen.end ? seen.end - seen.begin : 0;
    short_mix(d, heads.width(), weights + seen.begin * kLanes, kLanes, v + seen.begin * row, n, T{1}, out);
    heads.turn_back(out, i, t.out);
  }
}

template <std::size_t kLanes, class T>
void short_backward(const AttentionShape& shape, const AttentionBackward<T>& t, std::size_t first, std::size_t count,
                    T* scratch) {
  const ShortHeads<T, kLanes> heads(shape, first, count);
  const typename ShortHeads<T, kLanes>::D d;
  const std::size_t length = heads.length();
  const std::size_t row = heads.width() * kLanes;
  T* next = scratch;
  const auto take = [&](std::size_t values) {
    T* piece = next;
    next += values;
    return piece;
  };
  T* const q = take(length * row);
  T* const k = take(length * row);
  T* const v = take(length * row);
  T* const out = take(length * row);
  T* const d_out = take(length * row);
  T* const p = take(length * length * kLanes);  // (query, key)
  T* const ds = take(length * length * kLanes);
  T* const result = take(row);
  heads.turn_over(t.q, q);
  heads.turn_over(t.k, k);
  heads.turn_over(t.v, v);
  heads.turn_over(t.out, out);
  heads.turn_over(t.d_out, d_out);
  const T scale = static_cast<T>(shape.scale);
  for (std::size_t i = 0; i < length; ++i) {
    const KeyRange seen = heads.seen(i);
    T* const weights = p + i * length * kLanes;
    T* const gradients = ds + i * length * kLanes;
    ShortPartials<decltype(d)> partials(d);
    for (std::size_t c = 0; c < heads.width(); ++c) {
      const std::size_t at = i * row + c * kLanes;
      partials.partial[c % 16] =
          hn::Add(partials.partial[c % 16], hn::Mul(hn::Load(d, d_out + at), hn::Load(d, out + at)));
    }
    const auto delta = partials.total();
    HWY_ALIGN T max[kLanes];
    HWY_ALIGN T sum[kLanes];
    heads.gather(t.max, i, max);
    heads.gather(t.sum, i, sum);
    const auto m = hn::Load(d, max);
    const auto reciprocal = hn::Div(hn::Set(d, T{1}), hn::Load(d, sum));
    short_scores(heads, i, seen, q + i * row, k, weights);
    short_dot_products(d, heads.width(), d_out + i * row, v, seen.begin, seen.end, gradients);
    for (std::size_t j = seen.begin; j < seen.end; ++j) {
      const std::size_t at = j * kLanes;
      const auto weight = hn::Mul(exponential(hn::Sub(hn::Load(d, weights + at), m)), reciprocal);
      hn::Store(hn::Mul(weight, hn::Sub(hn::Load(d, gradients + at), delta)), d, gradients + at);
      hn::Store(weight, d, weights + at);
    }
    const std::size_t n = seen.begin < seen.end ? seen.end - seen.begin : 0;
    short_mix(d, heads.width(), gradients + seen.begin * kLanes, kLanes, k + seen.begin * row, n, scale, result);
    heads.turn_back(result, i, t.d_q);
  }
  // The queries that see key j are neighbours: begin and end of what they see rise with them.
  std::size_t from = 0, to = 0;
  for (std::size_t j = 0; j < length; ++j) {
    while (to < length && heads.seen(to).begin <= j) ++to;
    while (from < to && heads.seen(from).end <= j) ++from;
    const std::size_t at = (from * length + j) * kLanes;
    const std::size_t n = to - from;
    short_mix(d, heads.width(), ds + at, length * kLanes, q + from * row, n, scale, result);
    heads.turn_back(result, j, t.d_k);
    short_mix(d, heads.width(), p + at, length * kLanes, d_out + from * row, n, T{1}, result);
    heads.turn_back(result, j, t.d_v);
  }
}

// Lanes for so many heads: half a vector where that holds them all.
template <class T>
std::size_t attention_short_lanes(std::size_t heads) {
  constexpr std::size_t kWhole = hn::MaxLanes(hn::ScalableTag<T>());
  return heads <= kWhole / 2 ? kWhole / 2 : kWhole;
}

template <class T>
void attention_short_forward(const AttentionShape& shape, const AttentionForward<T>& t, std::size_t first,
                             std::size_t count, std::size_t lanes, T* scratch) {
  constexpr std::size_t kWhole = hn::MaxLanes(hn::ScalableTag<T>());
  if (lanes == kWhole) return short_forward<kWhole>(shape, t, first, count, scratch);
  short_forward<kWhole / 2>(shape, t, first, count, scratch);
}
template <class T>
void attention_short_backward(const AttentionShape& shape, const AttentionBackward<T>& t, std::size_t first,
                              std::size_t count, std::size_t lanes, T* scratch) {
  constexpr std::size_t kWhole = hn::MaxLanes(hn::ScalableTag<T>());
  if (lanes == kWhole) return short_backward<kWhole>(shape, t, first, count, scratch);
  short_backward<kWhole / 2>(shape, t, first, count, scratch);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ATTENTION_SHORT_INL_H
