// Plain bodies of norm.h. RMS norm is layer norm with a mean of zero and no mean of h: subtracting zero changes no bit.
#if defined(DIKKAT_REFERENCE_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_NORM_INL_H
#undef DIKKAT_REFERENCE_NORM_INL_H
#else
#define DIKKAT_REFERENCE_NORM_INL_H
#endif

#include "dikkat/kernels/norm.h"
#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <class T>
HWY_INLINE T affine_plain(T xhat, const T* gain, const T* bias, std::size_t c) {
  if (gain != nullptr && bias != nullptr) return fma(xhat, gain[c], bias[c]);
  if (gain != nullptr) return xhat * gain[c];
  if (bias != nullptr) return xhat + bias[c];
  return xhat;
}

// Rows [first, last) only.
template <class T>
void norm_forward_plain(const NormShape& shape, const NormForward<T>& t, std::size_t first, std::size_t last) {
  const std::size_t columns = shape.columns;
  const T width = number<T>(static_cast<double>(columns));
  for (std::size_t r = first; r < last; ++r) {
    const T* x = t.x + r * columns;
    T mean = number<T>(0);
    if (shape.norm == Norm::layer) mean = tree16<T>(0, columns, [&](std::size_t c) { return x[c]; }) / width;
    const T squares = tree16<T>(0, columns, [&](std::size_t c) {
      const T xm = x[c] - mean;
      return xm * xm;
    });
    const T rstd = number<T>(1) / square_root(squares / width + number<T>(shape.epsilon));
    for (std::size_t c = 0; c < columns; ++c) {
      t.y[r * columns + c] = affine_plain((x[c] - mean) * rstd, t.gain, t.bias, c);
    }
    if (t.mean != nullptr) t.mean[r] = mean;
    t.rstd[r] = rstd;
  }
}

template <class T>
HWY_INLINE T mean_of_row(const NormShape& shape, const T* mean, std::size_t r) {
  return shape.norm == Norm::layer ? mean[r] : number<T>(0);
}

// d_x of rows [first, last).
template <class T>
void norm_backward_plain(const NormShape& shape, const NormBackward<T>& t, Store store, std::size_t first,
                         std::size_t last) {
  const std::size_t columns = shape.columns;
  const T width = number<T>(static_cast<double>(columns));
  for (std::size_t r = first; r < last; ++r) {
    const T* x = t.x + r * columns;
    const T* dy = t.dy + r * columns;
    T* dx = t.dx + r * columns;
    const T mean = mean_of_row(shape, t.mean, r);
    const T rstd = t.rstd[r];
    const auto xhat = [&](std::size_t c) { return (x[c] - mean) * rstd; };
    const auto h = [&](std::size_t c) { return t.gain == nullptr ? dy[c] : dy[c] * t.gain[c]; };
    T mean_h = number<T>(0);
    if (shape.norm == Norm::layer) mean_h = tree16<T>(0, columns, h) / width;
    const T mean_hx = tree16<T>(0, columns, [&](std::size_t c) { return h(c) * xhat(c); }) / width;
    for (std::size_t c = 0; c < columns; ++c) {
      const T d = rstd * ((h(c) - mean_h) - xhat(c) * mean_hx);
      dx[c] = store == Store::add ? dx[c] + d : d;
    }
  }
}

// Columns [first, last) only.
template <class T>
void norm_gain_plain(const NormShape& shape, const NormGain<T>& t, std::span<const std::size_t> chunks,
                     std::size_t first, std::size_t last) {
  for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
    for (std::size_t c = first; c < last; ++c) {
      T gain = number<T>(0);
      for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r) {
        const std::size_t at = r * shape.columns + c;
        gain = fma(t.dy[at], (t.x[at] - mean_of_row(shape, t.mean, r)) * t.rstd[r], gain);
      }
      t.d_gain[c] = t.d_gain[c] + gain;
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_NORM_INL_H
