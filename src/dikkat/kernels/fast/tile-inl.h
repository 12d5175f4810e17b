// The outer-product micro-kernel: a small tile of outputs held in registers, one vector fused multiply-add per k and
// vector of outputs, so that each output's chain runs over k in order.
//
// Floor: two multiply-adds a cycle, if eight or more chains hide the latency of four; a 4 x 3 tile needs 7 loads for 12
// of them. Tried and lost: 4 x 2 where two vectors are left (eight chains leave no slack: 6 x 2 takes 5 % off a step of
// `kucuk`); a branch and a reload of the tile's fields for every output at the end (120 instructions, 14 % of a tile of
// depth 32).
#if defined(DIKKAT_FAST_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_TILE_INL_H
#undef DIKKAT_FAST_TILE_INL_H
#else
#define DIKKAT_FAST_TILE_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Registers: 32 on AVX-512 hold 8 x 3 sums, 3 vectors of b and the broadcast; 16 on AVX2 hold 4 x 3, or 6 x 2.
inline constexpr std::size_t kTileRows = HWY_TARGET == HWY_AVX3 ? 8 : 4;
inline constexpr std::size_t kTileVectors = 3;
inline constexpr std::size_t kPairRows = HWY_TARGET == HWY_AVX3 ? 8 : 6;
// A lone row takes more columns at once: it needs as many independent chains to hide the latency of one.
inline constexpr std::size_t kRowVectors = 8;

enum class Begin : std::uint8_t { zero, resume };           // chain from zero, or taken up from the output
enum class End : std::uint8_t { store, add, bias, scale };  // chain, out + chain, chain + bias[n], chain * factor

// c[m][n] over k in [0, depth) of a[m * a_row + k * a_k] * b[k * b_k + n].
template <class T>
struct Tile {
  const T* a;
  std::size_t a_row;
  std::size_t a_k;
  const T* b;
  std::size_t b_k;
  std::size_t depth;
  T* c;
  std::size_t c_row;
  std::size_t last;  // valid lanes of the last vector (masked tiles)
  Begin begin;
  End end;
  const T* bias;
  T factor;
};

// Addresses of a tile's rows at the same k: a pointer for every fourth row and three distances, so that sixteen rows
// need no more registers than there are.
template <class T, std::size_t kRows>
struct RowPointers {
  const T* fourth[(kRows + 3) / 4];
  std::size_t distance[4];

  HWY_INLINE RowPointers(const T* a, std::size_t a_row) : distance{0, a_row, 2 * a_row, 3 * a_row} {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < (kRows + 3) / 4; ++i) fourth[i] = a + 4 * i * a_row;
  }
  HWY_INLINE T at(std::size_t row, std::size_t offset) const { return (fourth[row / 4] + offset)[distance[row % 4]]; }
};

template <class T, bool kMasked, class D, class M>
HWY_INLINE hn::Vec<D> tile_load(D d, M mask, const T* from, bool is_last) {
  if (kMasked && is_last) return hn::MaskedLoad(mask, d, from);
  return hn::LoadU(d, from);
}

