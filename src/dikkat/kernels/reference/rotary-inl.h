// Plain bodies of rotary.h.
#if defined(DIKKAT_REFERENCE_ROTARY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_ROTARY_INL_H
#undef DIKKAT_REFERENCE_ROTARY_INL_H
#else
#define DIKKAT_REFERENCE_ROTARY_INL_H
#endif

#include <cstdint>
#include <span>

#include "dikkat/kernels/reference/maths-inl.h"
#include "dikkat/kernels/reference/number-inl.h"
#include "dikkat/kernels/rotary.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// base^(-2i/D) = exp(-(2i/D) log base).
template <class T>
void rotary_table_plain(double base, std::size_t positions, std::size_t width, T* cosines, T* sines) {
  const std::size_t half = width / 2;
  const double log_base = logarithm(base);
  for (std::size_t i = 0; i < half; ++i) {
    const double frequency = exponential(-(static_cast<double>(2 * i) / static_cast<double>(width)) * log_base);
    for (std::size_t p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      cosines[p * half + i] = number<T>(cosine(angle));
      sines[p * half + i] = number<T>(sine(angle));
    }
  }
}

template <class T>
void rotary_plain(const RotaryTable<T>& table, std::span<const std::uint32_t> positions, Rotation rotation, T* x,
                  std::size_t stride, std::size_t heads, std::size_t width) {
  const std::size_t half = width / 2;
  for (std::size_t r = 0; r < positions.size(); ++r) {
    for (std::size_t h = 0; h < heads; ++h) {
      T* head = x + r * stride + h * width;
      for (std::size_t i = 0; i < half; ++i) {
        const T cosine = table.cosines[positions[r] * half + i];
        const T tabled = table.sines[positions[r] * half + i];
        const T sine = rotation == Rotation::forward ? tabled : -tabled;
        const T a = head[i];
        const T b = head[i + half];
        head[i] = fma(a, cosine, -(b * sine));
        head[i + half] = fma(b, cosine, a * sine);
      }
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_ROTARY_INL_H
