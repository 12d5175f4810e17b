// Non-linearities: the one list of them, with their names.
//   relu       y = x < 0 ? 0 : x, so that NaN stays NaN               dy/dx at 0 is 0
//   gelu       y = 0.5 x (1 + erf(x / sqrt 2))                      (Hendrycks, Gimpel 2016)
//   gelu_tanh  y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//   silu       y = x / (1 + exp(-x))
//   swiglu     y = silu(gate) * up                                  (Shazeer 2020), gate and up side by side in one row
// The exact order of operations is the plain body's (reference/activation-inl.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/base/fields.h"
#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

enum class Activation : std::uint8_t { relu, gelu, gelu_tanh, silu, swiglu };

// A gated activation takes two columns for each it gives: gates in columns [0, F), what they let through in [F, 2F).
[[nodiscard]] constexpr bool gated(Activation activation) { return activation == Activation::swiglu; }
// The activation a gated one applies to its gates.
[[nodiscard]] constexpr Activation gate_of(Activation activation) {
  return activation == Activation::swiglu ? Activation::silu : activation;
}
// Columns taken for `width` given.
[[nodiscard]] constexpr std::size_t input_width(Activation activation, std::size_t width) {
  return gated(activation) ? 2 * width : width;
}

// x (R, input_width) -> y (R, width = F). x and y may be the same memory if the activation is not gated.
template <class T>
void activation_forward(const Executor& executor, Activation activation, const T* x, T* y, std::size_t rows,
                        std::size_t width);
// dx (R, input_width) by `store`; dx may be the memory of dy (with assign, not gated).
template <class T>
void activation_backward(const Executor& executor, Activation activation, const T* x, const T* dy, T* dx,
                         std::size_t rows, std::size_t width, Store store);

}  // namespace dikkat::kernels

namespace dikkat {

template <>
struct EnumNames<kernels::Activation> {
  static constexpr std::array<std::pair<kernels::Activation, std::string_view>, 5> names{
      {{kernels::Activation::relu, "relu"},
       {kernels::Activation::gelu, "gelu"},
       {kernels::Activation::gelu_tanh, "gelu_tanh"},
       {kernels::Activation::silu, "silu"},
       {kernels::Activation::swiglu, "swiglu"}}};
};

}  // namespace dikkat
