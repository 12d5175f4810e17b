// Fast bodies of pooling.h. Samples of equal length that follow one another lie in memory as a matrix with one row
// each; turned over, a vector's elements are samples, and the plain loops for one sample run on as many at once.
// Samples of unequal lengths take the plain loops themselves.
#if defined(DIKKAT_FAST_POOLING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_POOLING_INL_H
#undef DIKKAT_FAST_POOLING_INL_H
#else
#define DIKKAT_FAST_POOLING_INL_H
#endif

#include <algorithm>
#include <cstddef>

#include "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/fast/tree16-inl.h"
#include "dikkat/kernels/reference/pooling-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <class T>
inline constexpr std::size_t kPooledTogether = hn::MaxLanes(hn::ScalableTag<T>());

// Vectors beyond this would leave the second-level cache: longer samples are pooled one by one.
inline constexpr std::size_t kPoolingScratchBytes = 1U << 19U;

// How many samples from b on, at most a vector's elements, are as long as b.
template <class T>
std::size_t equal_samples(const Rows& rows, std::size_t b, std::size_t end) {
  const std::size_t length = rows.first_row[b + 1] - rows.first_row[b];
  std::size_t count = 1;
  while (count < kPooledTogether<T> && b + count < end &&
         rows.first_row[b + count + 1] - rows.first_row[b + count] == length) {
    ++count;
  }
  return count;
}

// Values that a pooled block needs, vectors of samples: for the backward pass the larger of the two.
template <class T>
std::size_t pooling_scratch(const PoolingShape& shape, std::size_t longest) {
  const std::size_t values = 2 * longest * (2 * shape.columns() + shape.heads) + 3 * shape.columns();
  return values * kPooledTogether<T> * sizeof(T) > kPoolingScratchBytes ? 0 : values * kPooledTogether<T>;
}

// A tile as wide as a vector is high, turned over in registers: first within blocks of 16 bytes, then the blocks.
template <class T>
class TurnedTile {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kSide = hn::MaxLanes(D());
  static constexpr std::size_t kInBlock = 16 / sizeof(T);
  static constexpr std::size_t kBlocks = kSide / kInBlock;

  // row[i] becomes column i.
  static HWY_INLINE void turn(V* row) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kSide; i += kInBlock) turn_in_blocks(row + i);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kInBlock; ++i) turn_blocks(row + i);
  }

 private:
  static HWY_INLINE void turn_in_blocks(V* row) {
    const D d;
    if constexpr (kInBlock == 2) {
      const V low = hn::InterleaveLower(d, row[0], row[1]);
      row[1] = hn::InterleaveUpper(d, row[0], row[1]);
      row[0] = low;
    } else {
      const hn::Repartition<double, D> wide;
      const auto low = [&](V a, V b) DIKKAT_INLINE_LAMBDA { return hn::BitCast(wide, hn::InterleaveLower(d, a, b)); };
      const auto high = [&](V a, V b) DIKKAT_INLINE_LAMBDA { return hn::BitCast(wide, hn::InterleaveUpper(d, a, b)); };
      const auto low_01 = low(row[0], row[1]);
      const auto low_23 = low(row[2], row[3]);
      const auto high_01 = high(row[0], row[1]);
      const auto high_23 = high(row[2], row[3]);
      row[0] = hn::BitCast(d, hn::InterleaveLower(wide, low_01, low_23));
      row[1] = hn::BitCast(d, hn::InterleaveUpper(wide, low_01, low_23));
      row[2] = hn::BitCast(d, hn::InterleaveLower(wide, high_01, high_23));
      row[3] = hn::BitCast(d, hn::InterleaveUpper(wide, high_01, high_23));
    }
  }

  // The blocks of row[0], row[kInBlock], row[2 kInBlock], ... turned over.
  static HWY_INLINE void turn_blocks(V* row) {
    const D d;
    if constexpr (kBlocks == 2) {
      const V low = hn::ConcatLowerLower(d, row[kInBlock], row[0]);
      row[kInBlock] = hn::ConcatUpperUpper(d, row[kInBlock], row[0]);
      row[0] = low;
    } else if constexpr (kBlocks == 4) {
      const auto even = [&](V a, V b) DIKKAT_INLINE_LAMBDA { return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a); };
      const auto odd = [&](V a, V b) DIKKAT_INLINE_LAMBDA { return hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)); };
      const V even_01 = even(row[0], row[kInBlock]);
      const V odd_01 = odd(row[0], row[kInBlock]);
      const V even_23 = even(row[2 * kInBlock], row[3 * kInBlock]);
      const V odd_23 = odd(row[2 * kInBlock], row[3 * kInBlock]);
      row[0] = hn::ConcatLowerLower(d, even_23, even_01);
      row[kInBlock] = hn::ConcatLowerLower(d, odd_23, odd_01);
      row[2 * kInBlock] = hn::ConcatUpperUpper(d, even_23, even_01);
      row[3 * kInBlock] = hn::ConcatUpperUpper(d, odd_23, odd_01);
    }
  }
};

