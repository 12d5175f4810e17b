#include "dikkat/kernels/activation.h"

#include "dikkat/kernels/row_parts.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/activation-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Some 4 us of one core: below that a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 13U;

template <Activation kActivation, class T>
void forward_one(const Executor& executor, const T* x, T* y, std::size_t rows, std::size_t width) {
  constexpr std::size_t kInputs = input_width(kActivation, 1);
  witness(
      executor, "activation_forward", {memory(y, rows * width)},
      [&] {
        if constexpr (gated(kActivation)) {
          DIKKAT_BODY(executor, gated_forward_plain<gate_of(kActivation), T>)(x, y, rows, width);
        } else {
          DIKKAT_BODY(executor, activation_forward_plain<kActivation, T>)(x, y, rows * width);
        }
      },
      [&] {
        each_row_part(executor.pool, rows, width, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          const T* from = x + first * kInputs * width;
          T* to = y + first * width;
          if constexpr (gated(kActivation)) {
            DIKKAT_BODY(executor, gated_forward_fast<gate_of(kActivation), T>)(from, to, count, width);
          } else {
            DIKKAT_BODY(executor, activation_forward_fast<kActivation, T>)(from, to, count * width);
          }
        });
      });
}

template <Activation kActivation, class T>
void backward_one(const Executor& executor, const T* x, const T* dy, T* dx, std::size_t rows, std::size_t width,
                  Store store) {
  constexpr std::size_t kInputs = input_width(kActivation, 1);
  witness(
      executor, "activation_backward", {memory(dx, rows * kInputs * width)},
      [&] {
        if constexpr (gated(kActivation)) {
          DIKKAT_BODY(executor, gated_backward_plain<gate_of(kActivation), T>)(x, dy, dx, rows, width, store);
        } else {
          DIKKAT_BODY(executor, activation_backward_plain<kActivation, T>)(x, dy, dx, rows * width, store);
        }
      },
      [&] {
        each_row_part(executor.pool, rows, width, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          const std::size_t at = first * kInputs * width;
          const T* gradient = dy + first * width;
          if constexpr (gated(kActivation)) {
            DIKKAT_BODY(executor, gated_backward_fast<gate_of(kActivation), T>)
            (x + at, gradient, dx + at, count, width, store);
          } else {
            DIKKAT_BODY(executor, activation_backward_fast<kActivation, T>)
            (x + at, gradient, dx + at, count * width, store);
          }
        });
      });
}

// Calls use.template operator()<A>() with the activation as a constant.
template <class Use>
void with_activation(Activation activation, Use&& use) {
  switch (activation) {
    case Activation::relu: return use.template operator()<Activation::relu>();
    case Activation::gelu: return use.template operator()<Activation::gelu>();
    case Activation::gelu_tanh: return use.template operator()<Activation::gelu_tanh>();
    case Activation::silu: return use.template operator()<Activation::silu>();
    case Activation::swiglu: return use.template operator()<Activation::swiglu>();
  }
}

}  // namespace

template <class T>
void activation_forward(const Executor& executor, Activation activation, const T* x, T* y, std::size_t rows,
                        std::size_t width) {
  with_activation(activation, [&]<Activation kActivation>() { forward_one<kActivation>(executor, x, y, rows, width); });
}

template <class T>
void activation_backward(const Executor& executor, Activation activation, const T* x, const T* dy, T* dx,
                         std::size_t rows, std::size_t width, Store store) {
  with_activation(activation, [&]<Activation kActivation>() {
    backward_one<kActivation>(executor, x, dy, dx, rows, width, store);
  });
}

#define DIKKAT_INSTANTIATE(T)                                                                                      \
  template void activation_forward(const Executor&, Activation, const T*, T*, std::size_t, std::size_t);           \
  template void activation_backward(const Executor&, Activation, const T*, const T*, T*, std::size_t, std::size_t, \
                                    Store);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
