// Fast bodies of attention.h, each for some queries of one head of one sample (backward: for one key head of one
// sample, since the heads of a group add into one gradient).
#if defined(DIKKAT_FAST_ATTENTION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ATTENTION_INL_H
#undef DIKKAT_FAST_ATTENTION_INL_H
#else
#define DIKKAT_FAST_ATTENTION_INL_H
#endif

#include "dikkat/kernels/fast/attention_group-inl.h"
#include "dikkat/kernels/fast/attention_lone-inl.h"
#include "dikkat/kernels/fast/attention_part.h"
#include "dikkat/kernels/fast/attention_short-inl.h"
#include "dikkat/kernels/reference/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// Fewer queries than this leave most lanes of a group idle.
template <class T>
std::size_t lone_queries() {
  return hn::Lanes(hn::ScalableTag<T>()) / 4;
}

// With so many queries at a time a copy of the keys and values pays for itself.
inline constexpr std::size_t kCopiesPay = 100;

// Queries of a group in the forward passes: one vector, so that a causal mask wastes little.
template <class T>
std::size_t forward_lanes() {
  return hn::Lanes(hn::ScalableTag<T>());
}

// Values of scratch that the forward bodies need for a sample of so many keys.
template <class T>
std::size_t attention_scratch(std::size_t width, std::size_t keys) {
  const std::size_t lanes = forward_lanes<T>();
  return 2 * width * lanes + (keys + 64) * lanes + 2 * kDrawBlock * lanes + width * kLoneKeys + 2 * keys * width +
         8 * 64;
}

// p of the group, dropped in place, block by block of the draws.
template <class T>
void drop_columns(const Group<T>& g, T* weights, Pieces<T> pieces) {
  if (g.shape.dropout == 0) return;
  T* rows = pieces.take(kDrawBlock * g.lanes);
  T* keep = pieces.take(kDrawBlock * g.lanes);
  for (std::size_t block = g.some.begin / kDrawBlock; block * kDrawBlock < g.some.end; ++block) {
    const KeyRange range{std::max(g.some.begin, block * kDrawBlock), std::min(g.some.end, (block + 1) * kDrawBlock)};
    T* from = weights + (range.begin - g.some.begin) * g.lanes;
    keep_columns(g, block, rows, keep);
    multiply_columns(g, range, from, keep, from);
  }
}

// out of the group from its weights p (before dropout; they are overwritten).
template <class T>
void mix_columns(const Group<T>& g, T* weights, const HeadRows<const T>& v, const HeadRows<T>& out, Pieces<T> pieces) {
  drop_columns(g, weights, pieces);
  T* columns = pieces.take(g.shape.width * g.lanes);
  std::fill(columns, columns + g.shape.width * g.lanes, T{0});
  accumulate_over_keys(g, g.some, v, weights, columns);
  from_columns(g, columns, out);
}

template <class T>
void attention_forward_fast(const AttentionShape& shape, const AttentionForward<T>& t, const AttentionPart& part,
                            T* scratch) {
  const AttentionSample s = attention_sample(shape, part.sample);
  const std::size_t h = part.head;
  const std::size_t kv_head = h / (shape.heads / shape.kv_heads);
  const auto q = rows_of(t.q, s.query_row, h, shape.width);
  auto k = rows_of(t.k, s.key_row, kv_head, shape.width);
  auto v = rows_of(t.v, s.key_row, kv_head, shape.width);
  const auto out = rows_of(t.out, s.query_row, h, shape.width);
  const auto keep_sums = [&](std::size_t i, T max, T sum) {
    if (t.max != nullptr) t.max[(s.query_row + i) * shape.heads + h] = max;
    if (t.sum != nullptr) t.sum[(s.query_row + i) * shape.heads + h] = sum;
  };
  Pieces<T> pieces{scratch};
  if (part.last - part.first <= lone_queries<T>()) {
    T* columns = pieces.take(shape.width * kLoneKeys);
    T* weights = pieces.take(whole_sixteens(s.keys));
    for (std::size_t i = part.first; i < part.last; ++i) {
      const AttentionQuery<T> query(shape, s, h, i);
      const RowSums<T> sums = lone_weights(query, q.data + i * q.stride, k, columns, weights);
      keep_sums(i, sums.max, sums.sum);
      if (shape.dropout != 0) lone_dropout(query, weights);
      lone_mix(query, weights, v, out.data + i * out.stride);
    }
    return;
  }
  T* columns = pieces.take(shape.width * forward_lanes<T>());
  T* weights = pieces.take(s.keys * forward_lanes<T>());
  if (part.last - part.first >= kCopiesPay) {
    const KeyRange keys{shape.mask.visible(s.first_position + part.first, s.keys).begin,
                        shape.mask.visible(s.first_position + part.last - 1, s.keys).end};
    k = side_by_side(k, keys, shape.width, pieces.take(s.keys * shape.width));
    v = side_by_side(v, keys, shape.width, pieces.take(s.keys * shape.width));
  }
  for (std::size_t i = part.first; i < part.last;) {
    const Group<T> g(shape, s, h, i, part.last, forward_lanes<T>());
    GroupSums<T> sums;
    to_columns(g, q, columns);
    scores_of(g, g.some, k, columns, weights);
    softmax_columns(g, weights, sums);
    for (std::size_t lane = 0; lane < g.count; ++lane) keep_sums(i + lane, sums.max[lane], sums.sum[lane]);
    mix_columns(g, weights, v, out, pieces);
    i += g.count;
  }
}