// to[c][r] = from[r][c] for at most kSide rows and columns.
template <class T>
HWY_INLINE void turn_tile(const T* from, std::size_t from_row, std::size_t rows, std::size_t columns, T* to,
                          std::size_t to_row) {
  using Tile = TurnedTile<T>;
  const typename Tile::D d;
  typename Tile::V row[Tile::kSide];
  if (rows == Tile::kSide && columns == Tile::kSide) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Tile::kSide; ++r) row[r] = hn::LoadU(d, from + r * from_row);
    Tile::turn(row);
#pragma GCC unroll 16
    for (std::size_t c = 0; c < Tile::kSide; ++c) hn::StoreU(row[c], d, to + c * to_row);
    return;
  }
  const auto valid_columns = hn::FirstN(d, columns);
  const auto valid_rows = hn::FirstN(d, rows);
#pragma GCC unroll 16
  for (std::size_t r = 0; r < Tile::kSide; ++r) {
    row[r] = r < rows ? hn::MaskedLoad(valid_columns, d, from + r * from_row) : hn::Zero(d);
  }
  Tile::turn(row);
#pragma GCC unroll 16
  for (std::size_t c = 0; c < Tile::kSide; ++c) {
    if (c < columns) hn::BlendedStore(row[c], valid_rows, d, to + c * to_row);
  }
}

// to[c][r] = from[r][c]; rows and columns however many.
template <class T>
void turn_over(const T* from, std::size_t from_row, std::size_t rows, std::size_t columns, T* to, std::size_t to_row) {
  constexpr std::size_t kSide = TurnedTile<T>::kSide;
  for (std::size_t r = 0; r < rows; r += kSide) {
    for (std::size_t c = 0; c < columns; c += kSide) {
      turn_tile(from + r * from_row + c, from_row, std::min(kSide, rows - r), std::min(kSide, columns - c),
                to + c * to_row + r, to_row);
    }
  }
}

// Parts of the scratch, one after the other.
template <class T>
class PoolingBlock {
 public:
  using V = hn::Vec<hn::ScalableTag<T>>;

  PoolingBlock(T* scratch, std::size_t samples) : next_(scratch), samples_(samples) {}

  // Room for `values` numbers of each sample.
  HWY_INLINE V* room(std::size_t values) {
    T* at = next_;
    next_ += values * kPooledTogether<T>;
    return reinterpret_cast<V*>(at);
  }
  // from (samples, values) turned over; elements beyond the samples are whatever was there, and are dropped in the end.
  HWY_INLINE const V* taken(const T* from, std::size_t values) {
    V* to = room(values);
    turn_over(from, values, samples_, values, reinterpret_cast<T*>(to), kPooledTogether<T>);
    return to;
  }
  // The same number for every sample.
  HWY_INLINE const V* repeated(const T* from, std::size_t values) {
    V* to = room(values);
    for (std::size_t i = 0; i < values; ++i) to[i] = hn::Set(hn::ScalableTag<T>(), from[i]);
    return to;
  }
  HWY_INLINE void put(const V* from, std::size_t values, T* to) {
    turn_over(reinterpret_cast<const T*>(from), kPooledTogether<T>, values, samples_, to, values);
  }