template <class T, std::size_t kRows, std::size_t kVectors, bool kMasked>
HWY_NOINLINE void tile(const Tile<T>& t) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  const auto mask = hn::FirstN(d, kMasked ? t.last : step);
  hn::Vec<decltype(d)> sum[kRows][kVectors];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = t.begin == Begin::zero
                      ? hn::Zero(d)
                      : tile_load<T, kMasked>(d, mask, t.c + r * t.c_row + v * step, v + 1 == kVectors);
    }
  }
  const RowPointers<T, kRows> row(t.a, t.a_row);
  const T* b = t.b;
  std::size_t offset = 0;
  for (std::size_t k = 0; k < t.depth; ++k) {
    hn::Vec<decltype(d)> right[kVectors];
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kVectors; ++v) {
      right[v] = tile_load<T, kMasked>(d, mask, b + v * step, v + 1 == kVectors);
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto left = hn::Set(d, row.at(r, offset));
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
    b += t.b_k;
    offset += t.a_k;
  }
  // One branch for the whole tile, and nothing read again after a store: on small shapes the end is a tenth of the
  // tile.
  T* const c = t.c;
  const std::size_t c_row = t.c_row;
  const auto finish = [&](auto&& value_of) HWY_ATTR {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kVectors; ++v) {
        const bool is_last = v + 1 == kVectors;
        T* to = c + r * c_row + v * step;
        const auto value = value_of(sum[r][v], to, v, is_last);
        if (kMasked && is_last) {
          hn::BlendedStore(value, mask, d, to);
        } else {
          hn::StoreU(value, d, to);
        }
      }
    }
  };
  using V = hn::Vec<decltype(d)>;
  switch (t.end) {
    case End::store: return finish([&](V chain, T*, std::size_t, bool) HWY_ATTR { return chain; });
    case End::add:
      return finish([&](V chain, T* to, std::size_t, bool is_last)
                        HWY_ATTR { return hn::Add(tile_load<T, kMasked>(d, mask, to, is_last), chain); });
    case End::bias:
      return finish([&](V chain, T*, std::size_t v, bool is_last) HWY_ATTR {
        return hn::Add(chain, tile_load<T, kMasked>(d, mask, t.bias + v * step, is_last));
      });
    case End::scale: {
      const V factor = hn::Set(d, t.factor);
      return finish([&](V chain, T*, std::size_t, bool) HWY_ATTR { return hn::Mul(chain, factor); });
    }
  }
}

// Calls behind branches, not through a table of functions: on small shapes, where a tile is some hundred cycles, the
// jumps count.
template <class T, std::size_t kRows>
HWY_INLINE void run_rows(const Tile<T>& t, std::size_t vectors, bool masked) {
  if (vectors == 3) return masked ? tile<T, kRows, 3, true>(t) : tile<T, kRows, 3, false>(t);
  if (vectors == 2) return masked ? tile<T, kRows, 2, true>(t) : tile<T, kRows, 2, false>(t);
  if constexpr (kRows == 1) {
    if (vectors == kRowVectors) return masked ? tile<T, 1, kRowVectors, true>(t) : tile<T, 1, kRowVectors, false>(t);
  }
  return masked ? tile<T, kRows, 1, true>(t) : tile<T, kRows, 1, false>(t);
}

// The tile of so many rows (one that tile_rows gives) and vectors.
template <class T>
HWY_INLINE void run_tile(const Tile<T>& t, std::size_t rows, std::size_t vectors, bool masked) {
  if (rows == 2 * kTileRows) {
    return masked ? tile<T, 2 * kTileRows, 1, true>(t) : tile<T, 2 * kTileRows, 1, false>(t);
  }
  if (kPairRows != kTileRows && rows == kPairRows) {
    return masked ? tile<T, kPairRows, 2, true>(t) : tile<T, kPairRows, 2, false>(t);
  }
  if (rows == kTileRows) return run_rows<T, kTileRows>(t, vectors, masked);
  if constexpr (kTileRows == 8) {
    if (rows == 4) return run_rows<T, 4>(t, vectors, masked);
  }
  return rows == 2 ? run_rows<T, 2>(t, vectors, masked) : run_rows<T, 1>(t, vectors, masked);
}

// The rows of the tallest tile of at most `rows` rows. Fewer vectors of columns leave room for more rows, and need them
// as chains.
constexpr std::size_t tile_rows(std::size_t rows, std::size_t vectors) {
  if (vectors == 1 && rows >= 2 * kTileRows) return 2 * kTileRows;
  if (vectors == 2 && rows >= kPairRows) return kPairRows;
  if (rows >= kTileRows) return kTileRows;
  return rows >= 4 ? 4 : (rows >= 2 ? 2 : 1);
}

// How many of `vectors` the next tile takes: 3, but 2 + 2 rather than 3 + 1.
constexpr std::size_t next_vectors(std::size_t vectors) {
  return vectors == 4 ? 2 : (vectors < kTileVectors ? vectors : kTileVectors);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_TILE_INL_H
