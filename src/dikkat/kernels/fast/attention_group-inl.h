// Attention's inner loops for a group of neighbouring queries of one head: lanes are queries, so that whole score rows
// stand as columns of a (keys, lanes) tile in cache and every reduction over keys is vertical. Keys and values are read
// where they lie, one broadcast each. Every vector of lanes keeps to the keys that its own queries see.
#if defined(DIKKAT_FAST_ATTENTION_GROUP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ATTENTION_GROUP_INL_H
#undef DIKKAT_FAST_ATTENTION_GROUP_INL_H
#else
#define DIKKAT_FAST_ATTENTION_GROUP_INL_H
#endif

#include <algorithm>

#include "dikkat/kernels/fast/masked_tile-inl.h"
#include "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/fast/philox-inl.h"
#include "dikkat/kernels/fast/transpose-inl.h"
#include "dikkat/kernels/reference/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// Queries in the largest group.
inline constexpr std::size_t kMostLanes = 64;
// Keys whose keep factors come from sixteen counters.
inline constexpr std::size_t kDrawBlock = 64;

// Cuts one worker's memory into aligned pieces.
template <class T>
struct Pieces {
  T* next;
  T* take(std::size_t n) {
    T* piece = next;
    next += round_to_line(n);
    return piece;
  }
  static constexpr std::size_t round_to_line(std::size_t n) {
    return (n + 64 / sizeof(T) - 1) / (64 / sizeof(T)) * (64 / sizeof(T));
  }
};

// Where one head's rows lie in memory.
template <class T>
struct HeadRows {
  T* data;
  std::size_t stride;
};
template <class T>
HeadRows<T> rows_of(const Heads<T>& heads, std::size_t first_row, std::size_t head, std::size_t width) {
  return {heads.data == nullptr ? nullptr : heads.data + first_row * heads.stride + head * width, heads.stride};
}

// Keys [begin, end) seen by some query of a vector of lanes, and [all_begin, all_end) within them seen by all.
struct VectorKeys {
  std::size_t begin, all_begin, all_end, end;
  [[nodiscard]] VectorKeys within(KeyRange keys) const {
    const auto cut = [&](std::size_t key) { return std::min(std::max(key, keys.begin), keys.end); };
    return {cut(begin), cut(all_begin), cut(all_end), cut(end)};
  }
};

// The rows [keys) copied to where they are neighbours: rows a page apart, read over and over, are slow. `to` has room
// for all of the sample's keys.
template <class T>
HeadRows<const T> side_by_side(const HeadRows<const T>& rows, KeyRange keys, std::size_t width, T* to) {
  if (keys.begin < keys.end) {
    copy_rows(rows.data + keys.begin * rows.stride, rows.stride, keys.end - keys.begin, width, to + keys.begin * width,
              width);
  }
  return {to, width};
}

template <class T>
struct Group {
  const AttentionShape& shape;
  const AttentionSample& sample;
  std::size_t head;
  std::size_t first;  // query
  std::size_t count;  // of queries; lanes beyond repeat the last one's range
  std::size_t lanes;
  KeyRange some;  // keys that a query of the group sees
  HWY_ALIGN Index<T> begin[kMostLanes];
  HWY_ALIGN Index<T> end[kMostLanes];