 private:
  T* next_;
  std::size_t samples_;
};

// scratch: pooling_scratch values, 64-byte aligned; null: none, the samples are too long.
template <class T>
void pooling_forward_fast(const PoolingShape& shape, const PoolingForward<T>& t, std::size_t begin, std::size_t end,
                          T* scratch) {
  const std::size_t columns = shape.columns();
  std::size_t count = 0;
  for (std::size_t b = begin; b < end; b += count) {
    count = equal_samples<T>(*shape.rows, b, end);
    if (scratch == nullptr || count == 1) {
      pooling_forward_plain(shape, t, b, b + count);
      continue;
    }
    const std::size_t first = shape.rows->first_row[b];
    const PooledSample sample(shape, shape.rows->first_row[b + 1] - first);
    PoolingBlock<T> block(scratch, count);
    const auto* key_values = block.taken(t.key_values + first * 2 * columns, sample.rows * 2 * columns);
    const auto* query = block.repeated(t.query, columns);
    auto* pattern = block.room(sample.rows * shape.heads);
    auto* out = block.room(columns);
    pool_pattern(sample, key_values, query, pattern);
    pool_values(sample, pattern, key_values, out);
    block.put(pattern, sample.rows * shape.heads, t.pattern + first * shape.heads);
    block.put(out, columns, t.out + b * columns);
  }
}

template <class T>
void pooling_backward_fast(const PoolingShape& shape, const PoolingBackward<T>& t, std::size_t begin, std::size_t end,
                           T* scratch) {
  const std::size_t columns = shape.columns();
  std::size_t count = 0;
  for (std::size_t b = begin; b < end; b += count) {
    count = equal_samples<T>(*shape.rows, b, end);
    if (scratch == nullptr || count == 1) {
      pooling_backward_plain(shape, t, b, b + count);
      continue;
    }
    const std::size_t first = shape.rows->first_row[b];
    const PooledSample sample(shape, shape.rows->first_row[b + 1] - first);
    const std::size_t joint = sample.rows * 2 * columns;
    PoolingBlock<T> block(scratch, count);
    const SampleBackward<typename PoolingBlock<T>::V> turned{
        .key_values = block.taken(t.key_values + first * 2 * columns, joint),
        .query = block.repeated(t.query, columns),
        .pattern = block.taken(t.pattern + first * shape.heads, sample.rows * shape.heads),
        .out = block.taken(t.out + b * columns, columns),
        .d_out = block.taken(t.d_out + b * columns, columns),
        .d_key_values = block.room(joint),
        .d_scores = block.room(sample.rows * shape.heads)};
    pool_backward(sample, turned);
    block.put(turned.d_key_values, joint, t.d_key_values + first * 2 * columns);
    block.put(turned.d_scores, sample.rows * shape.heads, t.d_scores + first * shape.heads);
  }
}

