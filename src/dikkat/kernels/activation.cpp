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
void forward_one(const Executor& executor, const T* x, T* y, std::size_t n) {
  witness(
      executor, "activation_forward", {memory(y, n)},
      [&] { DIKKAT_BODY(executor, activation_forward_plain<kActivation, T>)(x, y, n); },
      [&] {
        each_row_part(executor.pool, n, 1, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          DIKKAT_BODY(executor, activation_forward_fast<kActivation, T>)(x + first, y + first, count);
        });
      });
}

template <Activation kActivation, class T>
void backward_one(const Executor& executor, const T* x, const T* dy, T* dx, std::size_t n, Store store) {
  witness(
      executor, "activation_backward", {memory(dx, n)},
      [&] { DIKKAT_BODY(executor, activation_backward_plain<kActivation, T>)(x, dy, dx, n, store); },
      [&] {
        each_row_part(executor.pool, n, 1, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          DIKKAT_BODY(executor, activation_backward_fast<kActivation, T>)
          (x + first, dy + first, dx + first, count, store);
        });
      });
}

}  // namespace

template <class T>
void activation_forward(const Executor& executor, Activation activation, const T* x, T* y, std::size_t n) {
  switch (activation) {
    case Activation::relu: return forward_one<Activation::relu>(executor, x, y, n);
    case Activation::gelu: return forward_one<Activation::gelu>(executor, x, y, n);
    case Activation::gelu_tanh: return forward_one<Activation::gelu_tanh>(executor, x, y, n);
    case Activation::silu: return forward_one<Activation::silu>(executor, x, y, n);
  }
}

template <class T>
void activation_backward(const Executor& executor, Activation activation, const T* x, const T* dy, T* dx,
                         std::size_t n, Store store) {
  switch (activation) {
    case Activation::relu: return backward_one<Activation::relu>(executor, x, dy, dx, n, store);
    case Activation::gelu: return backward_one<Activation::gelu>(executor, x, dy, dx, n, store);
    case Activation::gelu_tanh: return backward_one<Activation::gelu_tanh>(executor, x, dy, dx, n, store);
    case Activation::silu: return backward_one<Activation::silu>(executor, x, dy, dx, n, store);
  }
}

template <class T>
void swiglu_forward(const Executor& executor, const T* x, T* y, std::size_t rows, std::size_t width) {
  witness(
      executor, "swiglu_forward", {memory(y, rows * width)},
      [&] { DIKKAT_BODY(executor, swiglu_forward_plain<T>)(x, y, rows, width); },
      [&] {
        each_row_part(executor.pool, rows, width, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          DIKKAT_BODY(executor, swiglu_forward_fast<T>)(x + first * 2 * width, y + first * width, count, width);
        });
      });
}

template <class T>
void swiglu_backward(const Executor& executor, const T* x, const T* dy, T* dx, std::size_t rows, std::size_t width,
                     Store store) {
  witness(
      executor, "swiglu_backward", {memory(dx, rows * 2 * width)},
      [&] { DIKKAT_BODY(executor, swiglu_backward_plain<T>)(x, dy, dx, rows, width, store); },
      [&] {
        each_row_part(executor.pool, rows, width, kElementsPerPart, [&](std::size_t first, std::size_t count) {
          const std::size_t at = first * 2 * width;
          DIKKAT_BODY(executor, swiglu_backward_fast<T>)(x + at, dy + first * width, dx + at, count, width, store);
        });
      });
}

#define DIKKAT_INSTANTIATE(T)                                                                                      \
  template void activation_forward(const Executor&, Activation, const T*, T*, std::size_t);                        \
  template void activation_backward(const Executor&, Activation, const T*, const T*, T*, std::size_t, Store);      \
  template void swiglu_forward(const Executor&, const T*, T*, std::size_t, std::size_t);                           \
  template void swiglu_backward(const Executor&, const T*, const T*, T*, std::size_t, std::size_t, Store);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