// pattern: the sample's rows, (T, H, keys); hidden entries are set to 0.
template <class T>
void attention_pattern_fast(const AttentionShape& shape, const Heads<const T>& all_q, const Heads<const T>& all_k,
                            T* pattern, std::size_t keys, const AttentionPart& part, T* scratch) {
  const AttentionSample s = attention_sample(shape, part.sample);
  const auto q = rows_of(all_q, s.query_row, part.head, shape.width);
  const auto k = rows_of(all_k, s.key_row, part.head / (shape.heads / shape.kv_heads), shape.width);
  Pieces<T> pieces{scratch};
  T* columns = pieces.take(shape.width * forward_lanes<T>());
  T* weights = pieces.take(s.keys * forward_lanes<T>());
  for (std::size_t i = part.first; i < part.last;) {
    const Group<T> g(shape, s, part.head, i, part.last, forward_lanes<T>());
    GroupSums<T> sums;
    to_columns(g, q, columns);
    scores_of(g, g.some, k, columns, weights);
    softmax_columns(g, weights, sums);
    T* to = pattern + ((s.query_row + i) * shape.heads + part.head) * keys;
    const std::size_t to_row = shape.heads * keys;
    transpose(weights, g.lanes, g.some.end - g.some.begin, g.count, to + g.some.begin, to_row);
    for (std::size_t lane = 0; lane < g.count; ++lane) {
      T* row = to + lane * to_row;
      std::fill(row, row + g.begin[lane], T{0});
      std::fill(row + g.end[lane], row + keys, T{0});
    }
    i += g.count;
  }
}

template <class T>
void attention_mix_fast(const AttentionShape& shape, const T* pattern, std::size_t keys, const Heads<const T>& all_v,
                        const Heads<T>& all_out, const AttentionPart& part, T* scratch) {
  const AttentionSample s = attention_sample(shape, part.sample);
  const auto v = rows_of(all_v, s.key_row, part.head / (shape.heads / shape.kv_heads), shape.width);
  const auto out = rows_of(all_out, s.query_row, part.head, shape.width);
  Pieces<T> pieces{scratch};
  T* weights = pieces.take(s.keys * forward_lanes<T>());
  for (std::size_t i = part.first; i < part.last;) {
    const Group<T> g(shape, s, part.head, i, part.last, forward_lanes<T>());
    const T* from = pattern + ((s.query_row + i) * shape.heads + part.head) * keys + g.some.begin;
    const std::size_t seen = g.some.end - g.some.begin;
    if (g.count < g.lanes) std::fill(weights, weights + seen * g.lanes, T{0});
    transpose(from, shape.heads * keys, g.count, seen, weights, g.lanes);
    mix_columns(g, weights, v, out, pieces);
    i += g.count;
  }
}

// What the backward pass holds of one group.
template <class T>
struct GroupGradient {
  T* q_columns;      // (D, lanes)
  T* d_out_columns;  // (D, lanes)
  T* dq_columns;     // (D, lanes)
  T* q_rows;         // (lanes, D widened to whole vectors)
  T* d_out_rows;
  T* p;   // (64, lanes), p'
  T* ds;  // (64, lanes)
  T* keep;
  T* keep_rows;
  HWY_ALIGN T delta[kMostLanes];
  GroupSums<T> sums;

  GroupGradient(std::size_t width, std::size_t wide, Pieces<T>& pieces) {
    for (T** columns : {&q_columns, &d_out_columns, &dq_columns}) *columns = pieces.take(width * kMostLanes);
    for (T** rows : {&q_rows, &d_out_rows}) *rows = pieces.take(wide * kMostLanes);
    for (T** block : {&p, &ds, &keep, &keep_rows}) *block = pieces.take(kDrawBlock * kMostLanes);
  }
};

