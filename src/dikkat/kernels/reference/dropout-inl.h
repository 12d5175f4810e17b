// Plain bodies of dropout.h.
#if defined(DIKKAT_REFERENCE_DROPOUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_DROPOUT_INL_H
#undef DIKKAT_REFERENCE_DROPOUT_INL_H
#else
#define DIKKAT_REFERENCE_DROPOUT_INL_H
#endif

#include "dikkat/kernels/dropout.h"
#include "dikkat/kernels/reference/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// Rows [first, last) only.
template <class T>
void dropout_plain(const DropoutDraw& draw, const T* x, T* y, std::size_t width, Store store, std::size_t first,
                   std::size_t last) {
  const KeepRule<T> rule(draw.rate);
  for (std::size_t r = first; r < last; ++r) {
    const RowOfDraws row{draw.position[r], draw.sample[r], draw.step};
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t i = r * width + c;
      const T value = x[i] * keep_factor_plain<T>(draw.stream, rule, row, c);
      y[i] = store == Store::add ? y[i] + value : value;
    }
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_DROPOUT_INL_H
