// Fast bodies of activation.h: the formulas in whole vectors, the rest of a row by the plain body.
#if defined(DIKKAT_FAST_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_ACTIVATION_INL_H
#undef DIKKAT_FAST_ACTIVATION_INL_H
#else
#define DIKKAT_FAST_ACTIVATION_INL_H
#endif

#include "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/reference/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

template <Activation kActivation, class T>
void activation_forward_fast(const T* x, T* y, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + step <= n; i += step) hn::StoreU(activated<kActivation>(hn::LoadU(d, x + i)), d, y + i);
  activation_forward_plain<kActivation>(x + i, y + i, n - i);
}

template <class D, class T>
HWY_INLINE void store_or_add(D d, hn::Vec<D> v, T* to, Store store) {
  hn::StoreU(store == Store::add ? hn::Add(hn::LoadU(d, to), v) : v, d, to);
}

template <Activation kActivation, class T>
void activation_backward_fast(const T* x, const T* dy, T* dx, std::size_t n, Store store) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + step <= n; i += step) {
    const auto result = hn::Mul(hn::LoadU(d, dy + i), slope<kActivation>(hn::LoadU(d, x + i)));
    store_or_add(d, result, dx + i, store);
  }
  activation_backward_plain<kActivation>(x + i, dy + i, dx + i, n - i, store);
}

template <Activation kGate, class T>
void gated_forward_fast(const T* x, T* y, std::size_t rows, std::size_t width) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  for (std::size_t r = 0; r < rows; ++r, x += 2 * width, y += width) {
    std::size_t f = 0;
    for (; f + step <= width; f += step) {
      hn::StoreU(hn::Mul(activated<kGate>(hn::LoadU(d, x + f)), hn::LoadU(d, x + width + f)), d, y + f);
    }
    gated_forward_row_plain<kGate>(x, y, f, width);
  }
}

template <Activation kGate, class T>
void gated_backward_fast(const T* x, const T* dy, T* dx, std::size_t rows, std::size_t width, Store store) {
  const hn::ScalableTag<T> d;
  const std::size_t step = hn::Lanes(d);
  for (std::size_t r = 0; r < rows; ++r, x += 2 * width, dy += width, dx += 2 * width) {
    std::size_t f = 0;
    for (; f + step <= width; f += step) {
      const auto gate = hn::LoadU(d, x + f);
      const auto dy_f = hn::LoadU(d, dy + f);
      const auto d_gate = hn::Mul(hn::Mul(dy_f, hn::LoadU(d, x + width + f)), slope<kGate>(gate));
      store_or_add(d, d_gate, dx + f, store);
      store_or_add(d, hn::Mul(dy_f, activated<kGate>(gate)), dx + width + f, store);
    }
    gated_backward_row_plain<kGate>(x, dy, dx, f, width, store);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_ACTIVATION_INL_H
