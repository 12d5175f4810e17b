#include "dikkat/kernels/maths.h"

#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

template <Function F, class T>
void evaluate_one(const Executor& executor, const T* x, T* y, std::size_t n) {
  witness(
      executor, "evaluate", {memory(y, n)},
      [&] {
        DIKKAT_BODY(executor, evaluate_plain<F, T>)
        (x, y, n);
      },
      [&] {
        DIKKAT_BODY(executor, evaluate_fast<F, T>)
        (x, y, n);
      });
}

}  // namespace

template <class T>
void evaluate(const Executor& executor, Function function, const T* x, T* y, std::size_t n) {
  switch (function) {
    case Function::exponential: return evaluate_one<Function::exponential>(executor, x, y, n);
    case Function::logarithm: return evaluate_one<Function::logarithm>(executor, x, y, n);
    case Function::hyperbolic_tangent: return evaluate_one<Function::hyperbolic_tangent>(executor, x, y, n);
    case Function::error_function: return evaluate_one<Function::error_function>(executor, x, y, n);
    case Function::sine: return evaluate_one<Function::sine>(executor, x, y, n);
    case Function::cosine: return evaluate_one<Function::cosine>(executor, x, y, n);
  }
}

template void evaluate(const Executor&, Function, const float*, float*, std::size_t);
template void evaluate(const Executor&, Function, const double*, double*, std::size_t);

}  // namespace dikkat::kernels