  // Queries i, i + 1, ..., at most `most` of them (a multiple of the vector's lanes) and all before `last`.
  Group(const AttentionShape& the_shape, const AttentionSample& the_sample, std::size_t h, std::size_t i,
        std::size_t last, std::size_t most)
      : shape(the_shape), sample(the_sample), head(h), first(i), count(std::min(last - i, most)) {
    const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
    lanes = (count + step - 1) / step * step;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const KeyRange seen = shape.mask.visible(position(lane), sample.keys);
      begin[lane] = static_cast<Index<T>>(seen.begin);
      end[lane] = static_cast<Index<T>>(seen.end);
    }
    some = {static_cast<std::size_t>(begin[0]), static_cast<std::size_t>(end[lanes - 1])};
    some.end = std::max(some.begin, some.end);
  }
  [[nodiscard]] VectorKeys keys_of(std::size_t lane) const {
    const std::size_t last = lane + hn::Lanes(hn::ScalableTag<T>()) - 1;
    VectorKeys keys{static_cast<std::size_t>(begin[lane]), static_cast<std::size_t>(begin[last]),
                    static_cast<std::size_t>(end[lane]), static_cast<std::size_t>(end[last])};
    if (keys.all_begin > keys.all_end) keys.all_begin = keys.all_end = keys.begin;
    return keys;
  }
  [[nodiscard]] std::size_t position(std::size_t lane) const {
    return sample.first_position + first + std::min(lane, count - 1);
  }
  [[nodiscard]] Ranges<T> ranges(std::size_t from) const { return {begin + from, end + from}; }
};

// columns (D, lanes) of the group's rows; zeros in lanes that are no query.
template <class T>
void to_columns(const Group<T>& g, const HeadRows<const T>& rows, T* columns) {
  if (g.count < g.lanes) std::fill(columns, columns + g.shape.width * g.lanes, T{0});
  transpose(rows.data + g.first * rows.stride, rows.stride, g.count, g.shape.width, columns, g.lanes);
}
template <class T>
void from_columns(const Group<T>& g, const T* columns, const HeadRows<T>& rows) {
  transpose(columns, g.lanes, g.shape.width, g.count, rows.data + g.first * rows.stride, rows.stride);
}

// to (keys, lanes) from the dot products of keys' rows with the columns, times factor, for the keys a vector sees.
template <class T>
void dot_products(const Group<T>& g, KeyRange keys, const HeadRows<const T>& rows, const T* columns, T factor, T* to) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  for (std::size_t lane = 0; lane < g.lanes; lane += step) {
    const VectorKeys seen = g.keys_of(lane).within(keys);
    tiles<T>({.a = rows.data + seen.begin * rows.stride,
              .a_row = rows.stride,
              .a_k = 1,
              .b = columns + lane,
              .b_k = g.lanes,
              .depth = g.shape.width,
              .c = to + (seen.begin - keys.begin) * g.lanes + lane,
              .c_row = g.lanes,
              .last = 0,
              .begin = Begin::zero,
              .end = factor == T{1} ? End::store : End::scale,
              .bias = nullptr,
              .factor = factor},
             seen.end - seen.begin, 1);
  }
}

// s_j = fma(slope, -|i - j|, s_j)
template <class T>
void add_slopes(const Group<T>& g, KeyRange keys, T* scores) {
  if (g.shape.slopes.empty()) return;
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  const auto slope = hn::Set(d, static_cast<T>(g.shape.slopes[g.head]));
  HWY_ALIGN T position[kMostLanes];
  for (std::size_t lane = 0; lane < g.lanes; ++lane) position[lane] = static_cast<T>(g.position(lane));
  for (std::size_t lane = 0; lane < g.lanes; lane += step) {
    const VectorKeys seen = g.keys_of(lane).within(keys);
    for (std::size_t j = seen.begin; j < seen.end; ++j) {
      T* s = scores + (j - keys.begin) * g.lanes + lane;
      const auto distance = hn::Abs(hn::Sub(hn::Load(d, position + lane), hn::Set(d, static_cast<T>(j))));
      hn::StoreU(hn::MulAdd(slope, hn::Neg(distance), hn::LoadU(d, s)), d, s);
    }
  }
}

// The scores (keys, lanes) as the definition has them, where a vector's queries see keys.
template <class T>
void scores_of(const Group<T>& g, KeyRange keys, const HeadRows<const T>& k, const T* q_columns, T* scores) {
  dot_products(g, keys, k, q_columns, static_cast<T>(g.shape.scale), scores);
  add_slopes(g, keys, scores);
}

