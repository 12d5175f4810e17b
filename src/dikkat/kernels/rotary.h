// Rotary position embedding (Su et al., "RoFormer", 2021), half-split pairs (i, i + D/2), D even:
//   angle = position * base^(-2i/D)
//   y_i = fma(x_i, cos, -(x_{i+D/2} * sin));  y_{i+D/2} = fma(x_{i+D/2}, cos, x_i * sin)
// The gradient is the rotation by the negative angle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

enum class Rotation : std::uint8_t { forward, inverse };

// Fills cosines and sines (positions, D/2): angle in double with the house's own exp, log, sin, cos; rounded to T.
template <class T>
void rotary_table(const Executor& executor, double base, std::size_t positions, std::size_t width, std::span<T> cosines,
                  std::span<T> sines);

template <class T>
struct RotaryTable {
  const T* cosines;  // (positions, D/2)
  const T* sines;
  std::size_t positions;
};

// x (R, heads, D) with row stride `stride`, in place. positions (R), each below table.positions (Error{internal}).
template <class T>
void rotary(const Executor& executor, const RotaryTable<T>& table, std::span<const std::uint32_t> positions,
            Rotation rotation, T* x, std::size_t stride, std::size_t heads, std::size_t width);

}  // namespace dikkat::kernels
