// The sixteen partial sums of the law, held in as many registers as the instruction set needs: one of sixteen floats
// on AVX-512, two of eight on AVX2, two of eight doubles, four of four.
#if defined(DIKKAT_FAST_TREE16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_TREE16_INL_H
#undef DIKKAT_FAST_TREE16_INL_H
#else
#define DIKKAT_FAST_TREE16_INL_H
#endif

#include <cstddef>
#include <type_traits>
#include <utility>

#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A vector tag of T at most sixteen lanes wide; how many of them make sixteen.
template <class T>
using Tag16 = hn::CappedTag<T, 16>;
template <class T>
inline constexpr std::size_t kParts16 = HWY_MAX_BYTES / sizeof(T) >= 16 ? 1 : 16 * sizeof(T) / HWY_MAX_BYTES;

template <class T>
inline constexpr std::size_t kWidth16 = 16 / kParts16<T>;

// Adds the upper half of the lanes to the lower, until one is left: the last levels of the tree.
template <class D>
HWY_INLINE hn::TFromD<D> fold_sum(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return fold_sum(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
template <class D>
HWY_INLINE hn::TFromD<D> fold_max(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return fold_max(half, hn::Max(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Sixteen partial sums; partial i sits in lane i % width of part i / width.
template <class T>
struct Partials16 {
  hn::Vec<Tag16<T>> part[kParts16<T>];

  HWY_INLINE Partials16() {
    for (auto& p : part) p = hn::Zero(Tag16<T>());
  }
  // The tree: i += i+8, +4, +2, +1. Whole parts first, then lanes.
  HWY_INLINE T total() const {
    hn::Vec<Tag16<T>> sum[kParts16<T>];
    for (std::size_t p = 0; p < kParts16<T>; ++p) sum[p] = part[p];
    for (std::size_t half = kParts16<T> / 2; half != 0; half /= 2) {
      for (std::size_t p = 0; p < half; ++p) sum[p] = hn::Add(sum[p], sum[p + half]);
    }
    return fold_sum(Tag16<T>(), sum[0]);
  }
};

// How a body of sweep16 reads and writes its lanes: all of them, or only the first few of a row's last vector.
template <class T>
struct AllLanes {
  using V = hn::Vec<Tag16<T>>;
  HWY_INLINE V load(const T* from) const { return hn::LoadU(Tag16<T>(), from); }
  HWY_INLINE void store(V v, T* to) const { hn::StoreU(v, Tag16<T>(), to); }
  // The lanes beyond the end keep what they had (adding zero would turn -0 into +0).
  HWY_INLINE V keep(V changed, V) const { return changed; }
};
template <class T>
struct FirstLanes {
  using V = hn::Vec<Tag16<T>>;
  hn::Mask<Tag16<T>> mask;
  explicit HWY_INLINE FirstLanes(std::size_t count) : mask(hn::FirstN(Tag16<T>(), count)) {}
  HWY_INLINE V load(const T* from) const { return hn::MaskedLoad(mask, Tag16<T>(), from); }
  HWY_INLINE void store(V v, T* to) const { hn::BlendedStore(v, mask, Tag16<T>(), to); }
  HWY_INLINE V keep(V changed, V before) const { return hn::IfThenElse(mask, changed, before); }
};

#define DIKKAT_INLINE_LAMBDA __attribute__((always_inline))

template <class Body, std::size_t... P>
HWY_INLINE void each_part(std::index_sequence<P...>, Body&& body) {
  (body(std::integral_constant<std::size_t, P>()), ...);
}

// body(part, i, lanes) for the vectors of a row in order: columns i ... i + width, whose partial sums are in `part` (a
// compile-time number, so that arrays indexed by it are registers). Write bodies as
//   [&](auto part, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA { ... }
template <class T, class Body>
HWY_INLINE void sweep16(std::size_t n, Body&& body) {
  constexpr auto kEveryPart = std::make_index_sequence<kParts16<T>>();
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    each_part(kEveryPart, [&](auto part) DIKKAT_INLINE_LAMBDA { body(part, i + part * kWidth16<T>, AllLanes<T>()); });
  }
  if (i == n) return;
  each_part(kEveryPart, [&](auto part) DIKKAT_INLINE_LAMBDA {
    const std::size_t begin = i + part * kWidth16<T>;
    if (begin < n) body(part, begin, FirstLanes<T>(n - begin < kWidth16<T> ? n - begin : kWidth16<T>));
  });
}

// tree16 of term(x[i]) in double, vectors of x converted first.
template <class T, class Term>
HWY_INLINE double tree16_wide(const T* x, std::size_t n, Term&& term) {
  const Tag16<double> d;
  constexpr std::size_t width = 16 / kParts16<double>;
  const auto widen = [&](const T* from) {
    if constexpr (std::is_same_v<T, double>) {
      return hn::LoadU(d, from);
    } else {
      return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Tag16<double>>(), from));
    }
  };
  Partials16<double> sums;
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::size_t p = 0; p < kParts16<double>; ++p) {
      sums.part[p] = hn::Add(sums.part[p], term(widen(x + i + p * width)));
    }
  }
  if (i < n) {
    // The tail: lanes beyond the end keep their partial (adding zero would turn -0 into +0).
    T tail[16] = {};
    for (std::size_t t = i; t < n; ++t) tail[t - i] = x[t];
    for (std::size_t p = 0; p < kParts16<double>; ++p) {
      const std::size_t begin = p * width;
      const std::size_t valid = n - i > begin ? n - i - begin : 0;
      const auto added = hn::Add(sums.part[p], term(widen(tail + begin)));
      sums.part[p] = hn::IfThenElse(hn::FirstN(d, valid < width ? valid : width), added, sums.part[p]);
    }
  }
  return sums.total();
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_TREE16_INL_H