template <class T>
std::size_t attention_backward_scratch(std::size_t width, std::size_t keys) {
  const std::size_t wide = width + 64 / sizeof(T);
  return (3 * width + 2 * wide + 4 * kDrawBlock) * kMostLanes + 2 * keys * (wide + width) + 20 * 64;
}

// delta of every lane; columns of out pass through dq_columns, which is not in use yet.
template <class T>
void find_delta(const Group<T>& g, const HeadRows<const T>& out, GroupGradient<T>& gradient) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  to_columns(g, out, gradient.dq_columns);
  for (std::size_t lane = 0; lane < g.lanes; lane += step) {
    LanePartials<T> partials;
    for (std::size_t c = 0; c < g.shape.width; ++c) {
      const std::size_t at = c * g.lanes + lane;
      partials.add(c, hn::Mul(hn::Load(d, gradient.d_out_columns + at), hn::Load(d, gradient.dq_columns + at)));
    }
    hn::Store(partials.total(), d, gradient.delta + lane);
  }
}

// p and ds from the scores in p and the dot products of d_out and v in ds; p becomes p'.
template <class T>
void score_gradients(const Group<T>& g, KeyRange keys, GroupGradient<T>& gradient) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  const bool drops = g.shape.dropout != 0;
  const T* keep = gradient.keep + keys.begin % kDrawBlock * g.lanes;
  for (std::size_t l = 0; l < g.lanes; l += step) {
    const auto max = hn::Load(d, gradient.sums.max + l);
    const auto reciprocal = hn::Load(d, gradient.sums.reciprocal + l);
    const auto delta = hn::Load(d, gradient.delta + l);
    const VectorKeys seen = g.keys_of(l).within(keys);
    for (std::size_t j = seen.begin; j < seen.end; ++j) {
      const std::size_t at = (j - keys.begin) * g.lanes + l;
      auto p = hn::Mul(exponential(hn::Sub(hn::Load(d, gradient.p + at), max)), reciprocal);
      auto dp = hn::Load(d, gradient.ds + at);
      if (drops) dp = hn::Mul(dp, hn::Load(d, keep + at));
      hn::Store(hn::Mul(p, hn::Sub(dp, delta)), d, gradient.ds + at);
      if (drops) p = hn::Mul(p, hn::Load(d, keep + at));
      hn::Store(p, d, gradient.p + at);
    }
  }
}

// sums (S, wide) += over ascending queries of the group that see a key: weights[key - keys.begin][query] * rows[query].
template <class T>
struct KeySums {
  const T* weights;
  const T* rows;
  T* sums;
};
template <class T>
void accumulate_over_queries(const Group<T>& g, KeyRange keys, std::size_t wide, const KeySums<T> (&both)[2]) {
  const std::size_t vectors = wide / hn::Lanes(hn::ScalableTag<T>());
  // Queries rise in begin and end. gone: end at or before the first key at hand; brief: end within the keys at hand;
  // early: begin at or before the first key; near: begin before the last.
  std::size_t gone = 0, brief = 0, early = 0, near = 0;
  const auto skip_while = [&](std::size_t& i, const Index<T>* bound, std::size_t limit) {
    while (i < g.count && static_cast<std::size_t>(bound[i]) < limit) ++i;
  };
  for (std::size_t j = keys.begin; j < keys.end;) {
    const std::size_t taken = std::min(kTileRows, keys.end - j);
    skip_while(gone, g.end, j + 1);
    brief = std::max(brief, gone);
    skip_while(brief, g.end, j + taken);
    skip_while(early, g.begin, j + 1);
    near = std::max(near, early);
    skip_while(near, g.begin, j + taken);
    const std::size_t plain = std::min(brief, early);
    for (const KeySums<T>& s : both) {
      const auto product = [&](std::size_t from, std::size_t to) {
        return Tile<T>{.a = s.weights + (j - keys.begin) * g.lanes + from,
                       .a_row = g.lanes,
                       .a_k = 1,
                       .b = s.rows + from * wide,
                       .b_k = wide,
                       .depth = to - from,
                       .c = s.sums + j * wide,
                       .c_row = wide,
                       .last = 0,
                       .begin = Begin::resume,
                       .end = End::store,
                       .bias = nullptr,
                       .factor = T{1}};
      };
      tiles_over_queries(product(gone, plain), g.ranges(gone), j, taken, vectors);
      tiles(product(plain, early), taken, vectors);
      tiles_over_queries(product(early, near), g.ranges(early), j, taken, vectors);
    }
    j += taken;
  }
}

