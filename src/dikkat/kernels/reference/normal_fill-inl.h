// Plain body of normal_fill.h.
#if defined(DIKKAT_REFERENCE_NORMAL_FILL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_NORMAL_FILL_INL_H
#undef DIKKAT_REFERENCE_NORMAL_FILL_INL_H
#else
#define DIKKAT_REFERENCE_NORMAL_FILL_INL_H
#endif

#include "dikkat/kernels/reference/maths-inl.h"
#include "dikkat/random/streams.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

inline constexpr double kTwoPi = 6.28318530717958647693;

// Two words as 53 bits, the first the high ones.
HWY_INLINE double whole_53_bits(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>(static_cast<std::int64_t>((std::uint64_t{high} << 32U | low) >> 11U));
}
// In (0, 1], and in [0, 1).
HWY_INLINE double first_uniform(std::uint32_t high, std::uint32_t low) {
  return (whole_53_bits(high, low) + 1.0) * 0x1.0p-53;
}
HWY_INLINE double second_uniform(std::uint32_t high, std::uint32_t low) { return whole_53_bits(high, low) * 0x1.0p-53; }

// Elements [first, first + n) of the stream.
template <class T>
void normal_fill_plain(random::Stream stream, double deviation, T* out, std::size_t first, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint64_t i = first + k;
    const std::uint64_t pair = i / 2;
    const random::Counter words =
        random::philox(stream.key, {static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32U), 0, 0});
    const double radius = square_root(-2.0 * logarithm(first_uniform(words[0], words[1])));
    const double angle = kTwoPi * second_uniform(words[2], words[3]);
    const double normal = radius * (i % 2 == 0 ? cosine(angle) : sine(angle));
    out[k] = static_cast<T>(normal * deviation);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_NORMAL_FILL_INL_H