// Columns [first, last): a vector of columns, four chunks side by side to hide the latency of their chains.
template <class T>
void pooling_query_gradient_fast(const PoolingShape& shape, const PoolingQuery<T>& t,
                                 std::span<const std::size_t> chunks, std::size_t first, std::size_t last) {
  const hn::ScalableTag<T> d;
  using Index = hn::TFromD<hn::RebindToSigned<decltype(d)>>;
  constexpr std::size_t kSide = 4;
  const std::size_t stride = 2 * shape.columns();
  for (std::size_t c = first; c < last; c += hn::Lanes(d)) {
    const std::size_t count = std::min(hn::Lanes(d), last - c);
    const std::size_t head = c / shape.width;
    const std::size_t heads = (c + count - 1) / shape.width - head + 1;
    Index which[hn::MaxLanes(d)] = {};
    for (std::size_t i = 0; i < count; ++i) which[i] = static_cast<Index>((c + i) / shape.width - head);
    const auto head_of_column = hn::SetTableIndices(d, which);
    const auto columns_mask = hn::FirstN(d, count);
    const auto heads_mask = hn::FirstN(d, heads);
    const auto step = [&](std::size_t row, hn::Vec<decltype(d)> sum) DIKKAT_INLINE_LAMBDA {
      const auto d_score =
          hn::TableLookupLanes(hn::MaskedLoad(heads_mask, d, t.d_scores + row * shape.heads + head), head_of_column);
      return hn::MulAdd(d_score, hn::MaskedLoad(columns_mask, d, t.key_values + row * stride + c), sum);
    };
    auto total = hn::MaskedLoad(columns_mask, d, t.d_query + c);
    std::size_t chunk = 0;
    for (; chunk + kSide < chunks.size(); chunk += kSide) {
      std::size_t together = chunks[chunk + 1] - chunks[chunk];
      for (std::size_t s = 1; s < kSide; ++s) {
        together = std::min(together, chunks[chunk + s + 1] - chunks[chunk + s]);
      }
      hn::Vec<decltype(d)> sum[kSide];
      for (auto& s : sum) s = hn::Zero(d);
      for (std::size_t i = 0; i < together; ++i) {
        for (std::size_t s = 0; s < kSide; ++s) sum[s] = step(chunks[chunk + s] + i, sum[s]);
      }
      for (std::size_t s = 0; s < kSide; ++s) {
        for (std::size_t r = chunks[chunk + s] + together; r < chunks[chunk + s + 1]; ++r) sum[s] = step(r, sum[s]);
        total = hn::Add(total, sum[s]);
      }
    }
    for (; chunk + 1 < chunks.size(); ++chunk) {
      auto sum = hn::Zero(d);
      for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r) sum = step(r, sum);
      total = hn::Add(total, sum);
    }
    hn::BlendedStore(total, columns_mask, d, t.d_query + c);
  }
}

// y[c] = sum over the rows of x[c], divided; a vector of columns at a time.
template <class T>
void mean_pooling_forward_fast(const Rows& rows, const T* x, T* y, std::size_t columns) {
  for (std::size_t b = 0; b < rows.samples(); ++b, y += columns) {
    const std::size_t first = rows.first_row[b];
    const std::size_t last = rows.first_row[b + 1];
    sweep16<T>(columns, [&](auto, std::size_t c, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      auto sum = hn::Zero(Tag16<T>());
      for (std::size_t r = first; r < last; ++r) sum = hn::Add(sum, lanes.load(x + r * columns + c));
      if (first != last) sum = hn::Div(sum, hn::Set(Tag16<T>(), static_cast<T>(last - first)));
      lanes.store(sum, y + c);
    });
  }
}

template <class T>
void mean_pooling_backward_fast(const Rows& rows, const T* dy, T* dx, std::size_t columns, Store store) {
  for (std::size_t b = 0; b < rows.samples(); ++b, dy += columns) {
    const std::size_t first = rows.first_row[b];
    const std::size_t last = rows.first_row[b + 1];
    if (first == last) continue;
    sweep16<T>(columns, [&](auto, std::size_t c, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto d = hn::Div(lanes.load(dy + c), hn::Set(Tag16<T>(), static_cast<T>(last - first)));
      for (std::size_t r = first; r < last; ++r) {
        T* to = dx + r * columns + c;
        lanes.store(store == Store::add ? hn::Add(lanes.load(to), d) : d, to);
      }
    });
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_POOLING_INL_H