// One head: d_q is assigned; dk and dv (S, wide) take this head's chains.
template <class T>
void attention_backward_head(const AttentionShape& shape, const AttentionBackward<T>& t, const AttentionSample& s,
                             std::size_t h, const HeadRows<const T>& k, const HeadRows<const T>& v, std::size_t wide,
                             T* dk, T* dv, GroupGradient<T>& gradient) {
  const auto q = rows_of(t.q, s.query_row, h, shape.width);
  const auto d_out = rows_of(t.d_out, s.query_row, h, shape.width);
  const auto d_q = rows_of(t.d_q, s.query_row, h, shape.width);
  for (std::size_t i = 0; i < s.queries;) {
    const Group<T> g(shape, s, h, i, s.queries, kMostLanes);
    to_columns(g, q, gradient.q_columns);
    to_columns(g, d_out, gradient.d_out_columns);
    copy_rows(q.data + i * q.stride, q.stride, g.count, shape.width, gradient.q_rows, wide);
    copy_rows(d_out.data + i * d_out.stride, d_out.stride, g.count, shape.width, gradient.d_out_rows, wide);
    find_delta(g, rows_of(t.out, s.query_row, h, shape.width), gradient);
    for (std::size_t lane = 0; lane < g.lanes; ++lane) {
      const std::size_t at = (s.query_row + i + std::min(lane, g.count - 1)) * shape.heads + h;
      gradient.sums.max[lane] = t.max[at];
      gradient.sums.reciprocal[lane] = t.sum[at] == 0 ? T{0} : T{1} / t.sum[at];
    }
    std::fill(gradient.dq_columns, gradient.dq_columns + shape.width * g.lanes, T{0});
    for (KeyRange keys{g.some.begin, 0}; keys.begin < g.some.end; keys.begin = keys.end) {
      keys.end = std::min(g.some.end, (keys.begin / kDrawBlock + 1) * kDrawBlock);
      scores_of(g, keys, k, gradient.q_columns, gradient.p);
      dot_products(g, keys, v, gradient.d_out_columns, T{1}, gradient.ds);
      if (shape.dropout != 0) {
        keep_columns(g, keys.begin / kDrawBlock, gradient.keep_rows, gradient.keep);
      }
      score_gradients(g, keys, gradient);
      accumulate_over_queries(g, keys, wide,
                              {{gradient.ds, gradient.q_rows, dk}, {gradient.p, gradient.d_out_rows, dv}});
      accumulate_over_keys(g, keys, k, gradient.ds, gradient.dq_columns);
    }
    scale_plain(gradient.dq_columns, shape.width * g.lanes, shape.scale);
    from_columns(g, gradient.dq_columns, d_q);
    i += g.count;
  }
}

// All heads of one key head of one sample.
template <class T>
void attention_backward_fast(const AttentionShape& shape, const AttentionBackward<T>& t, std::size_t b,
                             std::size_t kv_head, T* scratch) {
  const AttentionSample s = attention_sample(shape, b);
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t wide = (shape.width + step - 1) / step * step;
  const std::size_t per_group = shape.heads / shape.kv_heads;
  const T scale = static_cast<T>(shape.scale);
  Pieces<T> pieces{scratch};
  GroupGradient<T> gradient(shape.width, wide, pieces);
  T* dk = pieces.take(s.keys * wide);
  T* dv = pieces.take(s.keys * wide);
  auto k = rows_of(t.k, s.key_row, kv_head, shape.width);
  auto v = rows_of(t.v, s.key_row, kv_head, shape.width);
  if (s.queries * per_group >= kCopiesPay) {
    k = side_by_side(k, {0, s.keys}, shape.width, pieces.take(s.keys * shape.width));
    v = side_by_side(v, {0, s.keys}, shape.width, pieces.take(s.keys * shape.width));
  }
  const auto d_k = rows_of(t.d_k, s.key_row, kv_head, shape.width);
  const auto d_v = rows_of(t.d_v, s.key_row, kv_head, shape.width);
  for (std::size_t h = kv_head * per_group; h < (kv_head + 1) * per_group; ++h) {
    std::fill(dk, dk + s.keys * wide, T{0});
    std::fill(dv, dv + s.keys * wide, T{0});
    attention_backward_head(shape, t, s, h, k, v, wide, dk, dv, gradient);
    const bool first = h == kv_head * per_group;
    for (std::size_t j = 0; j < s.keys; ++j) {
      T* HWY_RESTRICT to_k = d_k.data + j * d_k.stride;
      T* HWY_RESTRICT to_v = d_v.data + j * d_v.stride;
      const T* HWY_RESTRICT from_k = dk + j * wide;
      const T* HWY_RESTRICT from_v = dv + j * wide;
      for (std::size_t d = 0; d < shape.width; ++d) {
        to_k[d] = first ? from_k[d] * scale : to_k[d] + from_k[d] * scale;
        to_v[d] = first ? from_v[d] : to_v[d] + from_v[d];
      }
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ATTENTION_INL_H
