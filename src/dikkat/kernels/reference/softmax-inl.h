// Plain bodies of softmax.h.
#if defined(DIKKAT_REFERENCE_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_SOFTMAX_INL_H
#undef DIKKAT_REFERENCE_SOFTMAX_INL_H
#else
#define DIKKAT_REFERENCE_SOFTMAX_INL_H
#endif

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/reference/maths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// The largest of x (C >= 1).
template <class T>
HWY_INLINE T largest_plain(const T* x, std::size_t columns) {
  T m = x[0];
  for (std::size_t c = 1; c < columns; ++c) m = maximum(m, x[c]);
  return m;
}

template <class T>
void softmax_forward_plain(const T* x, T* y, std::size_t rows, std::size_t columns) {
  if (columns == 0) return;
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const T m = largest_plain(x, columns);
    for (std::size_t c = 0; c < columns; ++c) y[c] = exponential(x[c] - m);
    const T reciprocal = number<T>(1) / tree16<T>(0, columns, [&](std::size_t c) { return y[c]; });
    for (std::size_t c = 0; c < columns; ++c) y[c] = y[c] * reciprocal;
  }
}

template <class T>
void softmax_backward_plain(const T* y, const T* dy, T* dx, std::size_t rows, std::size_t columns, Store store) {
  for (std::size_t r = 0; r < rows; ++r, y += columns, dy += columns, dx += columns) {
    const T dot = tree16<T>(0, columns, [&](std::size_t c) { return y[c] * dy[c]; });
    for (std::size_t c = 0; c < columns; ++c) {
      const T d = y[c] * (dy[c] - dot);
      dx[c] = store == Store::add ? dx[c] + d : d;
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_SOFTMAX_INL_H
