// Attention's inner loops for a group of neighbouring queries of one head: lanes are queries, so that whole score rows
// stand as columns of a (keys, lanes) tile in cache and every reduction over keys is vertical. Keys and values are read
// where they lie, one broadcast each.
#if defined(DIKKAT_FAST_ATTENTION_GROUP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ATTENTION_GROUP_INL_H
#undef DIKKAT_FAST_ATTENTION_GROUP_INL_H
#else
#define DIKKAT_FAST_ATTENTION_GROUP_INL_H
#endif

#include <algorithm>

#include "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/fast/masked_tile-inl.h"
#include "dikkat/kernels/fast/philox-inl.h"
#include "dikkat/kernels/fast/transpose-inl.h"
#include "dikkat/kernels/reference/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// Vectors of queries in a group: two make a tile that keeps the multipliers busy; more waste too much on causal masks.
inline constexpr std::size_t kGroupVectors = 2;
inline constexpr std::size_t kMostLanes = kGroupVectors * HWY_MAX_BYTES / sizeof(float);
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
  static constexpr std::size_t round_to_line(std::size_t n) { return (n + 64 / sizeof(T) - 1) / (64 / sizeof(T)) * (64 / sizeof(T)); }
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

template <class T>
struct Group {
  const AttentionShape& shape;
  const AttentionSample& sample;
  std::size_t head;
  std::size_t first;    // query
  std::size_t count;    // of queries; lanes beyond repeat the last one's range
  std::size_t vectors;  // of lanes
  std::size_t lanes;
  KeyRange some;  // keys that a query of the group sees
  KeyRange all;   // keys that all of them see; begin >= end: none
  HWY_ALIGN Index<T> begin[kMostLanes];
  HWY_ALIGN Index<T> end[kMostLanes];

  Group(const AttentionShape& the_shape, const AttentionSample& the_sample, std::size_t h, std::size_t i,
        std::size_t last)
      : shape(the_shape), sample(the_sample), head(h), first(i) {
    const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
    count = std::min(last - i, kGroupVectors * step);
    vectors = (count + step - 1) / step;
    lanes = vectors * step;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const KeyRange seen = shape.mask.visible(sample.first_position + first + std::min(lane, count - 1), sample.keys);
      begin[lane] = static_cast<Index<T>>(seen.begin);
      end[lane] = static_cast<Index<T>>(seen.end);
    }
    some = {static_cast<std::size_t>(begin[0]), static_cast<std::size_t>(end[lanes - 1])};
    some.end = std::max(some.begin, some.end);
    all = common(0, lanes);
  }
  // Keys that all of the lanes [from, to) see; an empty range stands within `some`.
  [[nodiscard]] KeyRange common(std::size_t from, std::size_t to) const {
    const KeyRange range{static_cast<std::size_t>(begin[to - 1]), static_cast<std::size_t>(end[from])};
    return range.begin < range.end ? range : KeyRange{some.begin, some.begin};
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

// to (keys, lanes) from the dot products of keys' rows with the columns, times factor.
template <class T>
void dot_products(const Group<T>& g, KeyRange keys, const HeadRows<const T>& rows, const T* columns, T factor, T* to) {
  tiles<T>({.a = rows.data + keys.begin * rows.stride,
            .a_row = rows.stride,
            .a_k = 1,
            .b = columns,
            .b_k = g.lanes,
            .depth = g.shape.width,
            .c = to,
            .c_row = g.lanes,
            .last = 0,
            .begin = Begin::zero,
            .end = factor == T{1} ? End::store : End::scale,
            .bias = nullptr,
            .factor = factor},
           keys.end - keys.begin, g.vectors);
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
  for (std::size_t j = keys.begin; j < keys.end; ++j, scores += g.lanes) {
    const auto key = hn::Set(d, static_cast<T>(j));
    for (std::size_t l = 0; l < g.lanes; l += step) {
      const auto distance = hn::Neg(hn::Abs(hn::Sub(hn::Load(d, position + l), key)));
      hn::StoreU(hn::MulAdd(slope, distance, hn::LoadU(d, scores + l)), d, scores + l);
    }
  }
}

// Scores that a lane's query does not see become -infinity, so that exp makes them 0.
template <class T>
void hide(const Group<T>& g, KeyRange keys, std::size_t lane, KeyRange seen_by_all, T* scores) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto begin = hn::Load(di, g.begin + lane);
  const auto end = hn::Load(di, g.end + lane);
  const auto nothing = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (std::size_t j = keys.begin; j < keys.end; ++j) {
    if (j == seen_by_all.begin && j < seen_by_all.end) j = std::min(seen_by_all.end, keys.end);
    if (j == keys.end) break;
    T* s = scores + (j - keys.begin) * g.lanes + lane;
    const auto seen = seen_by<T>(hn::Set(di, static_cast<Index<T>>(j)), begin, end);
    hn::StoreU(hn::IfThenElse(seen, hn::LoadU(d, s), nothing), d, s);
  }
}

// The scores (keys, lanes) as the definition has them, -infinity where hidden.
template <class T>
void scores_of(const Group<T>& g, KeyRange keys, const HeadRows<const T>& k, const T* q_columns, T* scores) {
  dot_products(g, keys, k, q_columns, static_cast<T>(g.shape.scale), scores);
  add_slopes(g, keys, scores);
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  for (std::size_t lane = 0; lane < g.lanes; lane += step) {
    KeyRange common = g.common(lane, lane + step);
    common.begin = std::max(common.begin, keys.begin);
    hide(g, keys, lane, common, scores);
  }
}

