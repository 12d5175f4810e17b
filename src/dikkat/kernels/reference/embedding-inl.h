// Plain bodies of embedding.h.
#if defined(DIKKAT_REFERENCE_EMBEDDING_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_EMBEDDING_INL_H
#undef DIKKAT_REFERENCE_EMBEDDING_INL_H
#else
#define DIKKAT_REFERENCE_EMBEDDING_INL_H
#endif

#include <cstdint>
#include <span>

#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <class T>
void embedding_forward_plain(const T* table, std::span<const std::uint32_t> ids, T* y, std::size_t width, Store store) {
  for (std::size_t r = 0; r < ids.size(); ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const T value = table[ids[r] * width + c];
      y[r * width + c] = store == Store::add ? y[r * width + c] + value : value;
    }
  }
}

// Whether an earlier row of the chunk has the id of row r.
HWY_INLINE bool seen_before(std::span<const std::uint32_t> ids, std::size_t first, std::size_t r) {
  for (std::size_t earlier = first; earlier < r; ++earlier) {
    if (ids[earlier] == ids[r]) return true;
  }
  return false;
}

template <class T>
void embedding_backward_plain(const T* dy, std::span<const std::uint32_t> ids, std::span<const std::size_t> chunks,
                              T* d_table, std::size_t width) {
  for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
    for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r) {
      if (seen_before(ids, chunks[chunk], r)) continue;
      for (std::size_t c = 0; c < width; ++c) {
        T sum = number<T>(0);
        for (std::size_t other = r; other < chunks[chunk + 1]; ++other) {
          if (ids[other] == ids[r]) sum = sum + dy[other * width + c];
        }
        d_table[ids[r] * width + c] = d_table[ids[r] * width + c] + sum;
      }
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_EMBEDDING_INL_H