// 16 partial sums by index modulo 16, each a vector of lanes, and the tree over them.
template <class T>
struct LanePartials {
  using D = hn::ScalableTag<T>;
  HWY_ALIGN T partial[16 * HWY_MAX_BYTES / sizeof(T)];
  HWY_INLINE LanePartials() {
    for (std::size_t i = 0; i < 16; ++i) hn::Store(hn::Zero(D()), D(), partial + i * hn::Lanes(D()));
  }
  HWY_INLINE void add(std::size_t index, hn::Vec<D> value) {
    T* to = partial + index % 16 * hn::Lanes(D());
    hn::Store(hn::Add(hn::Load(D(), to), value), D(), to);
  }
  HWY_INLINE hn::Vec<D> total() const {
    hn::Vec<D> sum[8];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) {
      sum[i] = hn::Add(hn::Load(D(), partial + i * hn::Lanes(D())), hn::Load(D(), partial + (i + 8) * hn::Lanes(D())));
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) sum[i] = hn::Add(sum[i], sum[i + 4]);
    return hn::Add(hn::Add(sum[0], sum[2]), hn::Add(sum[1], sum[3]));
  }
};

// The lanes' m, Z and r = 1 / Z; zeros for a query with nothing to look at.
template <class T>
struct GroupSums {
  HWY_ALIGN T max[kMostLanes];
  HWY_ALIGN T sum[kMostLanes];
  HWY_ALIGN T reciprocal[kMostLanes];
};

// m over the scores of keys [from, to), s of the key `from`; kHidden: some lanes do not see some of the keys.
template <bool kHidden, class T, class V>
HWY_INLINE V lane_maxima(const Group<T>& g, std::size_t lane, std::size_t from, std::size_t to, const T* s, V m) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto begin = hn::Load(di, g.begin + lane);
  const auto end = hn::Load(di, g.end + lane);
  for (std::size_t j = from; j < to; ++j, s += g.lanes) {
    const V larger = hn::Max(m, hn::LoadU(d, s));
    if (kHidden) {
      m = hn::IfThenElse(seen_by<T>(hn::Set(di, static_cast<Index<T>>(j)), begin, end), larger, m);
    } else {
      m = larger;
    }
  }
  return m;
}

// s becomes e = exp(s - m), 0 where hidden (whose exponent is made 0 first: results too small to hold are slow).
template <bool kHidden, class T, class V>
HWY_INLINE void lane_exponentials(const Group<T>& g, std::size_t lane, std::size_t from, std::size_t to, T* s, V m,
                                  LanePartials<T>& partials) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto begin = hn::Load(di, g.begin + lane);
  const auto end = hn::Load(di, g.end + lane);
  for (std::size_t j = from; j < to; ++j, s += g.lanes) {
    V e = hn::Sub(hn::LoadU(d, s), m);
    if (kHidden) {
      const auto seen = seen_by<T>(hn::Set(di, static_cast<Index<T>>(j)), begin, end);
      e = hn::IfThenElseZero(seen, exponential(hn::IfThenElseZero(seen, e)));
    } else {
      e = exponential(e);
    }
    hn::StoreU(e, d, s);
    partials.add(j, e);
  }
}

