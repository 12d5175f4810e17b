// Fast body of matmul.h: tiles of outputs in registers, a read where it lies, b where it lies or from a packed copy.
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

// Where b's panels are read: in place (panels are neighbours in a row) or packed panel behind panel.
template <class T>
struct Panels {
  const T* data;
  std::size_t row_stride;  // in place; a packed panel's row is as long as the panel is wide
  bool packed;
};

// The part [k0, k1) of every chain of `out`.
template <class T>
struct Step {
  Matrix<const T> a;
  Panels<T> b;
  Matrix<T> out;
  std::size_t k0, k1;
  Begin begin;
  End end;
  const T* bias;
};

template <class T>
HWY_INLINE std::size_t vectors_of(std::size_t columns) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  return (columns + step - 1) / step;
}

// The values pack_panels writes for (depth, columns).
template <class T>
std::size_t packed_size(std::size_t depth, std::size_t columns) {
  return vectors_of<T>(columns) * hn::Lanes(hn::ScalableTag<T>()) * depth;
}

template <class T>
void pack_panels(const Matrix<const T>& b, std::size_t k0, std::size_t k1, T* packed) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  std::size_t n = 0;
  for (std::size_t left = vectors_of<T>(b.columns); left != 0;) {
    const std::size_t vectors = next_vectors(left);
    const std::size_t width = vectors * step;
    const std::size_t valid = std::min(width, b.columns - n);
    const T* from = b.data + k0 * b.row_stride + n * b.column_stride;
    if (b.column_stride == 1) {
      copy_rows(from, b.row_stride, k1 - k0, valid, packed, width);
    } else {
      if (valid < width) std::fill(packed, packed + (k1 - k0) * width, T{0});
      if (b.row_stride == 1) {
        transpose(from, b.column_stride, valid, k1 - k0, packed, width);
      } else {
        for (std::size_t k = 0; k < k1 - k0; ++k) {
          for (std::size_t j = 0; j < valid; ++j) packed[k * width + j] = from[k * b.row_stride + j * b.column_stride];
        }
      }
    }
    packed += (k1 - k0) * width;
    n += valid;
    left -= vectors;
  }
}

// All tiles of the rows [m, m + rows), rows as one tile takes them.
template <class T>
HWY_INLINE void matmul_row_of_tiles(const Step<T>& s, std::size_t m, std::size_t rows) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  const std::size_t columns = s.out.columns;
  const T* panel = s.b.data;
  std::size_t n = 0;
  for (std::size_t left = vectors_of<T>(columns); left != 0;) {
    std::size_t vectors = next_vectors(left);
    if (rows == 1 && !s.b.packed && left >= kRowVectors) vectors = kRowVectors;
    const std::size_t width = vectors * step;
    const std::size_t valid = std::min(width, columns - n);
    run_tile<T>({.a = s.a.data + m * s.a.row_stride + s.k0 * s.a.column_stride,
                 .a_row = s.a.row_stride,
                 .a_k = s.a.column_stride,
                 .b = panel,
                 .b_k = s.b.packed ? width : s.b.row_stride,
                 .depth = s.k1 - s.k0,
                 .c = s.out.data + m * s.out.row_stride + n,
                 .c_row = s.out.row_stride,
                 .last = valid - (vectors - 1) * step,
                 .begin = s.begin,
                 .end = s.end,
                 .bias = s.bias == nullptr ? nullptr : s.bias + n,
                 .factor = T{1}},
                rows, vectors, valid < width);
    panel += s.b.packed ? width * (s.k1 - s.k0) : width;
    n += valid;
    left -= vectors;
  }
}

template <class T>
void matmul_step(const Step<T>& s) {
  for (std::size_t m = 0; m < s.out.rows;) {
    const std::size_t rows = tile_rows(s.out.rows - m, vectors_of<T>(s.out.columns));
    matmul_row_of_tiles(s, m, rows);
    m += rows;
  }
}

// One part of the outputs. packed: memory for packed_size(depth, columns) values, or nullptr to read b in place; with
// `ready` it holds b's panels already (then the depth is all of k). Chains longer than `depth` are left in the output
// and taken up again, where the output may hold them.
template <class T>
void matmul_part_fast(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out,
                      const MatmulOptions<T>& options, std::size_t depth, T* packed, bool ready) {
  const bool chunked = !options.chunks.empty();
  if (chunked && packed == nullptr && is_narrow(b, out)) return add_narrow_chunks(a, b, out, options.chunks);
  const std::size_t steps =
      chunked ? options.chunks.size() - 1 : std::max<std::size_t>(1, (a.columns + depth - 1) / depth);
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t k0 = chunked ? options.chunks[i] : i * depth;
    const std::size_t k1 = chunked ? options.chunks[i + 1] : std::min(a.columns, k0 + depth);
    End end = End::store;
    if (chunked || options.store == Store::add) end = End::add;
    if (i + 1 == steps && options.bias != nullptr) end = End::bias;
    if (packed != nullptr && !ready) pack_panels(b, k0, k1, packed);
    matmul_step<T>({.a = a,
                    .b = packed != nullptr ? Panels<T>{packed, 0, true}
                                           : Panels<T>{b.data + k0 * b.row_stride, b.row_stride, false},
                    .out = out,
                    .k0 = k0,
                    .k1 = k1,
                    .begin = chunked || i == 0 ? Begin::zero : Begin::resume,
                    .end = end,
                    .bias = options.bias});
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_MATMUL_INL_H
