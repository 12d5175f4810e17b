// Two forms of the micro-kernel that skip what a mask hides: a hidden term is not added as zero, it is not there.
#if defined(DIKKAT_FAST_MASKED_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_MASKED_TILE_INL_H
#undef DIKKAT_FAST_MASKED_TILE_INL_H
#else
#define DIKKAT_FAST_MASKED_TILE_INL_H
#endif

#include "dikkat/kernels/fast/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// Integers as wide as T, so that comparing them gives masks for vectors of T.
template <class T>
using Index = hn::TFromD<hn::RebindToSigned<hn::ScalableTag<T>>>;

// What a mask shows of n queries in a row: query i sees keys [begin[i], end[i]); both rise with i.
template <class T>
struct Ranges {
  const Index<T>* begin;
  const Index<T>* end;
};

template <class T, class I, class V>
HWY_INLINE auto seen_by(I key, V begin, V end) {
  const hn::ScalableTag<T> d;
  return hn::RebindMask(d, hn::AndNot(hn::Lt(key, begin), hn::Lt(key, end)));
}

// Lanes are queries, k runs over keys first, first + 1, ...; one vector of lanes. Chains are taken up again.
template <class T, std::size_t kRows>
HWY_NOINLINE void tile_over_keys(const Tile<T>& t, const Ranges<T>& lanes, std::size_t first) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  hn::Vec<decltype(d)> sum[kRows];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = hn::LoadU(d, t.c + r * t.c_row);
  const auto begin = hn::LoadU(di, lanes.begin);
  const auto end = hn::LoadU(di, lanes.end);
  const T* a = t.a;
  const T* b = t.b;
  const std::size_t a_row = t.a_row;
  for (std::size_t k = 0; k < t.depth; ++k, a += t.a_k, b += t.b_k) {
    const auto seen = seen_by<T>(hn::Set(di, static_cast<Index<T>>(first + k)), begin, end);
    const auto right = hn::LoadU(d, b);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, a[r * a_row]);
      sum[r] = hn::IfThenElse(seen, hn::MulAdd(left, right, sum[r]), sum[r]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) hn::StoreU(sum[r], d, t.c + r * t.c_row);
}

// Rows are keys first, first + 1, ..., k runs over queries, query k having ranges.begin[k], ranges.end[k]. What is
// hidden is a run of rows, the same for all lanes: branches skip it. Chains are taken up again.
template <class T, std::size_t kRows, std::size_t kVectors>
HWY_NOINLINE void tile_over_queries(const Tile<T>& t, const Ranges<T>& ranges, std::size_t first) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[kRows][kVectors];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::LoadU(d, t.c + r * t.c_row + v * step);
  }
  const T* row[kRows];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) row[r] = t.a + r * t.a_row;
  const T* b = t.b;
  std::size_t offset = 0;
  for (std::size_t k = 0; k < t.depth; ++k, b += t.b_k, offset += t.a_k) {
    const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(ranges.begin[k]) - static_cast<std::ptrdiff_t>(first);
    const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(ranges.end[k]) - static_cast<std::ptrdiff_t>(first);
    hn::Vec<decltype(d)> right[kVectors];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * step);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      if (static_cast<std::ptrdiff_t>(r) < from || static_cast<std::ptrdiff_t>(r) >= to) continue;
      const auto left = hn::Set(d, row[r][offset]);
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, t.c + r * t.c_row + v * step);
  }
}

// Tile's product for any number of rows and whole vectors of columns; masks are not looked at.
template <class T>
void tiles(Tile<T> t, std::size_t rows, std::size_t vectors) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  const T* a = t.a;
  T* c = t.c;
  const T* b = t.b;
  if (t.depth == 0 && t.begin == Begin::resume) return;
  for (std::size_t m = 0; m < rows;) {
    const std::size_t taken = tile_rows(rows - m, vectors);
    t.a = a + m * t.a_row;
    for (std::size_t v = 0; v < vectors;) {
      const std::size_t together = next_vectors(vectors - v);
      t.b = b + v * step;
      t.c = c + m * t.c_row + v * step;
      run_tile(t, taken, together, false);
      v += together;
    }
    m += taken;
  }
}

// The same with the masked forms; `first` is the key of k = 0 (over keys) or of row 0 (over queries).
template <class T>
void tiles_over_keys(Tile<T> t, const Ranges<T>& lanes, std::size_t first, std::size_t rows) {
  if (t.depth == 0) return;
  for (std::size_t m = 0; m < rows;) {
    std::size_t taken = 1;
    if (rows - m >= 2 * kTileRows) {
      taken = 2 * kTileRows;
      tile_over_keys<T, 2 * kTileRows>(t, lanes, first);
    } else if (rows - m >= kTileRows) {
      taken = kTileRows;
      tile_over_keys<T, kTileRows>(t, lanes, first);
    } else {
      tile_over_keys<T, 1>(t, lanes, first);
    }
    t.a += taken * t.a_row;
    t.c += taken * t.c_row;
    m += taken;
  }
}
template <class T>
void tiles_over_queries(Tile<T> t, const Ranges<T>& ranges, std::size_t first, std::size_t rows, std::size_t vectors) {
  if (t.depth == 0) return;
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  for (std::size_t v = 0; v < vectors;) {
    const std::size_t together = vectors - v >= 2 ? 2 : 1;
    Tile<T> row = t;
    for (std::size_t m = 0; m < rows;) {
      const bool whole = rows - m >= kTileRows;
      if (together == 2) {
        whole ? tile_over_queries<T, kTileRows, 2>(row, ranges, first + m)
              : tile_over_queries<T, 1, 2>(row, ranges, first + m);
      } else {
        whole ? tile_over_queries<T, kTileRows, 1>(row, ranges, first + m)
              : tile_over_queries<T, 1, 1>(row, ranges, first + m);
      }
      const std::size_t taken = whole ? kTileRows : 1;
      row.a += taken * row.a_row;
      row.c += taken * row.c_row;
      m += taken;
    }
    t.b += together * step;
    t.c += together * step;
    v += together;
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_MASKED_TILE_INL_H
