// Fast body of matmul.h: tiles of outputs in registers, panel of columns after panel of columns. b's panel stays in the
// first-level cache while the rows of a pass by: read where it lies when rows are few or b is small, else copied to
// where its rows are neighbours. A left side that is read by columns (x^T of a weight's gradient) is copied to tiles,
// too.
//
// Floor: the tile's (fast/tile-inl.h). On two Zen 3 cores at 2.4 GHz, AVX2, one thread, in GF/s of a peak of 101:
//                                     768 x 128 x 512    dW of it    dW of 1,024 x 384 x 1,536
//   b and a in place, rows outermost        42               39               40
//   b's panels copied, columns outermost    86               70               54
//   a copied as well                        87               82               72
// In place, rows a power of two apart share a few sets of the cache and every read of b goes to the second level. Tried
// and lost: all of b's panels copied ahead (a copy as large as the cache is read from the next one), panels of 512 k.
#if defined(DIKKAT_FAST_MATMUL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_MATMUL_INL_H
#undef DIKKAT_FAST_MATMUL_INL_H
#else
#define DIKKAT_FAST_MATMUL_INL_H
#endif

#include <algorithm>
#include <cstddef>
#include <span>

#include "dikkat/kernels/fast/narrow_chunks-inl.h"
#include "dikkat/kernels/fast/tile-inl.h"
#include "dikkat/kernels/fast/transpose-inl.h"
#include "dikkat/kernels/reference/matmul-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// The part [k0, k1) of every chain of `out`.
template <class T>
struct Step {
  Matrix<const T> a, b;
  Matrix<T> out;
  std::size_t k0, k1;
  Begin begin;
  End end;
  const T* bias;
  const T* packed_a = nullptr;  // a's rows as pack_rows lays them, for [k0, k1)
};

// Columns [n, n + columns) of the step: as many as the widest tile takes, or fewer.
struct Panel {
  std::size_t n, columns;
  std::size_t vectors;
  std::size_t width;  // of the vectors
};

template <class T>
HWY_INLINE std::size_t vectors_of(std::size_t columns) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  return (columns + step - 1) / step;
}

// Values of the widest panel.
template <class T>
std::size_t packed_size(std::size_t depth) {
  return kTileVectors * hn::Lanes(hn::ScalableTag<T>()) * depth;
}

// b's panel with its rows one behind another, zeros behind the last column.
template <class T>
HWY_INLINE void pack(const Step<T>& s, const Panel& p, T* packed) {
  const Matrix<const T>& b = s.b;
  const std::size_t depth = s.k1 - s.k0;
  const T* from = b.data + s.k0 * b.row_stride + p.n * b.column_stride;
  if (b.column_stride == 1) return copy_rows(from, b.row_stride, depth, p.columns, packed, p.width);
  if (p.columns < p.width) std::fill(packed, packed + depth * p.width, T{0});
  if (b.row_stride == 1) return transpose(from, b.column_stride, p.columns, depth, packed, p.width);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t j = 0; j < p.columns; ++j) packed[k * p.width + j] = from[k * b.row_stride + j * b.column_stride];
  }
}

// a (read by columns) as the tiles take it: kTileRows rows side by side for each k, tile behind tile.
template <class T>
void pack_rows(const Matrix<const T>& a, std::size_t k0, std::size_t k1, T* packed) {
  const hn::CappedTag<T, kTileRows> d;
  const std::size_t depth = k1 - k0;
  for (std::size_t m = 0; m < a.rows;) {
    const std::size_t rows = tile_rows(a.rows - m, kTileVectors);
    const T* from = a.data + k0 * a.column_stride + m;
    T* to = packed + m * depth;
    if (rows == kTileRows && hn::MaxLanes(d) == kTileRows) {
      for (std::size_t k = 0; k < depth; ++k) hn::StoreU(hn::LoadU(d, from + k * a.column_stride), d, to + k * rows);
    } else {
      for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t r = 0; r < rows; ++r) to[k * rows + r] = from[k * a.column_stride + r];
      }
    }
    m += rows;
  }
}

