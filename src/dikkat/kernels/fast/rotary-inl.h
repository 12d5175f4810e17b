// Fast bodies of rotary.h, in vectors no wider than the head: a half of 4 or 16 is common, and a wide masked load right
// after the neighbour head's store waits for it.
#if defined(DIKKAT_FAST_ROTARY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ROTARY_INL_H
#undef DIKKAT_FAST_ROTARY_INL_H
#else
#define DIKKAT_FAST_ROTARY_INL_H
#endif

#include "dikkat/kernels/reference/rotary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Turns (a, b) by the angle whose cosine and sine are given. -(b * s) with -s is b * s: negation never rounds.
template <Rotation kRotation, class V>
HWY_INLINE void turn(V& a, V& b, V cosine, V sine) {
  const V from_a = a;
  if constexpr (kRotation == Rotation::forward) {
    a = hn::MulSub(a, cosine, hn::Mul(b, sine));
    b = hn::MulAdd(b, cosine, hn::Mul(from_a, sine));
  } else {
    a = hn::MulAdd(a, cosine, hn::Mul(b, sine));
    b = hn::MulSub(b, cosine, hn::Mul(from_a, sine));
  }
}

// Pairs [i, half) in vectors of D, what remains in halves of it; the last 128-bit vector is masked.
template <Rotation kRotation, class D, class T>
HWY_INLINE void rotate_pairs(D d, const T* cosines, const T* sines, T* head, std::size_t i, std::size_t half) {
  const std::size_t step = hn::Lanes(d);
  for (; i + step <= half; i += step) {
    auto a = hn::LoadU(d, head + i);
    auto b = hn::LoadU(d, head + half + i);
    turn<kRotation>(a, b, hn::LoadU(d, cosines + i), hn::LoadU(d, sines + i));
    hn::StoreU(a, d, head + i);
    hn::StoreU(b, d, head + half + i);
  }
  if (i == half) return;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
    rotate_pairs<kRotation>(hn::Half<D>(), cosines, sines, head, i, half);
  } else {
    const auto inside = hn::FirstN(d, half - i);
    auto a = hn::MaskedLoad(inside, d, head + i);
    auto b = hn::MaskedLoad(inside, d, head + half + i);
    turn<kRotation>(a, b, hn::MaskedLoad(inside, d, cosines + i), hn::MaskedLoad(inside, d, sines + i));
    hn::BlendedStore(a, inside, d, head + i);
    hn::BlendedStore(b, inside, d, head + half + i);
  }
}

template <Rotation kRotation, class T>
HWY_INLINE void rotate_rows(const RotaryTable<T>& table, std::span<const std::uint32_t> positions, T* x,
                            std::size_t stride, std::size_t heads, std::size_t width) {
  const std::size_t half = width / 2;
  for (std::size_t r = 0; r < positions.size(); ++r) {
    const T* cosines = table.cosines + positions[r] * half;
    const T* sines = table.sines + positions[r] * half;
    for (std::size_t h = 0; h < heads; ++h) {
      rotate_pairs<kRotation>(hn::ScalableTag<T>(), cosines, sines, x + r * stride + h * width, 0, half);
    }
  }
}

template <class T>
void rotary_fast(const RotaryTable<T>& table, std::span<const std::uint32_t> positions, Rotation rotation, T* x,
                 std::size_t stride, std::size_t heads, std::size_t width) {
  if (rotation == Rotation::forward) return rotate_rows<Rotation::forward>(table, positions, x, stride, heads, width);
  rotate_rows<Rotation::inverse>(table, positions, x, stride, heads, width);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ROTARY_INL_H