// 16 partial sums by index modulo 16, each a row of lanes, and the tree over them.
template <class T>
struct ColumnPartials {
  HWY_ALIGN T partial[16 * kMostLanes];
  explicit ColumnPartials(std::size_t lanes) { std::fill(partial, partial + 16 * lanes, T{0}); }
  HWY_INLINE void add(std::size_t index, std::size_t lanes, std::size_t lane, hn::Vec<hn::ScalableTag<T>> value) {
    const hn::ScalableTag<T> d;
    T* to = partial + index % 16 * lanes + lane;
    hn::Store(hn::Add(hn::Load(d, to), value), d, to);
  }
  const T* total(std::size_t lanes) {
    for (std::size_t half = 8; half != 0; half /= 2) {
      for (std::size_t i = 0; i < half * lanes; ++i) partial[i] = partial[i] + partial[i + half * lanes];
    }
    return partial;
  }
};

// The lanes' m, Z and r = 1 / Z; zeros for a query with nothing to look at.
template <class T>
struct GroupSums {
  HWY_ALIGN T max[kMostLanes];
  HWY_ALIGN T sum[kMostLanes];
  HWY_ALIGN T reciprocal[kMostLanes];
};

template <class T>
void column_maxima(const Group<T>& g, const T* scores, T* max) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  const std::size_t keys = g.some.end - g.some.begin;
  for (std::size_t l = 0; l < g.lanes; l += step) {
    auto m = hn::Set(d, -std::numeric_limits<T>::infinity());
    for (std::size_t j = 0; j < keys; ++j) m = hn::Max(m, hn::LoadU(d, scores + j * g.lanes + l));
    hn::Store(hn::Add(m, hn::Zero(d)), d, max + l);
  }
}

// scores (keys of `some`, lanes) become the weights p.
template <class T>
void softmax_columns(const Group<T>& g, T* scores, GroupSums<T>& sums) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  column_maxima(g, scores, sums.max);
  ColumnPartials<T> partials(g.lanes);
  T* s = scores;
  for (std::size_t j = g.some.begin; j < g.some.end; ++j, s += g.lanes) {
    for (std::size_t l = 0; l < g.lanes; l += step) {
      const auto e = exponential(hn::Sub(hn::LoadU(d, s + l), hn::Load(d, sums.max + l)));
      hn::StoreU(e, d, s + l);
      partials.add(j, g.lanes, l, e);
    }
  }
  const T* total = partials.total(g.lanes);
  for (std::size_t l = 0; l < g.lanes; ++l) {
    const bool nothing = g.begin[l] >= g.end[l];
    sums.max[l] = nothing ? T{0} : sums.max[l];
    sums.sum[l] = nothing ? T{0} : total[l];
    sums.reciprocal[l] = nothing ? T{0} : T{1} / total[l];
  }
  s = scores;
  for (std::size_t j = g.some.begin; j < g.some.end; ++j, s += g.lanes) {
    for (std::size_t l = 0; l < g.lanes; l += step) {
      hn::StoreU(hn::Mul(hn::LoadU(d, s + l), hn::Load(d, sums.reciprocal + l)), d, s + l);
    }
  }
}

// keep (64, lanes): the keep factors of the keys 64 * block + 0 ... 63. rows: room for (lanes, 64).
template <class T>
void keep_columns(const Group<T>& g, const PhiloxKeys& keys, const KeepRule<T>& rule, std::size_t block, T* rows, T* keep) {
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
void accumulate_over_keys(const Group<T>& g, KeyRange keys, const HeadRows<const T>& rows, const T* weights, T* columns) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  const auto product = [&](KeyRange range, std::size_t lane) {
    return Tile<T>{.a = rows.data + range.begin * rows.stride,
                   .a_row = 1,
                   .a_k = rows.stride,
                   .b = weights + (range.begin - keys.begin) * g.lanes + lane,
                   .b_k = g.lanes,
                   .depth = range.end - range.begin,
                   .c = columns + lane,
                   .c_row = g.lanes,
                   .last = 0,
                   .begin = Begin::resume,
                   .end = End::store,
                   .bias = nullptr,
                   .factor = T{1}};
  };
  const auto within = [&](std::size_t key) { return std::min(std::max(key, keys.begin), keys.end); };
  const KeyRange all{within(g.all.begin), within(g.all.end)};
  const std::size_t width = g.shape.width;
  for (std::size_t lane = 0; lane < g.lanes; lane += step) {
    tiles_over_keys(product({keys.begin, all.begin}, lane), g.ranges(lane), keys.begin, width);
  }
  tiles(product(all, 0), width, g.vectors);
  for (std::size_t lane = 0; lane < g.lanes; lane += step) {
    const KeyRange common = g.common(lane, lane + step);
    const std::size_t plain_end = common.begin <= all.end ? std::max(all.end, within(common.end)) : all.end;
    tiles(product({all.end, plain_end}, lane), width, 1);
    const std::size_t seen_end = std::max(plain_end, within(static_cast<std::size_t>(g.end[lane + step - 1])));
    tiles_over_keys(product({plain_end, seen_end}, lane), g.ranges(lane), plain_end, width);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ATTENTION_GROUP_INL_H
