#include "dikkat/kernels/optimizer_step.h"

#include <algorithm>

#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/optimizer_step-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Some three microseconds of one core: below that a second thread costs more than it brings.
constexpr std::size_t kParametersPerPart = 1U << 13U;

// step(i, count) for each part.
template <class Step>
void split(Pool& pool, std::size_t n, Step&& step) {
  pool.run((n + kParametersPerPart - 1) / kParametersPerPart, [&](std::size_t part, unsigned) {
    const std::size_t i = part * kParametersPerPart;
    step(i, std::min(kParametersPerPart, n - i));
  });
}

}  // namespace

template <class T>
void sgd_step(const Executor& executor, const SgdSettings& settings, T* w, const T* gradient, T* velocity,
              std::size_t n) {
  witness(
      executor, "sgd_step", {memory(w, n), memory(velocity, n)},
      [&] {
        DIKKAT_BODY(executor, sgd_step_plain<T>)
        (settings, w, gradient, velocity, n);
      },
      [&] {
        split(executor.pool, n, [&](std::size_t i, std::size_t count) {
          DIKKAT_BODY(executor, sgd_step_fast<T>)(settings, w + i, gradient + i, velocity + i, count);
        });
      });
}

template <class T>
void adam_step(const Executor& executor, const AdamSettings& settings, T* w, const T* gradient, T* m, T* v,
               std::size_t n) {
  if (settings.step == 0) throw Error(ErrorKind::internal, "adam_step: steps count from 1; got 0");
  witness(
      executor, "adam_step", {memory(w, n), memory(m, n), memory(v, n)},
      [&] {
        DIKKAT_BODY(executor, adam_step_plain<T>)
        (settings, w, gradient, m, v, n);
      },
      [&] {
        split(executor.pool, n, [&](std::size_t i, std::size_t count) {
          DIKKAT_BODY(executor, adam_step_fast<T>)(settings, w + i, gradient + i, m + i, v + i, count);
        });
      });
}

#define DIKKAT_INSTANTIATE(T)                                                                 \
  template void sgd_step(const Executor&, const SgdSettings&, T*, const T*, T*, std::size_t); \
  template void adam_step(const Executor&, const AdamSettings&, T*, const T*, T*, T*, std::size_t);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