// Scores (keys of `some`, lanes) become the weights p, 0 where hidden.
template <class T>
void softmax_columns(const Group<T>& g, T* scores, GroupSums<T>& sums) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  for (std::size_t lane = 0; lane < g.lanes; lane += hn::Lanes(d)) {
    const VectorKeys keys = g.keys_of(lane);
    const auto at = [&](std::size_t key) { return scores + (key - g.some.begin) * g.lanes + lane; };
    auto m = hn::Set(d, -std::numeric_limits<T>::infinity());
    m = lane_maxima<true>(g, lane, keys.begin, keys.all_begin, at(keys.begin), m);
    m = lane_maxima<false>(g, lane, keys.all_begin, keys.all_end, at(keys.all_begin), m);
    m = hn::Add(lane_maxima<true>(g, lane, keys.all_end, keys.end, at(keys.all_end), m), hn::Zero(d));
    LanePartials<T> partials;
    lane_exponentials<true>(g, lane, keys.begin, keys.all_begin, at(keys.begin), m, partials);
    lane_exponentials<false>(g, lane, keys.all_begin, keys.all_end, at(keys.all_begin), m, partials);
    lane_exponentials<true>(g, lane, keys.all_end, keys.end, at(keys.all_end), m, partials);
    const auto something = hn::RebindMask(d, hn::Lt(hn::Load(di, g.begin + lane), hn::Load(di, g.end + lane)));
    const auto sum = hn::IfThenElseZero(something, partials.total());
    const auto reciprocal = hn::Div(hn::Set(d, T{1}), hn::IfThenElse(something, sum, hn::Set(d, T{1})));
    hn::Store(hn::IfThenElseZero(something, m), d, sums.max + lane);
    hn::Store(sum, d, sums.sum + lane);
    for (std::size_t j = keys.begin; j < keys.end; ++j) {
      hn::StoreU(hn::Mul(hn::LoadU(d, at(j)), reciprocal), d, at(j));
    }
  }
}

// keep (64, lanes): the keep factors of the keys 64 * block + 0 ... 63. rows: room for (lanes, 64).
template <class T>
void keep_columns(const Group<T>& g, std::size_t block, T* rows, T* keep) {
  const PhiloxKeys keys(random::substream(g.shape.dropout_stream, g.head).key);
  const KeepRule<T> rule(g.shape.dropout);
  for (std::size_t lane = 0; lane < g.lanes; ++lane) {
    const RowOfDraws draws{static_cast<std::uint32_t>(g.position(lane)), g.sample.number, g.shape.step};
    keep_factors64(keys, rule, draws, block, rows + lane * kDrawBlock);
  }
  transpose(rows, kDrawBlock, g.lanes, kDrawBlock, keep, g.lanes);
}

// to = from * keep over the keys of one block; to and from begin with the key keys.begin.
template <class T>
void multiply_columns(const Group<T>& g, KeyRange keys, const T* from, const T* keep, T* to) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  keep += keys.begin % kDrawBlock * g.lanes;
  for (std::size_t i = 0; i < (keys.end - keys.begin) * g.lanes; i += step) {
    hn::StoreU(hn::Mul(hn::LoadU(d, from + i), hn::LoadU(d, keep + i)), d, to + i);
  }
}

// columns (D, lanes) += over ascending keys that a lane sees: rows[key][d] * weights[key - keys.begin][lane].
template <class T>
void accumulate_over_keys(const Group<T>& g, KeyRange keys, const HeadRows<const T>& rows, const T* weights,
                          T* columns) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t width = g.shape.width;
  for (std::size_t lane = 0; lane < g.lanes; lane += step) {
    const VectorKeys seen = g.keys_of(lane).within(keys);
    const auto product = [&](std::size_t from, std::size_t to) {
      return Tile<T>{.a = rows.data + from * rows.stride,
                     .a_row = 1,
                     .a_k = rows.stride,
                     .b = weights + (from - keys.begin) * g.lanes + lane,
                     .b_k = g.lanes,
                     .depth = to - from,
                     .c = columns + lane,
                     .c_row = g.lanes,
                     .last = 0,
                     .begin = Begin::resume,
                     .end = End::store,
                     .bias = nullptr,
                     .factor = T{1}};
    };
    tiles_over_keys(product(seen.begin, seen.all_begin), g.ranges(lane), seen.begin, width);
    tiles(product(seen.all_begin, seen.all_end), width, 1);
    tiles_over_keys(product(seen.all_end, seen.end), g.ranges(lane), seen.all_end, width);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ATTENTION_GROUP_INL_H
