// Fast bodies of embedding.h. Backward walks, for each id of a chunk, the linked list of the id's rows, with a strip of
// columns in registers: no accumulators in memory, and each element of the table is touched once a chunk.
#if defined(DIKKAT_FAST_EMBEDDING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_EMBEDDING_INL_H
#undef DIKKAT_FAST_EMBEDDING_INL_H
#else
#define DIKKAT_FAST_EMBEDDING_INL_H
#endif

#include "dikkat/kernels/fast/row_link.h"
#include "dikkat/kernels/reference/embedding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// y = from, or y + from.
template <class T>
HWY_INLINE void store_row(const T* from, T* y, std::size_t n, Store store) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  const auto result = [&](auto value, auto there)
                          HWY_ATTR { return store == Store::add ? hn::Add(there, value) : value; };
  std::size_t i = 0;
  for (; i + step <= n; i += step) hn::StoreU(result(hn::LoadU(d, from + i), hn::LoadU(d, y + i)), d, y + i);
  if (i == n) return;
  const auto inside = hn::FirstN(d, n - i);
  const auto value = result(hn::MaskedLoad(inside, d, from + i), hn::MaskedLoad(inside, d, y + i));
  hn::BlendedStore(value, inside, d, y + i);
}

template <class T>
void embedding_forward_fast(const T* table, std::span<const std::uint32_t> ids, T* y, std::size_t width, Store store) {
  for (std::size_t r = 0; r < ids.size(); ++r) store_row(table + ids[r] * width, y + r * width, width, store);
}

// dy and d_table begin at the strip. kVectors whole vectors of columns.
template <std::size_t kVectors, class T>
HWY_INLINE void add_chain(const T* dy, const RowLink* links, std::size_t row, T* d_row, std::size_t width) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[kVectors];
  for (auto& s : sum) s = hn::Zero(d);
  for (;;) {
    const T* from = dy + row * width;
    for (std::size_t k = 0; k < kVectors; ++k) sum[k] = hn::Add(sum[k], hn::LoadU(d, from + k * step));
    if (links[row].next == 0) break;
    row += links[row].next;
  }
  for (std::size_t k = 0; k < kVectors; ++k) {
    hn::StoreU(hn::Add(hn::LoadU(d, d_row + k * step), sum[k]), d, d_row + k * step);
  }
}

// Fewer columns than a vector has.
template <class T>
HWY_INLINE void add_chain_tail(const T* dy, const RowLink* links, std::size_t row, T* d_row, std::size_t width,
                               std::size_t columns) {
  const hn::ScalableTag<T> d;
  const auto inside = hn::FirstN(d, columns);
  auto sum = hn::Zero(d);
  for (;;) {
    sum = hn::Add(sum, hn::MaskedLoad(inside, d, dy + row * width));
    if (links[row].next == 0) break;
    row += links[row].next;
  }
  hn::BlendedStore(hn::Add(hn::MaskedLoad(inside, d, d_row), sum), inside, d, d_row);
}

// Columns [first, last) only.
template <class T>
void embedding_backward_fast(const T* dy, std::span<const std::uint32_t> ids, const RowLink* links, T* d_table,
                             std::size_t width, std::size_t first, std::size_t last) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  for (std::size_t r = 0; r < ids.size(); ++r) {
    if (!links[r].begins) continue;
    T* d_row = d_table + ids[r] * width;
    std::size_t c = first;
    for (; c + 4 * step <= last; c += 4 * step) add_chain<4>(dy + c, links, r, d_row + c, width);
    for (; c + step <= last; c += step) add_chain<1>(dy + c, links, r, d_row + c, width);
    if (c < last) add_chain_tail(dy + c, links, r, d_row + c, width, last - c);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_EMBEDDING_INL_H
