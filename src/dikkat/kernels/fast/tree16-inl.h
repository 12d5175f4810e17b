// The sixteen partial sums of the law, held in as many registers as the instruction set needs: one of sixteen floats
// on AVX-512, two of eight on AVX2, two of eight doubles, four of four.
#if defined(DIKKAT_FAST_TREE16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_TREE16_INL_H
#undef DIKKAT_FAST_TREE16_INL_H
#else
#define DIKKAT_FAST_TREE16_INL_H
#endif

#include <type_traits>

#include "dikkat/kernels/reference/number-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A vector tag of T at most sixteen lanes wide; how many of them make sixteen.
template <class T>
using Tag16 = hn::CappedTag<T, 16>;
template <class T>
inline constexpr std::size_t kParts16 = HWY_MAX_BYTES / sizeof(T) >= 16 ? 1 : 16 * sizeof(T) / HWY_MAX_BYTES;

// Sixteen partial sums; partial i sits in lane i % width of part i / width.
template <class T>
struct Partials16 {
  hn::Vec<Tag16<T>> part[kParts16<T>];

  HWY_INLINE Partials16() {
    for (auto& p : part) p = hn::Zero(Tag16<T>());
  }
  // The tree: i += i+8, +4, +2, +1.
  HWY_INLINE T total() const {
    HWY_ALIGN T partial[16];
    for (std::size_t p = 0; p < kParts16<T>; ++p) hn::Store(part[p], Tag16<T>(), partial + p * (16 / kParts16<T>));
    for (std::size_t half = 8; half != 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) partial[i] = partial[i] + partial[i + half];
    }
    return partial[0];
  }
};

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
    for (std::size_t p = 0; p < kParts16<double>; ++p) sums.part[p] = hn::Add(sums.part[p], term(widen(x + i + p * width)));
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