// All rows of one panel, whose b is read from `right` on.
template <class T>
HWY_INLINE void run_panel(const Step<T>& s, const Panel& p, const T* right, std::size_t right_stride) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  Tile<T> tile{.a = s.a.data + s.k0 * s.a.column_stride,
               .a_row = s.a.row_stride,
               .a_k = s.a.column_stride,
               .b = right,
               .b_k = right_stride,
               .depth = s.k1 - s.k0,
               .c = s.out.data + p.n,
               .c_row = s.out.row_stride,
               .last = p.columns - (p.vectors - 1) * step,
               .begin = s.begin,
               .end = s.end,
               .bias = s.bias == nullptr ? nullptr : s.bias + p.n,
               .factor = T{1}};
  for (std::size_t m = 0; m < s.out.rows;) {
    const std::size_t rows = tile_rows(s.out.rows - m, s.packed_a != nullptr ? kTileVectors : p.vectors);
    if (s.packed_a != nullptr) {
      tile.a = s.packed_a + m * tile.depth;
      tile.a_row = 1;
      tile.a_k = rows;
    }
    run_tile<T>(tile, rows, p.vectors, p.columns < p.width);
    if (s.packed_a == nullptr) tile.a += rows * s.a.row_stride;
    tile.c += rows * s.out.row_stride;
    m += rows;
  }
}

// packed: memory for packed_size(k1 - k0) values, or nullptr to read b in place.
template <class T>
void matmul_step(const Step<T>& s, T* packed) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  Panel p{};
  for (std::size_t left = vectors_of<T>(s.out.columns); left != 0; left -= p.vectors) {
    p.vectors = next_vectors(left);
    if (s.out.rows == 1 && packed == nullptr && left >= kRowVectors) p.vectors = kRowVectors;
    p.width = p.vectors * step;
    p.columns = std::min(p.width, s.out.columns - p.n);
    if (packed != nullptr) {
      pack(s, p, packed);
      run_panel(s, p, packed, p.width);
    } else {
      run_panel(s, p, s.b.data + s.k0 * s.b.row_stride + p.n, s.b.row_stride);
    }
    p.n += p.columns;
  }
}

// One part of the outputs. packed: memory for packed_size(depth) values, or nullptr to read b in place; packed_rows:
// for rows * depth values, or nullptr to read a in place. Chains longer than `depth` are left in the output and taken
// up again, where the output may hold them.
template <class T>
void matmul_part_fast(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out,
                      const MatmulOptions<T>& options, std::size_t depth, T* packed, T* packed_rows) {
  const bool chunked = !options.chunks.empty();
  if (chunked && packed == nullptr && is_narrow(b, out)) return add_narrow_chunks(a, b, out, options.chunks);
  const std::size_t steps =
      chunked ? options.chunks.size() - 1 : std::max<std::size_t>(1, (a.columns + depth - 1) / depth);
  for (std::size_t i = 0; i < steps; ++i) {
    End end = End::store;
    if (chunked || options.store == Store::add) end = End::add;
    if (i + 1 == steps && options.bias != nullptr) end = End::bias;
    const std::size_t k0 = chunked ? options.chunks[i] : i * depth;
    const std::size_t k1 = chunked ? options.chunks[i + 1] : std::min(a.columns, k0 + depth);
    if (packed_rows != nullptr) pack_rows(a, k0, k1, packed_rows);
    matmul_step<T>({.a = a,
                    .b = b,
                    .out = out,
                    .k0 = k0,
                    .k1 = k1,
                    .begin = chunked || i == 0 ? Begin::zero : Begin::resume,
                    .end = end,
                    .bias = options.bias,
                    .packed_a = packed_rows},
                   packed);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_MATMUL_INL_H
