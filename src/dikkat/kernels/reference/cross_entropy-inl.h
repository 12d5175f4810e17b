// Plain bodies of cross_entropy.h.
#if defined(DIKKAT_REFERENCE_CROSS_ENTROPY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_CROSS_ENTROPY_INL_H
#undef DIKKAT_REFERENCE_CROSS_ENTROPY_INL_H
#else
#define DIKKAT_REFERENCE_CROSS_ENTROPY_INL_H
#endif

#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/kernels/cross_entropy_tensors.h"
#include "dikkat/kernels/reference/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// What a row leaves behind, given m and Z.
template <class T>
HWY_INLINE void cross_entropy_finish(const CrossEntropyForward<T>& t, std::size_t r, T m, T z) {
  const T target = t.logits[r * t.vocabulary + static_cast<std::size_t>(t.targets[r])];
  t.losses[r] = (logarithm(z) + m) - target;
  t.max[r] = m;
  t.sum[r] = z;
}
template <class T>
HWY_INLINE void cross_entropy_skip(const CrossEntropyForward<T>& t, std::size_t r) {
  t.losses[r] = t.max[r] = t.sum[r] = number<T>(0);
}

// Rows [first, last) only. Adding zero gives m one sign of zero, in whatever order the maximum was found.
template <class T>
void cross_entropy_forward_plain(const CrossEntropyForward<T>& t, std::size_t first, std::size_t last) {
  for (std::size_t r = first; r < last; ++r) {
    if (t.targets[r] == kNoTarget) {
      cross_entropy_skip(t, r);
      continue;
    }
    const T* x = t.logits + r * t.vocabulary;
    const T m = largest_plain(x, t.vocabulary) + number<T>(0);
    const T z = tree16<T>(0, t.vocabulary, [&](std::size_t v) { return exponential(x[v] - m); });
    cross_entropy_finish(t, r, m, z);
  }
}

template <class T>
void cross_entropy_backward_plain(const CrossEntropyBackward<T>& t, std::size_t first, std::size_t last) {
  const T scale = number<T>(t.scale);
  for (std::size_t r = first; r < last; ++r) {
    const T* x = t.logits + r * t.vocabulary;
    T* dx = t.d_logits + r * t.vocabulary;
    const T reciprocal = number<T>(1) / t.sum[r];
    for (std::size_t v = 0; v < t.vocabulary; ++v) {
      const T hit = number<T>(static_cast<std::int64_t>(v) == t.targets[r] ? 1 : 0);
      const T d = (exponential(x[v] - t.max[r]) * reciprocal - hit) * scale;
      dx[v] = t.targets[r] == kNoTarget ? number<T>(0) : d;
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_CROSS_ENTROPY_INL_H
