// The formulas of activation.h, written once over a value V (float, double, or a Highway vector with
// fast/maths-inl.h), and their plain bodies. The order of operations stated here is the law.
#if defined(DIKKAT_REFERENCE_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_ACTIVATION_INL_H
#undef DIKKAT_REFERENCE_ACTIVATION_INL_H
#else
#define DIKKAT_REFERENCE_ACTIVATION_INL_H
#endif

#include "dikkat/kernels/activation.h"
#include "dikkat/kernels/reference/maths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// 1 + exp(-x); its reciprocal is the logistic function.
template <class V>
HWY_INLINE V logistic_divisor(V x) {
  using A = Arithmetic<V>;
  return A::set(1.0) + exponential(A::set(0.0) - x);
}

// Distribution function of the standard normal.
template <class V>
HWY_INLINE V normal_share(V x) {
  using A = Arithmetic<V>;
  return A::set(0.5) * (A::set(1.0) + error_function(x * A::set(0.70710678118654752440)));
}

// 0.5 (1 + tanh u) is the logistic function of 2u, which needs no subtraction: gelu_tanh is x / (1 + exp(-2u)) with
// 2u = x (c1 + c3 x^2), c1 = 2 sqrt(2/pi), c3 = 0.044715 c1.
inline constexpr double kGeluTanh1 = 1.59576912160573071176;
inline constexpr double kGeluTanh3 = 0.044715 * kGeluTanh1;

template <class V>
HWY_INLINE V gelu_tanh_argument(V x) {
  using A = Arithmetic<V>;
  return x * A::multiply_add(x * x, A::set(kGeluTanh3), A::set(kGeluTanh1));
}

template <Activation kActivation, class V>
HWY_INLINE V activated(V x) {
  using A = Arithmetic<V>;
  if constexpr (kActivation == Activation::relu) return A::select(x < A::set(0.0), A::set(0.0), x);
  if constexpr (kActivation == Activation::gelu) return x * normal_share(x);
  if constexpr (kActivation == Activation::gelu_tanh) return x / logistic_divisor(gelu_tanh_argument(x));
  if constexpr (kActivation == Activation::silu) return x / logistic_divisor(x);
}

// dy/dx.
template <Activation kActivation, class V>
HWY_INLINE V slope(V x) {
  using A = Arithmetic<V>;
  const V one = A::set(1.0);
  if constexpr (kActivation == Activation::relu) return A::select(A::set(0.0) < x, one, A::set(0.0));
  if constexpr (kActivation == Activation::gelu) {
    const V density = exponential((x * x) * A::set(-0.5)) * A::set(0.39894228040143267794);
    return A::multiply_add(x, density, normal_share(x));
  }
  if constexpr (kActivation == Activation::gelu_tanh) {
    const V share = one / logistic_divisor(gelu_tanh_argument(x));
    const V inner = A::multiply_add(x * x, A::set(3 * kGeluTanh3), A::set(kGeluTanh1));
    return A::multiply_add(x * share, (one - share) * inner, share);
  }
  if constexpr (kActivation == Activation::silu) {
    const V share = one / logistic_divisor(x);
    return share * A::multiply_add(x, one - share, one);
  }
}

template <Activation kActivation, class T>
void activation_forward_plain(const T* x, T* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = activated<kActivation>(x[i]);
}

template <Activation kActivation, class T>
void activation_backward_plain(const T* x, const T* dy, T* dx, std::size_t n, Store store) {
  for (std::size_t i = 0; i < n; ++i) {
    const T d = dy[i] * slope<kActivation>(x[i]);
    dx[i] = store == Store::add ? dx[i] + d : d;
  }
}

// One row from column `first` on: gate x[f], let through x[width + f].
template <Activation kGate, class T>
void gated_forward_row_plain(const T* x, T* y, std::size_t first, std::size_t width) {
  for (std::size_t f = first; f < width; ++f) y[f] = activated<kGate>(x[f]) * x[width + f];
}

template <Activation kGate, class T>
void gated_backward_row_plain(const T* x, const T* dy, T* dx, std::size_t first, std::size_t width, Store store) {
  for (std::size_t f = first; f < width; ++f) {
    const T d_gate = (dy[f] * x[width + f]) * slope<kGate>(x[f]);
    const T d_up = dy[f] * activated<kGate>(x[f]);
    dx[f] = store == Store::add ? dx[f] + d_gate : d_gate;
    dx[width + f] = store == Store::add ? dx[width + f] + d_up : d_up;
  }
}

template <Activation kGate, class T>
void gated_forward_plain(const T* x, T* y, std::size_t rows, std::size_t width) {
  for (std::size_t r = 0; r < rows; ++r) gated_forward_row_plain<kGate>(x + r * 2 * width, y + r * width, 0, width);
}

template <Activation kGate, class T>
void gated_backward_plain(const T* x, const T* dy, T* dx, std::size_t rows, std::size_t width, Store store) {
  for (std::size_t r = 0; r < rows; ++r) {
    gated_backward_row_plain<kGate>(x + r * 2 * width, dy + r * width, dx + r * 2 * width, 0, width, store);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_ACTIVATION_INL_H
