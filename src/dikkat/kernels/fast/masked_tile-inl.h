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
  for (std::size_t k = 0; k < t.depth; ++k) {
    const auto seen = seen_by<T>(hn::Set(di, static_cast<Index<T>>(first + k)), begin, end);
    const auto right = hn::LoadU(d, t.b + k * t.b_k);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, t.a[r * t.a_row + k * t.a_k]);
      sum[r] = hn::IfThenElse(seen, hn::MulAdd(left, right, sum[r]), sum[r]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) hn::StoreU(sum[r], d, t.c + r * t.c_row);
}

// Rows are keys first, first + 1, ..., k runs over queries, query k having ranges.begin[k], ranges.end[k]; one vector
// of outputs. Chains are taken up again.
template <class T, std::size_t kRows>
HWY_NOINLINE void tile_over_queries(const Tile<T>& t, const Ranges<T>& ranges, std::size_t first) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  hn::Vec<decltype(d)> sum[kRows];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) sum[r] = hn::LoadU(d, t.c + r * t.c_row);
  for (std::size_t k = 0; k < t.depth; ++k) {
    const auto begin = hn::Set(di, ranges.begin[k]);
    const auto end = hn::Set(di, ranges.end[k]);
    const auto right = hn::LoadU(d, t.b + k * t.b_k);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto seen = seen_by<T>(hn::Set(di, static_cast<Index<T>>(first + r)), begin, end);
      const auto left = hn::Set(d, t.a[r * t.a_row + k * t.a_k]);
      sum[r] = hn::IfThenElse(seen, hn::MulAdd(left, right, sum[r]), sum[r]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) hn::StoreU(sum[r], d, t.c + r * t.c_row);
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
    std::size_t taken = rows - m;
    t.a = a + m * t.a_row;
    for (std::size_t v = 0; v < vectors;) {
      const std::size_t together = next_vectors(vectors - v);
      taken = rows - m;
      t.b = b + v * step;
      t.c = c + m * t.c_row + v * step;
      choose_tile<T>(taken, together, false)(t);
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
    const bool whole = rows - m >= kTileRows;
    whole ? tile_over_keys<T, kTileRows>(t, lanes, first) : tile_over_keys<T, 1>(t, lanes, first);
    const std::size_t taken = whole ? kTileRows : 1;
    t.a += taken * t.a_row;
    t.c += taken * t.c_row;
    m += taken;
  }
}
template <class T>
void tiles_over_queries(Tile<T> t, const Ranges<T>& ranges, std::size_t first, std::size_t rows, std::size_t vectors) {
  if (t.depth == 0) return;
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  for (std::size_t v = 0; v < vectors; ++v, t.b += step, t.c += step) {
    Tile<T> row = t;
    for (std::size_t m = 0; m < rows;) {
      const bool whole = rows - m >= kTileRows;
      whole ? tile_over_queries<T, kTileRows>(row, ranges, first + m) : tile_over_queries<T, 1>(row, ranges, first + m);
      const std::size_t taken = whole ? kTileRows : 1;
      row.a += taken * row.a_row;
      row.c += taken * row.c_row;
      m += taken;
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_MASKED_TILE_INL_H
