// The house's own exp, log, tanh, erf, sin, cos over arrays: libm's bits differ from processor to processor, these do
// not. Kernels use the same formulas in place (reference/maths-inl.h, which states ranges and sources).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

enum class Function : std::uint8_t { exponential, logarithm, hyperbolic_tangent, error_function, sine, cosine };

// y[i] = function(x[i]); x and y may be the same memory.
template <class T>
void evaluate(const Executor& executor, Function function, const T* x, T* y, std::size_t n);

}  // namespace dikkat::kernels
